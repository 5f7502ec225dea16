/** The keys that go from call to call. */
import { type RefObject, useEffect, useRef } from "react";
import { isTypingPlace } from "../ui/typing";

export const hasModifier = ({
	ctrlKey,
	metaKey,
	altKey,
}: Pick<KeyboardEvent, "ctrlKey" | "metaKey" | "altKey">) => ctrlKey || metaKey || altKey;

/** Not where `[` is a letter of a text, or where a dialog waits for an answer. */
function isTaken(event: KeyboardEvent): boolean {
	const inDialog = event.target instanceof Element && event.target.closest("[role=dialog]") !== null;
	return event.defaultPrevented || hasModifier(event) || inDialog || isTypingPlace(event.target);
}

/** What had the focus may be gone with the call it belonged to: the panel has it then, and not the page. */
function keepFocus(panel: HTMLElement | null): void {
	if (!panel?.contains(document.activeElement)) return;
	requestAnimationFrame(() => {
		if (document.activeElement === document.body) panel.focus({ preventScroll: true });
	});
}

interface Steps {
	numbers: readonly number[];
	chosen: number | null;
	onCallSelected: (call: number) => void;
}

/** `[` and `]` go to the call before and after, wherever the focus is while the inspector is open. */
export function useStepKeys(panel: RefObject<HTMLElement | null>, steps: Steps): void {
	const latest = useRef(steps);
	latest.current = steps;
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const by = { "[": -1, "]": 1 }[event.key];
			const { numbers, chosen, onCallSelected } = latest.current;
			if (by === undefined || chosen === null || isTaken(event)) return;
			const next = numbers[numbers.indexOf(chosen) + by];
			if (next === undefined) return;
			event.preventDefault();
			keepFocus(panel.current);
			onCallSelected(next);
		};
		window.addEventListener("keydown", onKey);
		return () => window.removeEventListener("keydown", onKey);
	}, [panel]);
}
