/** The state of a session as this page knows it: a fold over the frames that came in. */
import type { KnownCall, SessionEvent } from "./frames";
import { type LiveGraph, NO_LIVE_GRAPH } from "./live";
import type { Timeline } from "./timeline";

/** How the page stands with the server. */
export type Connection =
	| { readonly state: "closed" | "connecting" | "open" | "offline" }
	| { readonly state: "waiting"; readonly retryInMs: number }
	| { readonly state: "refused"; readonly reason: string };

/** What the running turn is doing. */
export interface Activity {
	readonly turn: number;
	readonly phase: 0 | 1 | 2;
	readonly doing: "waiting" | "tools" | "streaming";
	/** Number of the LLM call in flight, 0 before the first. */
	readonly call: number;
	/** Tool calls without a result yet, by id. */
	readonly tools: readonly string[];
}

/** What the log says of one LLM call, enough for the line under a reply. */
export interface CallFacts {
	readonly call: number;
	readonly turn: number;
	readonly phase: number;
	readonly stage: string;
	readonly provider: string;
	readonly model: string;
	readonly status: "running" | "complete" | "failed" | "interrupted";
	readonly read: number;
	readonly input: number;
	readonly output: number;
	/** The provider said what it counted. */
	readonly counted: boolean;
	readonly cost: number | null;
	readonly firstTokenMs: number | null;
	readonly durationMs: number | null;
}

/** A message typed here that is not in the log yet. */
export interface Outgoing {
	readonly clientId: string;
	readonly text: string;
	/** Why the server will not take it; null while it may still. */
	readonly refused: string | null;
}

export interface OpenFrame {
	readonly id: string;
	readonly stage: string;
}

/** Why a chat could not be started, with the document's errors that stopped it. */
export interface StartFailure {
	readonly message: string;
	readonly details: readonly { readonly path: string; readonly message: string }[];
}

export interface LiveState extends LiveGraph {
	readonly playbookId: string | null;
	readonly playbookVersion: string;
	/** The document the session runs, as it was when the session began. */
	readonly document: unknown;
	readonly connection: Connection;
	/** What this session is tried with instead of what the playbook says: `CONNECTION/MODEL`, or `rehearsal`. */
	readonly usingModel: string | null;
	/** Everything that happened before is here. */
	readonly caughtUp: boolean;
	readonly starting: boolean;
	readonly startFailure: StartFailure | null;
	readonly events: readonly SessionEvent[];
	readonly lastSeq: number;
	readonly timeline: Timeline;
	readonly frames: readonly OpenFrame[];
	/** Frame -> the called agent whose frame it is; frames of the session's own playbook are not in it. */
	readonly agents: ReadonlyMap<string, string>;
	readonly activity: Activity | null;
	readonly complete: boolean;
	readonly facts: ReadonlyMap<number, CallFacts>;
	readonly calls: ReadonlyMap<number, KnownCall>;
	readonly outbox: readonly Outgoing[];
	readonly viewers: number;
	readonly notice: { readonly code: string; readonly message: string } | null;
	/** A frame showed that something is missing: ask again for what comes after `lastSeq`. */
	readonly gap: boolean;
}

export const NO_SESSION: LiveState = {
	...NO_LIVE_GRAPH,
	playbookId: null,
	playbookVersion: "",
	document: null,
	connection: { state: "closed" },
	usingModel: null,
	caughtUp: false,
	starting: false,
	startFailure: null,
	events: [],
	lastSeq: 0,
	timeline: [],
	frames: [],
	agents: new Map(),
	activity: null,
	complete: false,
	facts: new Map(),
	calls: new Map(),
	outbox: [],
	viewers: 0,
	notice: null,
	gap: false,
};
