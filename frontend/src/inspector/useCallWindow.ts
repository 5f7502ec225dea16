import { useEffect, useState } from "react";
import { useStore } from "zustand";
import type { KnownCall } from "../api/frames";
import type { LiveSessionStore } from "../api/session";

/** One call with its window, asked for if only its line in the list is here. */
export function useCallWindow(
	live: LiveSessionStore,
	number: number | null,
): { call: KnownCall | undefined; problem: string | null } {
	const call = useStore(live, (state) => (number === null ? undefined : state.calls.get(number)));
	const loadCall = useStore(live, (state) => state.loadCall);
	const [problem, setProblem] = useState<string | null>(null);
	const missing = number !== null && !call?.segments;
	useEffect(() => {
		if (number === null || !missing) return;
		setProblem(null);
		loadCall(number).catch((error: unknown) =>
			setProblem(error instanceof Error ? error.message : String(error)),
		);
	}, [loadCall, number, missing]);
	return { call, problem };
}
