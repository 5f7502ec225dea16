/** Conditions and transitions as sentences: what stands on an edge, in lists and in announcements. */
import { duration } from "./duration";
import type { Condition, KeywordCondition, Playbook, Stage, ToolCallCondition, Transition } from "./types";

const SPEAKER = { assistant: "assistant ", user: "user ", any: "" } as const;
const OUTCOME = { any: "called", success: "succeeded", error: "failed" } as const;

function keywordSentence(
	{ keywords = [], match = "word", source = "assistant" }: KeywordCondition,
	shown: number,
): string {
	if (keywords.length === 0) return "no keyword yet";
	const verb = { word: "says", substring: "says", regex: "matches" }[match];
	const quoted = keywords.slice(0, shown).map((word) => {
		if (match === "regex") return `/${word}/`;
		return match === "substring" ? `‘…${word}…’` : `‘${word}’`;
	});
	const more = keywords.length > shown ? ` +${keywords.length - shown}` : "";
	return `${SPEAKER[source]}${verb} ${quoted.join(", ")}${more}`;
}

function toolSentence({ toolName, outcome = "any", where }: ToolCallCondition): string {
	const happened = `${toolName || "…"} ${OUTCOME[outcome]}`;
	return where ? `${happened} and ${where}` : happened;
}

function assertNever(value: never): never {
	throw new Error(`unknown condition ${JSON.stringify(value)}`);
}

const ALL = Number.POSITIVE_INFINITY;
/** Keywords named on an edge, where there is little room. */
const ON_EDGE = 2;

/** "model decides", "after 5 turns", "intent ‘cancel’ ≥ 0.6" … */
export function conditionSentence(condition: Condition, keywords = ALL): string {
	switch (condition.type) {
		case "keyword":
			return keywordSentence(condition, keywords);
		case "tool_call":
			return toolSentence(condition);
		case "intent":
			return `intent ‘${condition.intent || "…"}’ ≥ ${condition.confidence ?? 0.6}`;
		case "llm_decision":
			return "model decides";
		case "max_turns":
			return condition.count === 1 ? "after 1 turn" : `after ${condition.count} turns`;
		case "timeout":
			return condition.since === "last_activity"
				? `${duration(condition.durationMs)} of silence`
				: `after ${duration(condition.durationMs)} in the stage`;
		case "custom":
			return (
				(condition.when === "before" ? "before the reply: " : "") +
				(condition.expression || "no expression yet")
			);
		default:
			return assertNever(condition);
	}
}

/** The sentence of its condition, with what is special about the way it goes. */
export function transitionSentence(transition: Transition, keywords = ALL): string {
	const sentence = conditionSentence(transition.condition, keywords);
	const mode = transition.action.mode ?? "goto";
	const going = mode === "goto" ? sentence : `${mode === "call" ? "calls" : "returns"} · ${sentence}`;
	return transition.disabled ? `off · ${going}` : going;
}

/** The same, short enough for an edge: "user says ‘bye’, ‘goodbye’ +3". */
export function edgeSentence(transition: Transition): string {
	return transitionSentence(transition, ON_EDGE);
}

export const CONDITION_NAMES: Record<Condition["type"], string> = {
	llm_decision: "The model decides",
	keyword: "A keyword is said",
	tool_call: "A tool was called",
	intent: "The user's intent",
	max_turns: "After some turns",
	timeout: "Time has passed",
	custom: "An expression is true",
};

/** A stage's name for people: its name, or its id where the name is empty. */
export function stageTitle(stage: Stage): string {
	return stage.name.trim() || stage.id;
}

export function endTitle(playbook: Playbook, id: string | null | undefined): string {
	if (!id) return "the caller";
	if (id === "*") return "any stage";
	if (id.startsWith("agent:")) return `agent ${id.slice("agent:".length)}`;
	const stage = playbook.stages.find((candidate) => candidate.id === id);
	return stage ? stageTitle(stage) : `missing stage ‘${id}’`;
}

/** A stage where it stands: of a called agent, whose document is not here, by its id. `endTitle` reads it. */
export function placed(agent: string | null | undefined, stage: string): string {
	return agent && !stage.startsWith("agent:") ? `agent:${agent} · ${stage}` : stage;
}

/** The agent whose lane it is; empty for the session's own playbook. */
export function agentOf(lane: string | undefined): string {
	return lane?.slice(0, Math.max(0, lane.indexOf("|"))) ?? "";
}

/** "Greeting → Triage: model decides" */
export function transitionTitle(playbook: Playbook, transition: Transition): string {
	const target = transition.action.mode === "return" ? null : transition.action.targetStage;
	return `${endTitle(playbook, transition.from)} → ${endTitle(playbook, target)}: ${transitionSentence(transition)}`;
}
