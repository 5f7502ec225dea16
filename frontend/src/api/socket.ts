import { createStore, type StoreApi } from "zustand/vanilla";
import { type LiveGraph, NO_LIVE_GRAPH } from "./live";

export type LiveSession = LiveGraph;
export type LiveSessionStore = StoreApi<LiveSession>;

export function createLiveSession(): LiveSessionStore {
	return createStore<LiveSession>(() => NO_LIVE_GRAPH);
}
