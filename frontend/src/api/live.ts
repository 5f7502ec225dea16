/**
 * What a running conversation tells the rest of the screen. The store is created by `socket.ts`, filled by
 * the WebSocket, shown by the chat and the inspector; the canvas reads only the part called `LiveGraph`.
 */
import type { StoreApi } from "zustand/vanilla";

/** A rule that was looked at and did not fire, with what was missing, in words ("1 more turn"). */
export interface NearlyFired {
	readonly transitionId: string;
	readonly missing: string;
}

/** The part of a session that the graph shows. */
export interface LiveGraph {
	readonly sessionId: string | null;
	/** The stage the conversation is in; null before the first event and after the end. */
	readonly activeStageId: string | null;
	/** The transition taken last. */
	readonly lastTransitionId: string | null;
	/** Times entered, by stage id. */
	readonly visitedStages: Readonly<Record<string, number>>;
	/** Times taken, by transition id. */
	readonly visitedTransitions: Readonly<Record<string, number>>;
	readonly nearlyFired: readonly NearlyFired[];
}

/** A store that is at least a `LiveGraph`; the chat and the inspector use a richer one. */
export type LiveGraphStore = Pick<StoreApi<LiveGraph>, "getState" | "subscribe" | "getInitialState">;

export const NO_LIVE_GRAPH: LiveGraph = {
	sessionId: null,
	activeStageId: null,
	lastTransitionId: null,
	visitedStages: {},
	visitedTransitions: {},
	nearlyFired: [],
};
