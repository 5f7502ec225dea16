/** What the log says about a turn and about the state at one point of it. */
import type { EventOf, SessionEvent } from "../api/frames";
import { placed } from "../playbook/labels";
import { type Artifacts, ArtifactsSoFar } from "./artifacts";

export interface Rule {
	readonly seq: number;
	readonly transition: string;
	readonly verdict: boolean;
	readonly seen: unknown;
	readonly reason: string;
}

/** Every rule that was looked at in a turn, in order. */
export function rulesOfTurn(events: readonly SessionEvent[], turn: number): Rule[] {
	return events
		.filter(
			(event): event is EventOf<"transition_evaluated"> =>
				event.type === "transition_evaluated" && event.turn === turn,
		)
		.map(({ seq, transition, verdict, seen, reason }) => ({ seq, transition, verdict, seen, reason }));
}

/** What a rule saw, short: "saw: 1 of 5", else the value. */
export function seenWords(rule: Rule): string {
	if (rule.reason) return rule.reason;
	if (rule.seen === null || rule.seen === undefined) return rule.verdict ? "held" : "did not hold";
	const text = typeof rule.seen === "string" ? `‘${rule.seen}’` : JSON.stringify(rule.seen);
	return `saw ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

export interface StateAt {
	readonly variables: ReadonlyMap<string, unknown>;
	/** Names set or deleted since the call before. */
	readonly changed: ReadonlySet<string>;
	readonly frames: readonly { readonly id: string; readonly stage: string }[];
	readonly artifacts: Artifacts;
}

interface Building {
	variables: Map<string, unknown>;
	changed: Set<string>;
	frames: { id: string; stage: string }[];
	agents: Map<string, string>;
	/** First frame of an open agent -> the variables of who called it. */
	callers: Map<string, Map<string, unknown>>;
}

/** An agent has variables of its own while it is open. */
function pushFrame(state: Building, event: EventOf<"frame_pushed">): void {
	if (event.agent) state.agents.set(event.frame, event.agent);
	if (!event.variables) return;
	state.callers.set(event.frame, state.variables);
	state.variables = new Map(Object.entries(event.variables));
}

function applyState(state: Building, event: SessionEvent): void {
	switch (event.type) {
		case "session_started":
			state.variables = new Map(Object.entries(event.variables));
			break;
		case "state_changed":
			for (const [name, value] of Object.entries(event.set)) {
				state.variables.set(name, value);
				state.changed.add(name);
			}
			for (const name of event.deleted) {
				state.variables.delete(name);
				state.changed.add(name);
			}
			break;
		case "frame_pushed":
			pushFrame(state, event);
			break;
		case "stage_entered":
			state.frames = state.frames.filter((frame) => frame.id !== event.frame);
			state.frames.push({ id: event.frame, stage: placed(state.agents.get(event.frame), event.stage) });
			break;
		case "frame_popped":
			state.variables = state.callers.get(event.frame) ?? state.variables;
			state.frames = state.frames.filter((frame) => frame.id !== event.frame);
			break;
		case "stage_exited":
			state.frames = state.frames.filter((frame) => frame.id !== event.frame);
			break;
		case "llm_call_started":
			state.changed.clear();
			break;
	}
}

/** The session's state when a call was sent: variables, call stack, artifacts. */
export function stateAtCall(events: readonly SessionEvent[], call: number): StateAt {
	const state: Building = {
		variables: new Map(),
		changed: new Set(),
		frames: [],
		agents: new Map(),
		callers: new Map(),
	};
	const artifacts = new ArtifactsSoFar();
	for (const event of events) {
		if (event.type === "llm_call_started" && event.call === call) break;
		applyState(state, event);
		artifacts.read(event);
	}
	return { ...state, artifacts: artifacts.now };
}
