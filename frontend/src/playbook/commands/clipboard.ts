/** Copy and paste: stages as JSON text on the system clipboard, so that they travel between tabs and playbooks. */
import { freshId, slug, stageIds, transitionIds } from "../ids";
import { layoutOf, snap, withPositions } from "../layout";
import type { Playbook, Position, Stage, ToolDefinition, Transition } from "../types";
import type { Selection } from "./transitions";

const KIND = "playbook-studio/stages";

export interface Clip {
	readonly kind: typeof KIND;
	readonly stages: readonly Stage[];
	readonly transitions: readonly Transition[];
	readonly positions: Readonly<Record<string, Position>>;
	/** Global tools that the copied stages' rules name. */
	readonly tools: readonly ToolDefinition[];
}

/** The selected stages, the transitions between them, and the global tools that those rules name. */
export function clipOf(playbook: Playbook, { stageIds: ids, transitionIds: picked }: Selection): Clip {
	const chosen = new Set(ids);
	const also = new Set(picked);
	const layout = layoutOf(playbook);
	const transitions = (playbook.transitions ?? []).filter(({ id, from, action }) => {
		const target = action.mode === "return" ? from : action.targetStage;
		return chosen.has(from) && (also.has(id) || (target ? chosen.has(target) : false));
	});
	const named = new Set(
		transitions.map(({ condition }) => (condition.type === "tool_call" ? condition.toolName : "")),
	);
	return {
		kind: KIND,
		stages: playbook.stages.filter((stage) => chosen.has(stage.id)),
		transitions: transitions.filter(
			({ action }) => action.mode === "return" || chosen.has(action.targetStage ?? ""),
		),
		positions: Object.fromEntries(Object.entries(layout).filter(([id]) => chosen.has(id))),
		tools: (playbook.globalTools ?? []).filter((tool) => named.has(tool.name)),
	};
}

export function clipText(clip: Clip): string {
	return JSON.stringify(clip, null, 2);
}

/** The clip in a text from the clipboard, or null if it is something else. */
export function parseClip(text: string): Clip | null {
	try {
		const value: unknown = JSON.parse(text);
		if (!isClip(value)) return null;
		return value;
	} catch {
		return null;
	}
}

function isStage(value: unknown): value is Stage {
	const stage = value as Partial<Stage> | null;
	return (
		typeof stage?.id === "string" && typeof stage.name === "string" && typeof stage.systemPrompt === "string"
	);
}

function isTransition(value: unknown): value is Transition {
	const transition = value as Partial<Transition> | null;
	return (
		typeof transition?.id === "string" &&
		typeof transition.from === "string" &&
		typeof transition.condition?.type === "string" &&
		typeof transition.action === "object"
	);
}

function isClip(value: unknown): value is Clip {
	const clip = value as Partial<Clip> | null;
	return (
		clip?.kind === KIND &&
		Array.isArray(clip.stages) &&
		clip.stages.every(isStage) &&
		Array.isArray(clip.transitions) &&
		clip.transitions.every(isTransition) &&
		Array.isArray(clip.tools) &&
		typeof clip.positions === "object"
	);
}

export interface Pasted {
	readonly playbook: Playbook;
	/** The new stages and transitions, to be selected. */
	readonly selection: Selection;
}

function renaming(ids: readonly string[], taken: Set<string>): Map<string, string> {
	const renamed = new Map<string, string>();
	for (const id of ids) {
		const fresh = freshId(slug(id.replace(/-\d+$/, "")) || "stage", taken);
		taken.add(fresh);
		renamed.set(id, fresh);
	}
	return renamed;
}

function corner(clip: Clip): Position {
	const places = Object.values(clip.positions);
	if (places.length === 0) return { x: 0, y: 0 };
	return { x: Math.min(...places.map(({ x }) => x)), y: Math.min(...places.map(({ y }) => y)) };
}

/** Adds a clip with new ids, its top left corner at `at`. */
export function paste(playbook: Playbook, clip: Clip, at: Position): Pasted {
	const stages = renaming(
		clip.stages.map(({ id }) => id),
		stageIds(playbook),
	);
	const rules = renaming(
		clip.transitions.map(({ id }) => id),
		transitionIds(playbook),
	);
	const from = corner(clip);
	const place = (id: string): Position => {
		const old = clip.positions[id] ?? from;
		return snap({ x: at.x + old.x - from.x, y: at.y + old.y - from.y });
	};
	const known = new Set((playbook.globalTools ?? []).map(({ name }) => name));
	const tools = clip.tools.filter(({ name }) => !known.has(name));
	const added: Playbook = {
		...playbook,
		stages: [
			...playbook.stages,
			...clip.stages.map((stage) => ({ ...stage, id: stages.get(stage.id) ?? stage.id })),
		],
		transitions: [
			...(playbook.transitions ?? []),
			...clip.transitions.map((rule) => moved(rule, stages, rules)),
		],
	};
	if (tools.length > 0) added.globalTools = [...(playbook.globalTools ?? []), ...tools];
	const positions = Object.fromEntries([...stages].map(([old, fresh]) => [fresh, place(old)]));
	return {
		playbook: withPositions(added, positions),
		selection: { stageIds: [...stages.values()], transitionIds: [...rules.values()] },
	};
}

function moved(rule: Transition, stages: Map<string, string>, rules: Map<string, string>): Transition {
	const target = rule.action.targetStage;
	return {
		...rule,
		id: rules.get(rule.id) ?? rule.id,
		from: stages.get(rule.from) ?? rule.from,
		action: target ? { ...rule.action, targetStage: stages.get(target) ?? target } : rule.action,
	};
}

/** A copy of the selection beside it. */
export function duplicate(playbook: Playbook, selection: Selection): Pasted {
	const clip = clipOf(playbook, selection);
	const { x, y } = corner(clip);
	return paste(playbook, clip, { x: x + 32, y: y + 32 });
}
