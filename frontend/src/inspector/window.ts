/** What is said about the segments of a window: what happened to each, where it comes from, what changed. */
import type { KnownCall, Prediction, Segment, SegmentKind, SessionEvent, Share, Usage } from "../api/frames";
import { grouped } from "../ui/format";

export type Fate = "read" | "written" | "fresh";

export interface Piece {
	readonly segment: Segment;
	readonly share: Share;
	/** What happened to most of it. */
	readonly fate: Fate;
	/** It was predicted to be read from the cache and was not. */
	readonly missed: boolean;
}

export const KIND_NAMES: Record<SegmentKind, string> = {
	tools: "tools",
	base: "base",
	stage: "stage",
	state: "state",
	dialogue: "dialogue",
	thinking: "thinking",
	tool_call: "tool call",
	tool_result: "tool result",
	summary: "summary",
	artifact: "artifact",
	injected: "injected",
	tail: "tail",
};

function fateOf({ read, written, fresh }: Share): Fate {
	if (read >= written && read >= fresh && read > 0) return "read";
	return written >= fresh && written > 0 ? "written" : "fresh";
}

/** The window's segments with what happened to each. Without shares (not asked for yet) all is fresh. */
export function pieces(call: KnownCall): Piece[] {
	const shares = new Map(call.shares?.map((share) => [share.segment, share]));
	const missedFrom = missedRange(call);
	return (call.segments ?? []).map((segment) => {
		const share = shares.get(segment.id) ?? {
			segment: segment.id,
			read: 0,
			written: 0,
			fresh: segment.tokens,
		};
		const fate = fateOf(share);
		const middle = segment.start + segment.tokens / 2;
		return { segment, share, fate, missed: fate !== "read" && missedFrom(middle) };
	});
}

/** Whether a place in the window (tokens from its start) was predicted to be read but lies behind what was. */
function missedRange(call: KnownCall): (place: number) => boolean {
	const { usage, predicted } = call;
	if (!usage || !predicted || predicted.read <= usage.read * 1.05) return () => false;
	return (place) => place > usage.read && place <= predicted.read;
}

export function written(numbers: Prediction | Usage): number {
	return numbers.write5m + numbers.write1h;
}

export function totalInput(numbers: Prediction | Usage): number {
	return numbers.fresh + numbers.read + written(numbers);
}

/** What the provider counted, or, before it did, what was predicted. */
export function numbersOf(call: Pick<KnownCall, "usage" | "predicted">): Prediction | Usage | null {
	return call.usage ?? call.predicted;
}

/** "read 9,734 (predicted 9,734)" */
export function legendWords(name: string, real: number | null, predicted: number | null): string {
	if (real === null) return predicted === null ? name : `${name} ${grouped(predicted)} predicted`;
	const also = predicted === null ? "" : ` (predicted ${grouped(predicted)})`;
	return `${name} ${grouped(real)}${also}`;
}

const EVENT_NAMES: Partial<Record<SessionEvent["type"], string>> = {
	user_message: "the user’s message",
	llm_call_completed: "the model’s message",
	tool_call_complete: "a tool’s result",
	stage_entered: "entering the stage",
	state_changed: "a change of state",
	frame_popped: "a stage that returned",
	artifact_saved: "a saved artifact",
	artifact_loaded: "a loaded artifact",
};

/** "from a tool’s result (event 41)" */
function sourceWords(sources: readonly number[], events: readonly SessionEvent[]): string {
	if (sources.length === 0) return "from the playbook";
	const names = sources.map((seq) => {
		const type = events[seq - 1]?.type;
		return type ? (EVENT_NAMES[type] ?? type.replaceAll("_", " ")) : "the log";
	});
	const one = new Set(names).size === 1 ? `${names[0]} ` : "";
	return `from ${one}(event ${sources.slice(0, 6).join(", ")}${sources.length > 6 ? "…" : ""})`;
}

/** Where a segment comes from and how it was counted, in one line. */
export function provenance(segment: Segment, events: readonly SessionEvent[], stage: string): string {
	const parts = [
		sourceWords(segment.sources, events),
		`role ${segment.role}`,
		`${grouped(segment.tokens)} tokens (${segment.counted})`,
	];
	if (stage) parts.push(`stage ${stage}`);
	if (segment.frame) parts.push(`frame ${segment.frame}`);
	parts.push(segment.hash.slice(0, 8));
	return parts.join(" · ");
}

export interface Changes {
	/** Segments at the start that are the same, byte for byte. */
	readonly kept: number;
	readonly keptTokens: number;
	readonly added: readonly Segment[];
	readonly removed: readonly Segment[];
	/** The first segment of this window that is not the same as before, unless only the end grew. */
	readonly firstDifference: Segment | null;
}

/** What this window has that the one before had not, and the reverse, by hash. */
export function changes(before: readonly Segment[], now: readonly Segment[]): Changes {
	let kept = 0;
	while (kept < now.length && before[kept]?.hash === now[kept]?.hash) kept++;
	const had = new Set(before.map((segment) => segment.hash));
	const has = new Set(now.map((segment) => segment.hash));
	return {
		kept,
		keptTokens: now.slice(0, kept).reduce((sum, segment) => sum + segment.tokens, 0),
		added: now.filter((segment) => !had.has(segment.hash)),
		removed: before.filter((segment) => !has.has(segment.hash)),
		firstDifference: kept < before.length ? (now[kept] ?? null) : null,
	};
}
