/** What can be done to transitions, and to a selection of stages and transitions together. */
import { freshTransitionId } from "../ids";
import { withoutPositions } from "../layout";
import type { Condition, Playbook, Transition } from "../types";
import { merged } from "./stages";

export interface Selection {
	readonly stageIds: readonly string[];
	readonly transitionIds: readonly string[];
}

export const NOTHING_SELECTED: Selection = { stageIds: [], transitionIds: [] };

export function isNothing({ stageIds, transitionIds }: Selection): boolean {
	return stageIds.length + transitionIds.length === 0;
}

/** The new transition's id is `freshTransitionId(playbook, from, target)`; it fires when the model decides so. */
export function connect(playbook: Playbook, from: string, target: string): Playbook {
	const transition: Transition = {
		id: freshTransitionId(playbook, from, target),
		from,
		condition: { type: "llm_decision" },
		action: { targetStage: target },
	};
	return { ...playbook, transitions: [...(playbook.transitions ?? []), transition] };
}

export function updateTransition(playbook: Playbook, id: string, changes: Partial<Transition>): Playbook {
	return {
		...playbook,
		transitions: (playbook.transitions ?? []).map((transition) =>
			transition.id === id ? merged(transition, changes) : transition,
		),
	};
}

/** Moves an end of a transition; everything else about it stays. */
export function reconnect(
	playbook: Playbook,
	id: string,
	ends: { from?: string; target?: string },
): Playbook {
	const transition = playbook.transitions?.find((candidate) => candidate.id === id);
	if (!transition) return playbook;
	const action =
		ends.target === undefined || transition.action.mode === "return"
			? transition.action
			: { ...transition.action, targetStage: ends.target };
	return updateTransition(playbook, id, { from: ends.from ?? transition.from, action });
}

/** Swaps the ends. A transition from any stage, or one that returns, has no other direction. */
export function reverse(playbook: Playbook, id: string): Playbook {
	const transition = playbook.transitions?.find((candidate) => candidate.id === id);
	const target = transition?.action.targetStage;
	if (!transition || !target || !canReverse(transition)) return playbook;
	return updateTransition(playbook, id, {
		from: target,
		action: { ...transition.action, targetStage: transition.from },
	});
}

export function canReverse({ from, action }: Transition): boolean {
	const target = action.targetStage;
	return from !== "*" && !!target && !target.startsWith("agent:") && action.mode !== "return";
}

export function setDisabled(playbook: Playbook, id: string, disabled: boolean): Playbook {
	return updateTransition(playbook, id, { disabled: disabled ? true : undefined });
}

export function changePriority(playbook: Playbook, id: string, by: number): Playbook {
	const transition = playbook.transitions?.find((candidate) => candidate.id === id);
	if (!transition) return playbook;
	return updateTransition(playbook, id, { priority: (transition.priority ?? 0) + by || undefined });
}

/**
 * A condition of another kind, keeping the description, which several kinds have. It can be saved as it is: a
 * tool must have a name, and who draws a keyword rule means what the user says.
 */
export function conditionOfType(type: Condition["type"], before: Condition, tool = "tool"): Condition {
	const description =
		"description" in before && before.description ? { description: before.description } : {};
	switch (type) {
		case "keyword":
			return { type, keywords: [], source: "user" };
		case "tool_call":
			return { type, toolName: tool };
		case "intent":
			return { type, intent: "", ...description };
		case "llm_decision":
			return { type, ...description };
		case "max_turns":
			return { type, count: 5 };
		case "timeout":
			return { type, durationMs: 20_000, since: "last_activity" };
		case "custom":
			return { type, expression: "" };
		default:
			return type satisfies never;
	}
}

/** True when the selection holds every stage: a playbook keeps at least one. */
export function takesEveryStage(playbook: Playbook, { stageIds }: Selection): boolean {
	const gone = new Set(stageIds);
	return playbook.stages.every((stage) => gone.has(stage.id));
}

/** Removes the selection and every transition that would be left dangling. The last stage is never removed. */
export function removeSelection(playbook: Playbook, selection: Selection): Playbook {
	if (takesEveryStage(playbook, selection)) return playbook;
	const gone = new Set(selection.stageIds);
	const cut = new Set(selection.transitionIds);
	const stages = playbook.stages.filter((stage) => !gone.has(stage.id));
	const kept = (playbook.transitions ?? []).filter(
		({ id, from, action }) => !cut.has(id) && !gone.has(from) && !gone.has(action.targetStage ?? ""),
	);
	const first = stages[0]?.id ?? playbook.initialStage;
	const cleaned = gone.size > 0 ? withoutPositions(playbook, gone) : playbook;
	return {
		...cleaned,
		stages,
		transitions: kept,
		initialStage: gone.has(playbook.initialStage) ? first : playbook.initialStage,
	};
}
