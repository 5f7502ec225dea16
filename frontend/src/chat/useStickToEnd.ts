import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** How near to the end counts as "at the end", in pixels. */
const NEAR = 48;

interface Stick {
	readonly viewport: RefObject<HTMLDivElement | null>;
	readonly content: RefObject<HTMLDivElement | null>;
	/** The end is out of sight because the person scrolled away. */
	readonly away: boolean;
	readonly toEnd: () => void;
}

/** Keeps the end in view while the person is at the end, and leaves the view alone once they scrolled away. */
export function useStickToEnd(changed: unknown): Stick {
	const viewport = useRef<HTMLDivElement>(null);
	const content = useRef<HTMLDivElement>(null);
	const stuck = useRef(true);
	const [away, setAway] = useState(false);

	const toEnd = useCallback(() => {
		const box = viewport.current;
		if (box) box.scrollTop = box.scrollHeight;
	}, []);

	useEffect(() => {
		const box = viewport.current;
		if (!box) return;
		const scrolled = () => {
			stuck.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
			setAway(!stuck.current);
		};
		box.addEventListener("scroll", scrolled, { passive: true });
		return () => box.removeEventListener("scroll", scrolled);
	}, []);

	useEffect(() => {
		if (typeof ResizeObserver === "undefined" || !content.current || !viewport.current) return;
		const observer = new ResizeObserver(() => stuck.current && toEnd());
		observer.observe(content.current);
		observer.observe(viewport.current);
		return () => observer.disconnect();
	}, [toEnd]);

	// biome-ignore lint/correctness/useExhaustiveDependencies: what changed is not read, only that it did
	useLayoutEffect(() => {
		if (stuck.current) toEnd();
	}, [changed, toEnd]);

	return { viewport, content, away, toEnd };
}
