/**
 * The graph as a function of the document. Cards and edges are never stored beside it. What did not change
 * keeps its identity from one derivation to the next, so that the canvas draws only what changed.
 */
import { edgeSentence, endTitle, stageTitle, transitionTitle } from "./labels";
import { type Layout, layoutOf, STAGE_HEIGHT, STAGE_WIDTH } from "./layout";
import { estimateTokens } from "./tokens";
import type { Playbook, Position, Stage, Transition } from "./types";

export interface StageData extends Record<string, unknown> {
	readonly stage: Stage;
	readonly initial: boolean;
	/** Some transition calls this stage. */
	readonly called: boolean;
	/** A transition returns from here. */
	readonly returns: boolean;
	readonly tokens: number;
}

/** What an edge needs at an end where no stage stands. */
export interface SignData extends Record<string, unknown> {
	readonly sign: "any" | "agent" | "missing" | "returns";
	readonly label: string;
}

interface CardBase {
	readonly id: string;
	readonly position: Position;
	readonly ariaLabel: string;
}
export interface StageNode extends CardBase {
	readonly type: "stage";
	readonly data: StageData;
}
export interface SignNode extends CardBase {
	readonly type: "sign";
	readonly data: SignData;
	readonly draggable: boolean;
	readonly selectable: false;
}
export type GraphNode = StageNode | SignNode;

export interface EdgeData extends Record<string, unknown> {
	readonly transition: Transition;
	readonly sentence: string;
	readonly mode: "goto" | "call" | "return";
}
export interface GraphEdge {
	/** The transition's id; a return with several callers has one edge for each, `id@caller`. */
	readonly id: string;
	readonly type: "transition";
	readonly source: string;
	readonly target: string;
	readonly ariaLabel: string;
	readonly data: EdgeData;
}

export interface Graph {
	readonly nodes: readonly GraphNode[];
	readonly edges: readonly GraphEdge[];
}

/** Stage ids that are reached from `start` without a call or a return. */
function visitOf(start: string, transitions: readonly Transition[]): Set<string> {
	const seen = new Set([start]);
	for (const id of seen) {
		for (const { from, action } of transitions) {
			if (from === id && (action.mode ?? "goto") === "goto" && action.targetStage)
				seen.add(action.targetStage);
		}
	}
	return seen;
}

/** For each stage, the stages that it returns to. */
function callersOf(transitions: readonly Transition[]): Map<string, Set<string>> {
	const callers = new Map<string, Set<string>>();
	for (const { from, action } of transitions) {
		if (action.mode !== "call" || !action.targetStage || from === "*") continue;
		for (const id of visitOf(action.targetStage, transitions)) {
			callers.set(id, (callers.get(id) ?? new Set()).add(from));
		}
	}
	return callers;
}

interface Context {
	readonly playbook: Playbook;
	readonly layout: Layout;
	readonly stages: ReadonlySet<string>;
	readonly callers: ReadonlyMap<string, ReadonlySet<string>>;
	readonly signs: Map<string, SignNode>;
}

function beside(layout: Layout, id: string, by: Position): Position {
	const place = layout[id] ?? { x: 0, y: 0 };
	return { x: place.x + by.x, y: place.y + by.y };
}

function addSign(context: Context, id: string, data: SignData, position: Position): string {
	if (!context.signs.has(id)) {
		context.signs.set(id, {
			id,
			type: "sign",
			data,
			position: context.layout[id] ?? position,
			draggable: true,
			selectable: false,
			ariaLabel: data.label,
		});
	}
	return id;
}

function sourceOf(context: Context, { from, action }: Transition): string {
	if (context.stages.has(from)) return from;
	const target = action.targetStage ?? "";
	const above = beside(context.layout, target, { x: STAGE_WIDTH / 2 - 46, y: -104 });
	if (from === "*") return addSign(context, `any:${target}`, { sign: "any", label: "any stage" }, above);
	const left = beside(context.layout, target, { x: -STAGE_WIDTH - 60, y: -64 });
	return addSign(
		context,
		`missing:${from}`,
		{ sign: "missing", label: endTitle(context.playbook, from) },
		left,
	);
}

function targetsOf(context: Context, { from, action }: Transition): string[] {
	const { layout, playbook } = context;
	const right = beside(layout, from, { x: STAGE_WIDTH + 200, y: STAGE_HEIGHT + 24 });
	if (action.mode === "return") {
		const callers = [...(context.callers.get(from) ?? [])];
		if (callers.length > 0) return callers;
		return [addSign(context, `returns:${from}`, { sign: "returns", label: "returns" }, right)];
	}
	const target = action.targetStage ?? "";
	if (context.stages.has(target)) return [target];
	const sign = target.startsWith("agent:") ? "agent" : "missing";
	const label = target ? endTitle(playbook, target) : "no target yet";
	return [addSign(context, sign === "agent" ? target : `missing:${target}`, { sign, label }, right)];
}

function edgesOf(context: Context, transition: Transition): GraphEdge[] {
	const source = sourceOf(context, transition);
	const data: EdgeData = {
		transition,
		sentence: edgeSentence(transition),
		mode: transition.action.mode ?? "goto",
	};
	const ariaLabel = transitionTitle(context.playbook, transition);
	return targetsOf(context, transition).map((target, index) => ({
		id: index === 0 ? transition.id : `${transition.id}@${target}`,
		type: "transition",
		source,
		target,
		ariaLabel,
		data,
	}));
}

function stageLabel({ stage, initial, called }: StageData): string {
	const signs = [
		initial && "start",
		stage.kind === "end" && "end",
		stage.kind === "raw" && "raw",
		called && "called",
	];
	const words = signs.filter(Boolean).join(", ");
	return `Stage ${stageTitle(stage)}${words ? ` (${words})` : ""}`;
}

const tokensOf = new WeakMap<Stage, number>();

function stageTokens(stage: Stage): number {
	const known = tokensOf.get(stage);
	if (known !== undefined) return known;
	const tokens = estimateTokens(stage.systemPrompt);
	tokensOf.set(stage, tokens);
	return tokens;
}

function stageNodes(context: Context): StageNode[] {
	const { playbook, layout } = context;
	const transitions = playbook.transitions ?? [];
	const called = new Set(
		transitions.flatMap(({ action }) => (action.mode === "call" ? [action.targetStage] : [])),
	);
	const returning = new Set(
		transitions.flatMap(({ from, action }) => (action.mode === "return" ? [from] : [])),
	);
	return playbook.stages.map((stage) => {
		const data: StageData = {
			stage,
			initial: playbook.initialStage === stage.id,
			called: called.has(stage.id),
			returns: returning.has(stage.id),
			tokens: stageTokens(stage),
		};
		const position = layout[stage.id] ?? { x: 0, y: 0 };
		return { id: stage.id, type: "stage", position, data, ariaLabel: stageLabel(data) };
	});
}

export function deriveGraph(playbook: Playbook): Graph {
	const transitions = playbook.transitions ?? [];
	const context: Context = {
		playbook,
		layout: layoutOf(playbook),
		stages: new Set(playbook.stages.map(({ id }) => id)),
		callers: callersOf(transitions),
		signs: new Map(),
	};
	const edges = transitions.flatMap((transition) => edgesOf(context, transition));
	return { nodes: [...stageNodes(context), ...context.signs.values()], edges };
}

function shallowEqual(left: object, right: object): boolean {
	const keys = Object.keys(left);
	return (
		keys.length === Object.keys(right).length &&
		keys.every((key) =>
			Object.is((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
		)
	);
}

function sameItem(before: GraphNode | GraphEdge, after: GraphNode | GraphEdge): boolean {
	if (!shallowEqual(before.data, after.data)) return false;
	if ("position" in before && "position" in after && !shallowEqual(before.position, after.position))
		return false;
	const bare = (item: GraphNode | GraphEdge) => ({ ...item, data: null, position: null });
	return shallowEqual(bare(before), bare(after));
}

function keepIdentity<T extends GraphNode | GraphEdge>(
	before: readonly T[],
	after: readonly T[],
): readonly T[] {
	const known = new Map(before.map((item) => [item.id, item]));
	const kept = after.map((item) => {
		const old = known.get(item.id);
		return old && sameItem(old, item) ? old : item;
	});
	const unchanged = kept.length === before.length && kept.every((item, index) => item === before[index]);
	return unchanged ? before : kept;
}

/** A `deriveGraph` that remembers its last answer. */
export function createDeriver(): (playbook: Playbook) => Graph {
	let last: Graph = { nodes: [], edges: [] };
	return (playbook) => {
		const next = deriveGraph(playbook);
		last = { nodes: keepIdentity(last.nodes, next.nodes), edges: keepIdentity(last.edges, next.edges) };
		return last;
	};
}
