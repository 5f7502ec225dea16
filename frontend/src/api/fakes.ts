/** Doubles for tests: a log that grows like a server's, and a WebSocket that is driven by hand. */
import type { CallView, ClientFrame, Segment, SegmentKind, ServerFrame, SessionEvent } from "./frames";
import type { SocketLike } from "./socket";

type Payload = { type: SessionEvent["type"] } & Record<string, unknown>;

/** Writes events with a gapless `seq`. */
export class FakeLog {
	readonly events: SessionEvent[] = [];

	add(turn: number, payload: Payload): SessionEvent {
		const seq = this.events.length + 1;
		const event = {
			seq,
			at: "2026-11-30T12:00:00Z",
			session: "s1",
			turn,
			...payload,
		} as unknown as SessionEvent;
		this.events.push(event);
		return event;
	}

	addAll(turn: number, payloads: readonly Payload[]): SessionEvent[] {
		return payloads.map((payload) => this.add(turn, payload));
	}
}

export const callStarted = (call: number, phase = 2): Payload => ({
	type: "llm_call_started",
	call,
	lane: "main",
	phase,
	stage: "greet",
	provider: "rehearsal",
	model: "rehearsal",
});

export const callCompleted = (call: number, text: string): Payload => ({
	type: "llm_call_completed",
	call,
	message: { text },
	usage: { fresh: 10, read: 90, output: 5 },
	cost: null,
	firstTokenMs: 12,
	durationMs: 40,
});

/** The events of one plain turn that answers `text` with `reply`. */
export function plainTurn(call: number, text: string, reply: string, clientId = `c-${text}`): Payload[] {
	return [
		{ type: "user_message", text, clientId },
		{ type: "turn_started", stage: "greet", cause: "message" },
		{ type: "phase2_start", stage: "greet" },
		callStarted(call),
		callCompleted(call, reply),
		{ type: "phase2_complete", stage: "greet", text: reply },
		{ type: "turn_complete", stage: "greet", text: reply },
	];
}

/** A WebSocket whose other end is the test. */
export class FakeSocket implements SocketLike {
	static all: FakeSocket[] = [];
	static get last(): FakeSocket {
		const socket = FakeSocket.all.at(-1);
		if (!socket) throw new Error("no socket was opened");
		return socket;
	}

	readyState = 0;
	onopen: ((event: unknown) => void) | null = null;
	onmessage: ((event: { data: unknown }) => void) | null = null;
	onclose: ((event: { code: number; reason: string }) => void) | null = null;
	onerror: ((event: unknown) => void) | null = null;
	readonly sent: ClientFrame[] = [];

	constructor(readonly url: string) {
		FakeSocket.all.push(this);
	}

	send(data: string): void {
		this.sent.push(JSON.parse(data));
	}

	close(): void {
		this.readyState = 3;
	}

	/** The server accepted. */
	accept(): void {
		this.readyState = 1;
		this.onopen?.({});
	}

	/** The server says something. */
	say(frame: ServerFrame | string): void {
		this.onmessage?.({ data: typeof frame === "string" ? frame : JSON.stringify(frame) });
	}

	/** The line breaks. */
	breakOff(code = 1006): void {
		this.readyState = 3;
		this.onclose?.({ code, reason: "" });
	}

	sentOf<T extends ClientFrame["type"]>(type: T): Extract<ClientFrame, { type: T }>[] {
		return this.sent.filter((frame): frame is Extract<ClientFrame, { type: T }> => frame.type === type);
	}
}

/** A segment with that many tokens, whose text has the hash `h-ID`. */
export function fakeSegment(
	id: string,
	kind: SegmentKind,
	tokens: number,
	more: Partial<Segment> = {},
): Segment {
	return {
		id,
		kind,
		role: "user",
		tokens,
		counted: "estimate",
		hash: `h-${id}`,
		sources: [],
		frame: null,
		stage: null,
		label: "",
		meta: {},
		replaced: null,
		start: 0,
		...more,
	};
}

/** A call of a real model, with what a test says about it. */
export function fakeCall(more: Partial<CallView> = {}): CallView {
	return {
		call: 1,
		turn: 1,
		phase: 2,
		stage: "greet",
		frame: "f1",
		lane: "main",
		provider: "anthropic",
		connection: "",
		model: "claude-sonnet-5",
		status: "complete",
		attempt: 1,
		layout: "append",
		segments: [],
		cachePoints: [],
		predicted: null,
		usage: null,
		cost: null,
		costWithoutCaching: null,
		windowLimit: 200_000,
		firstTokenMs: 900,
		durationMs: 2_000,
		toolChoice: "auto",
		settings: {},
		leftOut: [],
		stop: "end_turn",
		recovered: [],
		added: 0,
		startedAt: "2026-11-30T12:00:00Z",
		error: null,
		policy: [],
		shares: [],
		predictedOnly: false,
		previousCall: null,
		firstDifference: null,
		...more,
	};
}
