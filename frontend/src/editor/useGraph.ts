/** Nodes and edges for the canvas: derived from the document, with what is selected, measured and being dragged. */
import { applyNodeChanges, type Edge, type EdgeChange, type Node, type NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { createDeriver, type EdgeData, type Graph, type GraphEdge, type GraphNode } from "../playbook/derive";
import { labelSize } from "../playbook/labelSize";
import { STAGE_HEIGHT, STAGE_WIDTH } from "../playbook/layout";
import { type Box, type Course, routeWires } from "../playbook/routes";
import { type Editor, useDocument, useUi } from "./editor";
import { select } from "./operations";

export interface CourseData extends EdgeData {
	readonly course: Course | undefined;
	/** The first edge of its transition: the one that has the label. */
	readonly lead: boolean;
}
export type CanvasNode = Node<GraphNode["data"]> & { source: GraphNode };
export type CanvasEdge = Edge<CourseData>;

function canvasNode(derived: GraphNode, before: CanvasNode | undefined, selected: boolean): CanvasNode {
	if (before?.source === derived && before.selected === selected) return before;
	const node = { ...derived, source: derived, selected } as CanvasNode;
	return before?.measured ? { ...node, measured: before.measured } : node;
}

function boxOf(node: CanvasNode): Box {
	const {
		width = node.type === "sign" ? 92 : STAGE_WIDTH,
		height = node.type === "sign" ? 28 : STAGE_HEIGHT,
	} = node.measured ?? {};
	return { ...node.position, width, height };
}

function sameCourse(left: Course | undefined, right: Course | undefined): boolean {
	const [one, other] = [left?.label, right?.label];
	const sameLabel = one?.x === other?.x && one?.y === other?.y && one?.cutTo === other?.cutTo;
	return left?.path === right?.path && sameLabel;
}

function canvasEdge(
	{ id, source, target, type, ariaLabel, data }: GraphEdge,
	course: Course | undefined,
	selected: boolean,
	before: CanvasEdge | undefined,
): CanvasEdge {
	const old = before?.data;
	const same =
		old?.transition === data.transition && old.sentence === data.sentence && sameCourse(old.course, course);
	const ends = before?.source === source && before.target === target && before.ariaLabel === ariaLabel;
	if (before && same && ends && before.selected === selected) return before;
	const lead = id === data.transition.id;
	return { id, source, target, type, ariaLabel, selected, data: { ...data, course, lead } };
}

function changedSelection(
	nodes: CanvasNode[],
	changes: NodeChange<CanvasNode>[],
	selected: ReadonlySet<string>,
) {
	const picks = changes.filter((change) => change.type === "select");
	if (picks.length === 0) return null;
	const next = new Set(selected);
	for (const { id, selected: on } of picks) on ? next.add(id) : next.delete(id);
	return nodes.filter(({ id, type }) => type === "stage" && next.has(id)).map(({ id }) => id);
}

function changedTransitions(
	edges: readonly CanvasEdge[],
	changes: readonly EdgeChange<CanvasEdge>[],
	selected: readonly string[],
): string[] | null {
	const next = new Set(selected);
	for (const change of changes) {
		if (change.type !== "select") continue;
		const id = edges.find((edge) => edge.id === change.id)?.data?.transition.id;
		if (id) change.selected ? next.add(id) : next.delete(id);
	}
	const same = next.size === selected.length && selected.every((id) => next.has(id));
	return same ? null : [...next];
}

/** Edges with their courses; an edge whose course stays the same keeps its identity. */
function useEdges(graph: Graph, nodes: readonly CanvasNode[], selected: ReadonlySet<string>) {
	const latest = useRef<CanvasEdge[]>([]);
	const edges = useMemo(() => {
		const wires = graph.edges.map(({ id, source, target, data }) => ({
			id,
			source,
			target,
			label: labelSize(data.sentence),
		}));
		const courses = routeWires(wires, new Map(nodes.map((node) => [node.id, boxOf(node)])));
		const known = new Map(latest.current.map((edge) => [edge.id, edge]));
		latest.current = graph.edges.map((edge) =>
			canvasEdge(edge, courses.get(edge.id), selected.has(edge.data.transition.id), known.get(edge.id)),
		);
		return latest.current;
	}, [graph.edges, nodes, selected]);
	return { edges, latest };
}

export function useGraph(editor: Editor) {
	const playbook = useDocument();
	const selection = useUi((ui) => ui.selection);
	const [derive] = useState(createDeriver);
	const graph = useMemo(() => derive(playbook), [derive, playbook]);
	const stages = useMemo(() => new Set(selection.stageIds), [selection.stageIds]);
	const transitions = useMemo(() => new Set(selection.transitionIds), [selection.transitionIds]);
	const [nodes, setNodes] = useState<CanvasNode[]>(() =>
		graph.nodes.map((node) => canvasNode(node, undefined, false)),
	);

	useEffect(() => {
		setNodes((before) => {
			const known = new Map(before.map((node) => [node.id, node]));
			return graph.nodes.map((node) => canvasNode(node, known.get(node.id), stages.has(node.id)));
		});
	}, [graph.nodes, stages]);

	const { edges, latest: edgesNow } = useEdges(graph, nodes, transitions);
	const latest = useRef(nodes);
	latest.current = nodes;
	const onNodesChange = useCallback(
		(changes: NodeChange<CanvasNode>[]) => {
			const { selection: before } = editor.ui.getState();
			const picked = changedSelection(latest.current, changes, new Set(before.stageIds));
			if (picked) select(editor, { ...before, stageIds: picked });
			const rest = changes.filter(({ type }) => type === "position" || type === "dimensions");
			if (rest.length > 0) setNodes((current) => applyNodeChanges(rest, current));
		},
		[editor],
	);

	const onEdgesChange = useCallback(
		(changes: EdgeChange<CanvasEdge>[]) => {
			const { selection: before } = editor.ui.getState();
			const picked = changedTransitions(edgesNow.current, changes, before.transitionIds);
			if (picked) select(editor, { ...before, transitionIds: picked });
		},
		[editor, edgesNow],
	);

	return { nodes, edges, onNodesChange, onEdgesChange };
}
