import { useRef } from "react";
import type { LiveState } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";

interface Recall {
	/** The message before the one shown, or null where the key should do what it always does. */
	older(field: HTMLTextAreaElement): string | null;
	newer(field: HTMLTextAreaElement): string | null;
	reset(): void;
}

/** Messages that were sent, newest last, without repeats in a row. */
export function sentTexts(state: Pick<LiveState, "timeline" | "outbox">): string[] {
	const said = state.timeline.flatMap((item) => (item.kind === "user" && !item.injected ? [item.text] : []));
	const all = [...said, ...state.outbox.map((one) => one.text)];
	return all.filter((text, index) => text !== all[index - 1]);
}

/** Up and Down walk through what was sent; what was being typed comes back at the end. */
export function useRecall(live: LiveSessionStore): Recall {
	const back = useRef(0);
	const typed = useRef("");
	const go = (step: number): string | null => {
		const texts = sentTexts(live.getState());
		const next = back.current + step;
		if (next < 0 || next > texts.length) return null;
		back.current = next;
		return next === 0 ? typed.current : (texts[texts.length - next] ?? null);
	};
	return {
		older: (field) => {
			if (field.selectionStart !== 0 && back.current === 0) return null;
			if (field.value.slice(0, field.selectionStart).includes("\n")) return null;
			if (back.current === 0) typed.current = field.value;
			return go(1);
		},
		newer: (field) => {
			if (back.current === 0 || field.value.slice(field.selectionEnd).includes("\n")) return null;
			return go(-1);
		},
		reset: () => {
			back.current = 0;
		},
	};
}
