/** The conversation as a list of things that were said or happened, in order: what the test chat shows. */

export interface UserItem {
	readonly kind: "user";
	readonly key: string;
	readonly turn: number;
	readonly text: string;
	/** Put there by a transition, in the user's role. */
	readonly injected: boolean;
}

export type ReplyStatus = "streaming" | "complete" | "interrupted";

/** What one LLM call showed to the user. */
export interface ReplyItem {
	readonly kind: "reply";
	readonly key: string;
	readonly turn: number;
	/** 0 where the text belongs to no call. */
	readonly call: number;
	readonly stage: string;
	readonly text: string;
	readonly status: ReplyStatus;
}

export interface ToolItem {
	readonly kind: "tool";
	readonly key: string;
	readonly turn: number;
	/** The LLM call that asked for it. */
	readonly call: number;
	readonly callId: string;
	readonly name: string;
	readonly arguments: unknown;
	readonly status: "running" | "ok" | "error" | "abandoned";
	readonly result: unknown;
	readonly error: string;
	readonly durationMs: number;
}

/** The conversation moved from one stage to another. */
export interface MoveItem {
	readonly kind: "move";
	readonly key: string;
	readonly turn: number;
	/** Null for a move that no rule made, such as a frame that ends at its limit. */
	readonly transition: string | null;
	readonly from: string;
	readonly to: string | null;
	readonly mode: "goto" | "call" | "return";
	readonly reason: string;
	/** The target was entered, or returned to. */
	readonly arrived: boolean;
}

/** A stage was entered without a transition: the start of the session. */
export interface StageItem {
	readonly kind: "stage";
	readonly key: string;
	readonly turn: number;
	readonly stage: string;
}

/** Something a person should know, in words. */
export interface NoticeItem {
	readonly kind: "notice";
	readonly key: string;
	readonly turn: number;
	/** The turn was cut off before anything of it was shown, and the server can take it up again. */
	readonly resumable: boolean;
	readonly what: "retry" | "withdrawn" | "refused" | "stopped" | "complete" | "unmet" | "using";
	readonly text: string;
}

export interface FailureItem {
	readonly kind: "failure";
	readonly key: string;
	readonly turn: number;
	readonly code: string;
	readonly message: string;
	readonly retryable: boolean;
}

export type TimelineItem = UserItem | ReplyItem | ToolItem | MoveItem | StageItem | NoticeItem | FailureItem;

export type Timeline = readonly TimelineItem[];

/** Index of the last item that matches, or -1. */
function lastIndex(items: Timeline, matches: (item: TimelineItem) => boolean): number {
	for (let index = items.length - 1; index >= 0; index--) {
		const item = items[index];
		if (item && matches(item)) return index;
	}
	return -1;
}

export function replaceLast(
	items: Timeline,
	matches: (item: TimelineItem) => boolean,
	change: (item: TimelineItem) => TimelineItem,
): Timeline | null {
	const index = lastIndex(items, matches);
	const item = items[index];
	return item === undefined ? null : items.with(index, change(item));
}

/** Number of characters as the server counts them: code points, not UTF-16 units. */
export function codePoints(text: string): number {
	let count = 0;
	for (const _ of text) count++;
	return count;
}

function replyOf(items: Timeline, turn: number, call: number): ReplyItem | null {
	const item =
		items[lastIndex(items, (one) => one.kind === "reply" && one.turn === turn && one.call === call)];
	return item?.kind === "reply" ? item : null;
}

/** Sets the shown text of one call, opening its bubble at the first text; nothing opens a bubble without text. */
export function showText(
	items: Timeline,
	at: { turn: number; call: number; stage: string },
	text: string,
	status: ReplyStatus,
): Timeline {
	const known = replyOf(items, at.turn, at.call);
	if (known) {
		if (known.text === text && known.status === status) return items;
		return items.with(items.lastIndexOf(known), { ...known, text, status });
	}
	if (text === "") return items;
	return [...items, { kind: "reply", key: `reply-${at.turn}-${at.call}`, ...at, text, status }];
}

/** What is already shown of one call. */
export function shownText(items: Timeline, turn: number, call: number): string {
	return replyOf(items, turn, call)?.text ?? "";
}

export function dropReply(items: Timeline, call: number): Timeline {
	return items.filter((item) => !(item.kind === "reply" && item.call === call));
}

const SPACE = /\s+/g;
const squeeze = (text: string) => text.replace(SPACE, "");

/**
 * Ends the turn's open reply with the text the log gives for it. The bubbles stay one per call where they add
 * up to that text; else the log is right, and the last bubble takes it.
 */
export function settleReply(
	items: Timeline,
	at: { turn: number; call: number; stage: string },
	text: string,
	status: ReplyStatus,
): Timeline {
	const open = items.filter(
		(item): item is ReplyItem =>
			item.kind === "reply" && item.turn === at.turn && item.status === "streaming",
	);
	const last = open.at(-1);
	if (!last)
		return items.some((item) => item.kind === "reply" && item.turn === at.turn)
			? items
			: showText(items, at, text, status);
	const joined = open.map((item) => item.text).join("");
	if (text === "" || squeeze(joined) === squeeze(text)) {
		return items.map((item) => (item.kind === "reply" && open.includes(item) ? { ...item, status } : item));
	}
	return items.flatMap((item) => {
		if (item === last) return [{ ...last, text, status }];
		return item.kind === "reply" && open.includes(item) ? [] : [item];
	});
}
