/** What passes over the session's socket, both ways, and the views of a call that the HTTP API gives. */

export type SegmentKind =
	| "tools"
	| "base"
	| "stage"
	| "state"
	| "dialogue"
	| "thinking"
	| "tool_call"
	| "tool_result"
	| "summary"
	| "artifact"
	| "injected"
	| "tail";

/** What a segment stands for, when it stands for something longer. */
export interface Replaced {
	what: string;
	tokens: number;
	rule: string;
	segments?: string[];
}

/** One piece of a window. Its text is fetched by `hash`. */
export interface Segment {
	id: string;
	kind: SegmentKind;
	role: "user" | "assistant" | "system";
	tokens: number;
	counted?: string;
	hash: string;
	sources?: number[];
	frame?: string | null;
	stage?: string | null;
	label?: string;
	meta?: Record<string, unknown>;
	replaced?: Replaced | null;
	/** Tokens of the window before this segment. */
	start?: number;
}

export interface CachePoint {
	segment: string;
	ttl: "5m" | "1h";
	number?: number;
	reason?: string;
}

export interface Prediction {
	read?: number;
	write5m?: number;
	write1h?: number;
	fresh?: number;
}

export interface Usage extends Prediction {
	output?: number;
}

/** Tokens of one segment by what happened to them. */
export interface Share {
	segment: string;
	read: number;
	written: number;
	fresh: number;
}

/** One LLM call as the inspector shows it; the list of calls leaves `segments` and `shares` out. */
export interface CallView {
	call: number;
	turn: number;
	phase: number;
	stage: string;
	frame?: string | null;
	lane?: string;
	provider: string;
	model: string;
	status: string;
	layout?: string;
	segments?: Segment[];
	cachePoints?: CachePoint[];
	predicted?: Prediction | null;
	usage?: Usage | null;
	/** US dollars; null is unknown. */
	cost?: number | null;
	costWithoutCaching?: number | null;
	windowLimit?: number | null;
	firstTokenMs?: number | null;
	durationMs?: number | null;
	toolChoice?: unknown;
	settings?: Record<string, unknown>;
	leftOut?: string[];
	added?: number;
	startedAt?: string;
	error?: { code: string; message: string; status?: number | null; retryable?: boolean } | null;
	shares?: Share[];
	predictedOnly?: boolean;
	previousCall?: number | null;
	firstDifference?: string | null;
}

interface EventBase {
	seq: number;
	at: string;
	session: string;
	turn: number;
}

interface ToolCallRequest {
	callId: string;
	name: string;
	arguments?: Record<string, unknown> | null;
}

/** The events of a session's log, by `type`. */
export type SessionEvent = EventBase &
	(
		| {
				type: "session_started";
				playbook: string;
				variables?: Record<string, unknown>;
				data?: Record<string, unknown> | null;
				agents?: string[];
		  }
		| { type: "user_message"; text: string; clientId?: string | null; injected?: boolean }
		| {
				type: "turn_started";
				cause?: "message" | "start" | "speak_on_enter" | "timer" | "retry" | "raw";
				stage: string;
		  }
		| { type: "phase1_start"; stage: string }
		| { type: "phase1_complete"; stage: string; toolCalls?: number; reason?: string }
		| { type: "phase2_start"; stage: string }
		| { type: "phase2_complete"; stage: string; text: string }
		| ({ type: "tool_call_start" } & ToolCallRequest)
		| {
				type: "tool_call_complete";
				callId: string;
				toolName: string;
				success: boolean;
				result?: unknown;
				error?: string | null;
				durationMs?: number;
		  }
		| {
				type: "llm_call_started";
				call: number;
				lane: string;
				phase?: 0 | 1 | 2;
				stage: string;
				frame?: string | null;
				provider: string;
				model: string;
				layout?: "append" | "swap";
				attempt?: number;
		  }
		| {
				type: "llm_call_retry";
				call: number;
				attempt: number;
				error: string;
				status?: number | null;
				waitMs?: number;
		  }
		| {
				type: "llm_call_completed";
				call: number;
				message: { text?: string; toolCalls?: ToolCallRequest[]; stop?: string | null };
				usage?: Usage | null;
				cost?: number | null;
				firstTokenMs?: number | null;
				durationMs?: number;
		  }
		| {
				type: "llm_call_failed";
				call: number;
				error: string;
				code?: string;
				status?: number | null;
				retryable?: boolean;
				shownText?: string;
		  }
		| { type: "text_withdrawn"; call: number; text: string }
		| { type: "intent_classified"; intent?: string | null; confidence?: number; classifier: string }
		| {
				type: "transition_evaluated";
				transition: string;
				verdict: boolean;
				seen?: unknown;
				reason?: string;
		  }
		| {
				type: "transition_triggered";
				transition?: string | null;
				fromStage: string;
				toStage?: string | null;
				mode?: "goto" | "call" | "return";
				reason?: string;
				data?: Record<string, unknown> | null;
				clearHistory?: boolean;
		  }
		| { type: "transition_refused"; transition?: string | null; targetStage?: string | null; reason: string }
		| { type: "tool_choice_unmet"; stage: string; toolChoice?: unknown }
		| { type: "stage_exited"; stage: string; frame: string }
		| {
				type: "stage_entered";
				stage: string;
				frame: string;
				visit: number;
				prompt: string;
				data?: Record<string, unknown> | null;
				unresolved?: string[];
		  }
		| {
				type: "frame_pushed";
				frame: string;
				depth: number;
				caller: string;
				stage: string;
				agent?: string | null;
		  }
		| {
				type: "frame_popped";
				frame: string;
				stage: string;
				value?: unknown;
				summary?: string | null;
				reason?: string;
		  }
		| { type: "state_changed"; set?: Record<string, unknown>; deleted?: string[]; cause?: string }
		| { type: "artifact_saved"; name: string; summary: string; kind?: string; length?: number; hash?: string }
		| { type: "artifact_loaded"; name: string; frame: string; offset?: number; length?: number | null }
		| { type: "artifact_unloaded"; name: string; frame: string }
		| {
				type: "compaction_planned";
				lane: string;
				rule: string;
				decision: boolean;
				numbers?: Record<string, unknown>;
		  }
		| {
				type: "window_rewritten";
				lane: string;
				fromSegment: string;
				toSegment: string;
				rule: string;
				replacement?: Segment[];
				numbers?: Record<string, unknown>;
		  }
		| { type: "cache_planned"; call: number; points?: CachePoint[]; numbers?: Record<string, unknown> }
		| { type: "turn_complete"; stage: string; text?: string; usage?: Usage | null; cost?: number | null }
		| {
				type: "turn_interrupted";
				stage: string;
				shownText?: string;
				reason?: "stop" | "interrupt" | "process_died" | "timeout";
		  }
		| { type: "turn_failed"; stage: string; code: string; message: string; retryable?: boolean }
		| {
				type: "approval_requested";
				callId: string;
				name: string;
				arguments?: Record<string, unknown> | null;
		  }
		| { type: "approval_answered"; callId: string; approved: boolean; reason?: string | null }
		| { type: "session_using"; model?: string | null; layout?: string | null; policy?: unknown }
		| { type: "session_complete"; stage: string; value?: unknown; reason?: string }
	);

export type EventType = SessionEvent["type"];
/** The event of one type. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** The reply that was streaming when the socket was (re)joined: all that was shown of it. */
export interface RunningText {
	turn: number;
	call: number;
	text: string;
}

export type DeltaFrame = { type: "text_delta"; turn: number; call: number; offset: number; text: string };
export type CallFrame = { type: "call"; call: CallView };
export type ReadyFrame = { type: "ready"; lastSeq: number; status: string; running?: RunningText | null };
export type PresenceFrame = { type: "presence"; viewers: number };
export type ErrorFrame = {
	type: "error";
	code: string;
	message: string;
	retryable?: boolean;
	clientId?: string | null;
};
export type PongFrame = { type: "pong" };

export type ServerFrame =
	| SessionEvent
	| DeltaFrame
	| CallFrame
	| ReadyFrame
	| PresenceFrame
	| ErrorFrame
	| PongFrame;

export type ClientFrame =
	| { type: "hello"; afterSeq: number }
	| { type: "message"; clientId: string; text: string; interrupt?: boolean }
	| { type: "stop" }
	| { type: "retry" }
	| { type: "set"; variable: string; value: unknown }
	| { type: "use"; model?: string; layout?: string }
	| { type: "ping" };

/** A session as the HTTP API gives it. */
export interface SessionDetail {
	id: string;
	title: string;
	playbookRef: string;
	playbookVersion: string;
	status: string;
	stage: string;
	turns: number;
	lastSeq: number;
	createdAt: string;
	updatedAt: string;
	document?: unknown;
}

/** True for a frame that is an event of the log: those have a `seq`. */
export function isEvent(frame: ServerFrame): frame is SessionEvent {
	return "seq" in frame;
}
