/** What passes over the session's socket, both ways, and the views of a call: names for the generated types. */
import type { components } from "./schema.gen";

type Schemas = components["schemas"];

export type Segment = Schemas["SegmentView"];
export type SegmentKind = Segment["kind"];
export type CachePoint = Schemas["CachePoint"];
export type Usage = Schemas["Usage"];
export type Prediction = Schemas["Prediction"];
/** Tokens of one segment by what happened to them. */
export type Share = Schemas["Share"];
/** One LLM call with its window. */
export type CallView = Schemas["CallView"];
/** One LLM call as this page has it: the window comes with the call's own frame or request. */
export type KnownCall = Omit<CallView, "segments" | "shares"> &
	Partial<Pick<CallView, "segments" | "shares">>;

/** The events of a session's log, told apart by `type`. */
export type SessionEvent = Schemas["Event"];
export type EventType = SessionEvent["type"];
/** The event of one type. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

export type ServerFrame = Schemas["ServerFrame"];
export type DeltaFrame = Schemas["TextDeltaFrame"];
export type ReadyFrame = Schemas["Ready"];
export type ErrorFrame = Schemas["ErrorFrame"];
export type ClientFrame = Schemas["ClientFrame"];

/** A session as the HTTP API gives it. */
export interface SessionDetail {
	id: string;
	playbookRef: string;
	playbookVersion: string;
	document: unknown;
}

/** True for a frame that is an event of the log: those have a `seq`. */
export function isEvent(frame: ServerFrame): frame is SessionEvent {
	return "seq" in frame;
}
