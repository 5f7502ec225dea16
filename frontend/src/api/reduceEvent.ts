/** What each event of the log changes, by type. The caller has checked that it is the next one. */
import { placed } from "../playbook/labels";
import type { EventOf, EventType, SessionEvent, Usage } from "./frames";
import type { Activity, CallFacts, LiveState } from "./liveState";
import {
	dropReply,
	type NoticeItem,
	replaceLast,
	settleReply,
	showText,
	type Timeline,
	type TimelineItem,
} from "./timeline";

type Handler<T extends EventType> = (live: LiveState, event: EventOf<T>) => LiveState;

const NO_ACTIVITY: Omit<Activity, "turn"> = { phase: 0, doing: "waiting", call: 0, tools: [] };

/** Adds one to a count. The record has no prototype, so that ids like `__proto__` are plain keys. */
function counted(counts: Readonly<Record<string, number>>, key: string): Record<string, number> {
	const next: Record<string, number> = Object.assign(Object.create(null), counts);
	next[key] = (Object.hasOwn(counts, key) ? (counts[key] ?? 0) : 0) + 1;
	return next;
}

function pushed(live: LiveState, item: TimelineItem): LiveState {
	return { ...live, timeline: [...live.timeline, item] };
}

function notice(live: LiveState, event: SessionEvent, what: NoticeItem["what"], text: string): LiveState {
	const key = `event-${event.seq}`;
	return pushed(live, { kind: "notice", key, turn: event.turn, resumable: false, what, text });
}

function active(live: LiveState, change: Partial<Activity>): LiveState {
	return live.activity ? { ...live, activity: { ...live.activity, ...change } } : live;
}

/** Tokens of a request, all kinds of input together. */
export function inputTokens(usage: Usage): number {
	return (usage.fresh ?? 0) + (usage.read ?? 0) + (usage.write5m ?? 0) + (usage.write1h ?? 0);
}

function withFacts(live: LiveState, call: number, change: Partial<CallFacts>): LiveState {
	const known = live.facts.get(call);
	if (!known) return live;
	return { ...live, facts: new Map(live.facts).set(call, { ...known, ...change }) };
}

/** The agent whose frame is on top; undefined for the session's own playbook. */
function agentHere(live: LiveState): string | undefined {
	return live.agents.get(live.frames.at(-1)?.id ?? "");
}

/** The stage of the graph that the session is in: while an agent is open, the one that called it. */
function onGraph(live: LiveState): string | null {
	return live.frames.findLast((frame) => !live.agents.has(frame.id))?.stage ?? null;
}

/** A turn is over, however it ended: nothing of it runs any more. */
function turnOver(
	live: LiveState,
	turn: number,
	text: string,
	status: "complete" | "interrupted",
): LiveState {
	const stage = live.frames.at(-1)?.stage ?? live.activeStageId ?? "";
	const at = { turn, call: live.activity?.call ?? 0, stage };
	const settled = settleReply(live.timeline, at, text, status);
	const timeline: Timeline = settled.map((item) =>
		item.kind === "tool" && item.turn === turn && item.status === "running"
			? { ...item, status: "abandoned" }
			: item,
	);
	const over = { ...live, timeline, activity: null };
	const call = live.activity?.call ?? 0;
	return over.facts.get(call)?.status === "running" ? withFacts(over, call, { status: "interrupted" }) : over;
}

const INTERRUPTED: Record<string, string> = {
	stop: "Stopped.",
	interrupt: "Stopped by the next message.",
	process_died: "Broken off: the server stopped while it was answering.",
	timeout: "Broken off: the turn took longer than it may.",
};

function isAgent(stage: string | null): boolean {
	return stage?.startsWith("agent:") ?? false;
}

function arrived(live: LiveState, turn: number, stage: string | null): Timeline | null {
	return replaceLast(
		live.timeline,
		(item) =>
			item.kind === "move" &&
			item.turn === turn &&
			!item.arrived &&
			(item.to === stage || item.mode === "return" || isAgent(item.to)),
		(item) => (item.kind === "move" ? { ...item, to: stage, arrived: true } : item),
	);
}

const userMessage: Handler<"user_message"> = (live, event) =>
	pushed(
		{ ...live, outbox: live.outbox.filter((one) => one.clientId !== event.clientId) },
		{
			kind: "user",
			key: `event-${event.seq}`,
			turn: event.turn,
			text: event.text,
			injected: event.injected ?? false,
		},
	);

const turnStarted: Handler<"turn_started"> = (live, event) => ({
	...live,
	notice: null,
	nearlyFired: [],
	activity: { ...NO_ACTIVITY, turn: event.turn },
});

const toolCallStart: Handler<"tool_call_start"> = (live, event) => {
	const tools = [...(live.activity?.tools ?? []), event.callId];
	return pushed(active(live, { doing: "tools", tools }), {
		kind: "tool",
		key: `event-${event.seq}`,
		turn: event.turn,
		call: live.activity?.call ?? 0,
		callId: event.callId,
		name: event.name,
		arguments: event.arguments ?? null,
		status: "running",
		result: undefined,
		error: "",
		durationMs: 0,
	});
};

const toolCallComplete: Handler<"tool_call_complete"> = (live, event) => {
	const outcome = {
		status: event.success ? ("ok" as const) : ("error" as const),
		result: event.result,
		error: event.error ?? "",
		durationMs: event.durationMs ?? 0,
	};
	const timeline = replaceLast(
		live.timeline,
		(item) => item.kind === "tool" && item.callId === event.callId && item.status === "running",
		(item) => (item.kind === "tool" ? { ...item, ...outcome } : item),
	);
	const tools = (live.activity?.tools ?? []).filter((id) => id !== event.callId);
	const rest = active(live, { tools, doing: tools.length > 0 ? "tools" : "waiting" });
	if (timeline) return { ...rest, timeline };
	// A call refused before it began has only its result in the log.
	return pushed(rest, {
		kind: "tool",
		key: `event-${event.seq}`,
		turn: event.turn,
		call: live.activity?.call ?? 0,
		callId: event.callId,
		name: event.toolName,
		arguments: null,
		...outcome,
	});
};

const callStarted: Handler<"llm_call_started"> = (live, event) => {
	const facts: CallFacts = {
		call: event.call,
		turn: event.turn,
		phase: event.phase ?? 1,
		stage: placed(live.agents.get(event.frame ?? ""), event.stage),
		provider: event.provider,
		model: event.model,
		status: "running",
		read: 0,
		input: 0,
		output: 0,
		counted: false,
		cost: null,
		firstTokenMs: null,
		durationMs: null,
	};
	const next = { ...live, facts: new Map(live.facts).set(event.call, facts) };
	return active(next, { doing: "waiting", call: event.call });
};

const callCompleted: Handler<"llm_call_completed"> = (live, event) => {
	const usage = event.usage;
	const next = withFacts(live, event.call, {
		status: "complete",
		cost: event.cost ?? null,
		firstTokenMs: event.firstTokenMs ?? null,
		durationMs: event.durationMs ?? null,
		...(usage && {
			counted: true,
			read: usage.read ?? 0,
			input: inputTokens(usage),
			output: usage.output ?? 0,
		}),
	});
	const text = event.message.text ?? "";
	const shown = live.activity?.phase === 2 && text !== "" && live.facts.get(event.call)?.phase !== 0;
	const at = { turn: event.turn, call: event.call, stage: live.facts.get(event.call)?.stage ?? "" };
	const timeline = shown ? showText(next.timeline, at, text, "complete") : next.timeline;
	return active({ ...next, timeline }, { doing: "waiting" });
};

const textWithdrawn: Handler<"text_withdrawn"> = (live, event) =>
	notice(
		active({ ...live, timeline: dropReply(live.timeline, event.call) }, { doing: "waiting" }),
		event,
		"withdrawn",
		"The connection to the model broke in the middle of the reply; what was shown was withdrawn.",
	);

const evaluated: Handler<"transition_evaluated"> = (live, event) => {
	if (agentHere(live)) return live;
	const others = live.nearlyFired.filter((one) => one.transitionId !== event.transition);
	if (event.verdict) return { ...live, nearlyFired: others };
	const rule = { transitionId: event.transition, missing: event.reason ?? "" };
	return { ...live, nearlyFired: [...others, rule] };
};

const triggered: Handler<"transition_triggered"> = (live, event) => {
	const agent = agentHere(live);
	// An agent's rules are not on this graph, and their ids may be those of others that are.
	const transition = agent ? null : (event.transition ?? null);
	return pushed(
		{
			...live,
			lastTransitionId: transition ?? live.lastTransitionId,
			visitedTransitions: transition ? counted(live.visitedTransitions, transition) : live.visitedTransitions,
		},
		{
			kind: "move",
			key: `event-${event.seq}`,
			turn: event.turn,
			transition,
			from: placed(agent, event.fromStage),
			to: event.toStage ? placed(agent, event.toStage) : null,
			mode: event.mode ?? "goto",
			reason: event.reason ?? "",
			arrived: false,
		},
	);
};

const framePushed: Handler<"frame_pushed"> = (live, event) =>
	event.agent ? { ...live, agents: new Map(live.agents).set(event.frame, event.agent) } : live;

const stageEntered: Handler<"stage_entered"> = (live, event) => {
	const agent = live.agents.get(event.frame);
	const stage = placed(agent, event.stage);
	const below = live.frames.filter((one) => one.id !== event.frame);
	const entered = { ...live, frames: [...below, { id: event.frame, stage }] };
	const next = {
		...entered,
		activeStageId: onGraph(entered),
		visitedStages: agent ? live.visitedStages : counted(live.visitedStages, event.stage),
	};
	const timeline = arrived(live, event.turn, stage);
	if (timeline) return { ...next, timeline };
	return pushed(next, { kind: "stage", key: `event-${event.seq}`, turn: event.turn, stage });
};

const framePopped: Handler<"frame_popped"> = (live, event) => {
	const frames = live.frames.filter((one) => one.id !== event.frame);
	const caller = frames.at(-1)?.stage ?? null;
	const left = { ...live, frames };
	const next = { ...left, activeStageId: onGraph(left) };
	const timeline = arrived(live, event.turn, caller);
	if (timeline) return { ...next, timeline };
	if (caller === null) return next;
	return pushed(next, {
		kind: "move",
		key: `event-${event.seq}`,
		turn: event.turn,
		transition: null,
		from: placed(live.agents.get(event.frame), event.stage),
		to: caller,
		mode: "return",
		reason: event.reason ?? "",
		arrived: true,
	});
};

/** `shownText` is what the call that was cut off had shown; what earlier calls showed is in the log already. */
const turnInterrupted: Handler<"turn_interrupted"> = (live, event) => {
	const stage = placed(agentHere(live), event.stage);
	const at = { turn: event.turn, call: live.activity?.call ?? 0, stage };
	const shown = event.shownText ?? "";
	const timeline = shown ? showText(live.timeline, at, shown, "interrupted") : live.timeline;
	const over = turnOver({ ...live, timeline }, event.turn, "", "interrupted");
	const cutOff = event.reason === "process_died" || event.reason === "timeout";
	return pushed(over, {
		kind: "notice",
		key: `event-${event.seq}`,
		turn: event.turn,
		resumable: cutOff && !timeline.some((item) => item.kind === "reply" && item.turn === event.turn),
		what: "stopped",
		text: INTERRUPTED[event.reason ?? "stop"] ?? "Stopped.",
	});
};

const turnFailed: Handler<"turn_failed"> = (live, event) =>
	pushed(turnOver(live, event.turn, "", "interrupted"), {
		kind: "failure",
		key: `event-${event.seq}`,
		turn: event.turn,
		code: event.code,
		message: event.message,
		retryable: event.retryable ?? true,
	});

const phase2Complete: Handler<"phase2_complete"> = (live, event) => {
	const stage = placed(agentHere(live), event.stage);
	const at = { turn: event.turn, call: live.activity?.call ?? 0, stage };
	return active(
		{ ...live, timeline: settleReply(live.timeline, at, event.text, "complete") },
		{ doing: "waiting" },
	);
};

const retried: Handler<"llm_call_retry"> = (live, event) => {
	const wait = event.waitMs ? ` in ${(event.waitMs / 1000).toFixed(1)} s` : "";
	return notice(live, event, "retry", `The model did not answer (${event.error}); trying again${wait}.`);
};

const HANDLERS: { [T in EventType]?: Handler<T> } = {
	user_message: userMessage,
	turn_started: turnStarted,
	phase1_start: (live) => active(live, { phase: 1 }),
	phase2_start: (live) => active(live, { phase: 2 }),
	phase2_complete: phase2Complete,
	tool_call_start: toolCallStart,
	tool_call_complete: toolCallComplete,
	llm_call_started: callStarted,
	llm_call_retry: retried,
	llm_call_completed: callCompleted,
	llm_call_failed: (live, event) => withFacts(live, event.call, { status: "failed" }),
	text_withdrawn: textWithdrawn,
	transition_evaluated: evaluated,
	transition_triggered: triggered,
	transition_refused: (live, event) => notice(live, event, "refused", event.reason),
	tool_choice_unmet: (live, event) =>
		notice(live, event, "unmet", "The model did not call the tool that this stage asks for."),
	stage_exited: (live, event) => ({
		...live,
		frames: live.frames.filter((one) => one.id !== event.frame),
	}),
	stage_entered: stageEntered,
	frame_pushed: framePushed,
	frame_popped: framePopped,
	turn_complete: (live, event) => turnOver(live, event.turn, event.text ?? "", "complete"),
	turn_interrupted: turnInterrupted,
	turn_failed: turnFailed,
	session_using: (live, event) =>
		// Null leaves it as it is; the empty text means as the playbook says.
		typeof event.model === "string" ? { ...live, usingModel: event.model || null } : live,
	session_complete: (live, event) =>
		notice(
			{ ...live, complete: true, activeStageId: null },
			event,
			"complete",
			"The conversation is complete.",
		),
};

/** Applies one event. Types without a handler change only the list of events. */
export function applyEvent(live: LiveState, event: SessionEvent): LiveState {
	const handler = HANDLERS[event.type] as Handler<EventType> | undefined;
	return handler ? handler(live, event) : live;
}
