import { useCallback, useEffect, useRef, useState } from "react";
import { words } from "./errors";

/** Asks the server when the component appears, and again on `reload`; only the newest answer counts. */
export function useAnswer<T>(ask: () => Promise<T>) {
	const [data, setData] = useState<T | null>(null);
	const [failure, setFailure] = useState<string | null>(null);
	const asked = useRef(0);
	const question = useRef(ask);
	question.current = ask;

	const reload = useCallback(() => {
		const number = ++asked.current;
		const isNewest = () => number === asked.current;
		question
			.current()
			.then((answer) => {
				if (!isNewest()) return;
				setData(answer);
				setFailure(null);
			})
			.catch((error: unknown) => {
				if (isNewest()) setFailure(words(error));
			});
	}, []);

	useEffect(() => {
		reload();
		return () => {
			asked.current++;
		};
	}, [reload]);

	return { data, failure, reload };
}
