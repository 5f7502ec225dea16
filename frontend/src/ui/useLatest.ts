import { useEffect, useRef, useState } from "react";

const SETTLE_MS = 200;

/**
 * What `ask` answers to the newest `key`, a moment after it last changed; null after a failure. The last answer stays
 * while the next one is awaited, so that nothing flickers under a typing hand.
 */
export function useLatest<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): T | null {
	const [answer, setAnswer] = useState<T | null>(null);
	const question = useRef(ask);
	question.current = ask;
	// biome-ignore lint/correctness/useExhaustiveDependencies: the key says when to ask again
	useEffect(() => {
		const asking = new AbortController();
		const timer = setTimeout(() => {
			question.current(asking.signal).then(
				(value) => !asking.signal.aborted && setAnswer(value),
				() => !asking.signal.aborted && setAnswer(null),
			);
		}, SETTLE_MS);
		return () => {
			clearTimeout(timer);
			asking.abort();
		};
	}, [key]);
	return answer;
}
