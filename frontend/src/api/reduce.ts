/** How one frame changes what the page knows of a session. Pure; a frame that is known already changes nothing. */
import {
	type DeltaFrame,
	type ErrorFrame,
	isEvent,
	type KnownCall,
	type ReadyFrame,
	type ServerFrame,
	type SessionEvent,
} from "./frames";
import type { LiveState, Outgoing } from "./liveState";
import { applyEvent } from "./reduceEvent";
import { codePoints, shownText, showText } from "./timeline";

/** The next state after one frame of the server. */
export function reduce(live: LiveState, frame: ServerFrame): LiveState {
	if (isEvent(frame)) return reduceEvent(live, frame);
	switch (frame.type) {
		case "text_delta":
			return reduceDelta(live, frame);
		case "call":
			return withCalls(live, [frame.call]);
		case "ready":
			return reduceReady(live, frame);
		case "presence":
			return { ...live, viewers: frame.viewers };
		case "error":
			return reduceError(live, frame);
		case "pong":
			return live;
	}
}

/** Events come in order of `seq`, once each: an old one is dropped, one too far ahead asks for what is missing. */
function reduceEvent(live: LiveState, event: SessionEvent): LiveState {
	if (event.seq <= live.lastSeq) return live;
	if (event.seq > live.lastSeq + 1) return live.gap ? live : { ...live, gap: true };
	return applyEvent({ ...live, lastSeq: event.seq, events: [...live.events, event] }, event);
}

/** The shown text after a piece at `offset`; the same text for a known piece, null when something is missing. */
export function joinDelta(shown: string, offset: number, piece: string): string | null {
	const length = codePoints(shown);
	if (offset > length) return null;
	if (offset === length) return shown + piece;
	const known = length - offset;
	return known >= codePoints(piece) ? shown : shown + [...piece].slice(known).join("");
}

function reduceDelta(live: LiveState, delta: DeltaFrame): LiveState {
	const facts = live.facts.get(delta.call);
	if (!live.activity || live.activity.turn !== delta.turn) return live;
	// The log has the whole text of a call that ended: a late piece can add nothing.
	if (facts && facts.status !== "running") return live;
	const text = joinDelta(shownText(live.timeline, delta.turn, delta.call), delta.offset, delta.text);
	if (text === null) return live.gap ? live : { ...live, gap: true };
	return streaming(live, delta.turn, delta.call, text);
}

function streaming(live: LiveState, turn: number, call: number, text: string): LiveState {
	const stage = live.facts.get(call)?.stage ?? live.activeStageId ?? "";
	const timeline = showText(live.timeline, { turn, call, stage }, text, "streaming");
	if (timeline === live.timeline || !live.activity) return live;
	return { ...live, timeline, activity: { ...live.activity, doing: "streaming", call } };
}

/** The replay is over: what the server says it shows right now counts, and nothing else is running. */
function reduceReady(live: LiveState, ready: ReadyFrame): LiveState {
	const caughtUp = { ...live, caughtUp: true, gap: false };
	if (!ready.running) return caughtUp;
	const { turn, call, text } = ready.running;
	const shown = shownText(live.timeline, turn, call);
	// Pieces may have come between the server's snapshot and this frame; the longer text has them.
	return codePoints(shown) > codePoints(text) ? caughtUp : streaming(caughtUp, turn, call, text);
}

function reduceError(live: LiveState, error: ErrorFrame): LiveState {
	const notice = { code: error.code, message: error.message };
	if (error.retryable || !error.clientId) return { ...live, notice };
	const refuse = (one: Outgoing) =>
		one.clientId === error.clientId ? { ...one, refused: error.message } : one;
	return { ...live, notice, outbox: live.outbox.map(refuse) };
}

/** Takes in views of calls; a short view (from the list) never removes the segments of a full one. */
export function withCalls(live: LiveState, views: readonly KnownCall[]): LiveState {
	if (views.length === 0) return live;
	const calls = new Map(live.calls);
	for (const view of views) {
		const known = calls.get(view.call);
		const segments = view.segments?.length ? view.segments : known?.segments;
		const shares = view.shares?.length ? view.shares : known?.shares;
		calls.set(view.call, { ...known, ...view, ...(segments && { segments }), ...(shares && { shares }) });
	}
	return { ...live, calls };
}
