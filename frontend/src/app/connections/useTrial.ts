import { useEffect, useRef, useState } from "react";
import { type Trial, testConnection } from "../../api/connections";
import { words } from "../errors";

export type TrialState =
	| { readonly state: "none" }
	| { readonly state: "running"; readonly since: number }
	| { readonly state: "done"; readonly trial: Trial }
	| { readonly state: "failed"; readonly message: string };

const NONE: TrialState = { state: "none" };

/** A test of one connection: begun, stopped, and what came of it. */
export function useTrial(name: string) {
	const [state, setState] = useState<TrialState>(NONE);
	const running = useRef<AbortController | null>(null);
	useEffect(() => () => running.current?.abort(), []);

	const stop = () => {
		running.current?.abort();
		setState(NONE);
	};
	const start = (model: string | null) => {
		running.current?.abort();
		const asking = new AbortController();
		running.current = asking;
		setState({ state: "running", since: Date.now() });
		testConnection(name, model, asking.signal).then(
			(trial) => !asking.signal.aborted && setState({ state: "done", trial }),
			(error) => !asking.signal.aborted && setState({ state: "failed", message: words(error) }),
		);
	};
	return { state, start, stop };
}
