import {
	Background,
	type Connection,
	type FinalConnectionState,
	MiniMap,
	type OnConnectStartParams,
	ReactFlow,
	ReactFlowProvider,
	SelectionMode,
} from "@xyflow/react";
import { type DragEvent, type KeyboardEvent, type MouseEvent, useRef } from "react";
import * as commands from "../playbook/commands";
import { STAGE_HEIGHT, STAGE_WIDTH, snap } from "../playbook/layout";
import type { Position, Stage } from "../playbook/types";
import { ActiveStageHint } from "./ActiveStageHint";
import styles from "./canvas.module.css";
import { type Editor, useEditor } from "./editor";
import { followFocus, selectFocused } from "./focused";
import { addStage, connectStages, select, selectStage, selectTransition } from "./operations";
import { SignCard } from "./SignCard";
import { StageCard } from "./StageCard";
import { PALETTE_TYPE, ToolRail } from "./ToolRail";
import { ArrowHeads, TransitionEdge } from "./TransitionEdge";
import { FIT, useCanvasView } from "./useCanvasView";
import { type CanvasEdge, type CanvasNode, useGraph } from "./useGraph";

const NODE_TYPES = { stage: StageCard, sign: SignCard };
const EDGE_TYPES = { transition: TransitionEdge };
/** The map draws itself at the size it is given as a style. */
const MINIMAP = { width: 148, height: 84 };
const MANY_NODES = 150;

const coarsePointer = () => matchMedia("(pointer: coarse)").matches;

function transitionOf(edge: CanvasEdge): string {
	return edge.data?.transition.id ?? edge.id;
}

function openMenu(
	editor: Editor,
	event: MouseEvent | globalThis.MouseEvent,
	kind: "stage" | "canvas",
	id: string | null,
) {
	event.preventDefault();
	editor.ui.setState({ menu: { kind, id, screen: { x: event.clientX, y: event.clientY } } });
}

/** What gestures on stages and edges do. */
function stageGestures(editor: Editor) {
	const stageOnly = (node: CanvasNode, act: () => void) => node.type === "stage" && act();
	return {
		onNodeClick: (_event: MouseEvent, node: CanvasNode) =>
			stageOnly(node, () => {
				editor.host.openProperties();
				if (editor.live.getState().visitedStages[node.id]) editor.host.inspectStage(node.id);
				editor.view?.reveal([node.id]);
			}),
		onNodeDoubleClick: (_event: MouseEvent, node: CanvasNode) =>
			stageOnly(node, () => editor.ui.setState({ renaming: node.id })),
		onNodeContextMenu: (event: MouseEvent, node: CanvasNode) =>
			stageOnly(node, () => {
				if (!editor.ui.getState().selection.stageIds.includes(node.id)) selectStage(editor, node.id);
				openMenu(editor, event, "stage", node.id);
			}),
		onNodeDragStop: (_event: unknown, _node: CanvasNode, dragged: CanvasNode[]) => {
			const places = Object.fromEntries(dragged.map(({ id, position }) => [id, snap(position)]));
			editor.history.edit(dragged.length === 1 ? "Move stage" : "Move stages", (playbook) =>
				commands.moveStages(playbook, places),
			);
		},
		onEdgeClick: (event: MouseEvent, edge: CanvasEdge) => {
			if (event.shiftKey || event.metaKey || event.ctrlKey) return;
			selectTransition(editor, transitionOf(edge));
			editor.host.openProperties();
		},
		onEdgeContextMenu: (event: MouseEvent, edge: CanvasEdge) => {
			event.preventDefault();
			selectTransition(editor, transitionOf(edge));
			const screen = { x: event.clientX, y: event.clientY };
			editor.ui.setState({ menu: { kind: "transition", id: transitionOf(edge), screen } });
		},
	};
}

function pointOf(event: globalThis.MouseEvent | TouchEvent): Position {
	const point = "changedTouches" in event ? event.changedTouches[0] : event;
	return { x: point?.clientX ?? 0, y: point?.clientY ?? 0 };
}

/** Drawing a connection: to a stage it connects, to the empty canvas it offers a new stage. */
function connectGestures(editor: Editor, frame: React.RefObject<HTMLDivElement | null>) {
	return {
		onConnectStart: (_event: unknown, { nodeId }: OnConnectStartParams) => {
			frame.current?.classList.toggle("ps-connecting", nodeId !== null);
		},
		onConnect: ({ source, target }: Connection) => {
			connectStages(editor, source, target);
			editor.host.openProperties();
		},
		onConnectEnd: (event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState) => {
			frame.current?.classList.remove("ps-connecting");
			const from = state.fromNode;
			if (!from || state.toNode || state.isValid) return;
			const screen = pointOf(event);
			const origin = from.internals.positionAbsolute;
			const at = editor.view?.toCanvas(screen);
			const inside =
				at &&
				at.x >= origin.x - 20 &&
				at.x <= origin.x + STAGE_WIDTH + 24 &&
				at.y >= origin.y - 20 &&
				at.y <= origin.y + (from.measured.height ?? STAGE_HEIGHT) + 24;
			if (!inside) editor.ui.setState({ menu: { kind: "new-stage", id: from.id, screen } });
		},
	};
}

/** Enter and Space select the focused stage or edge, as a click does; Enter goes on into its properties. */
function pickFocused(editor: Editor, event: KeyboardEvent<HTMLElement>): void {
	if (event.key !== "Enter" && event.key !== " ") return;
	if (!selectFocused(editor, event.target)) return;
	event.preventDefault();
	event.stopPropagation();
	if (event.key === "Enter") editor.host.enterProperties();
	else editor.host.openProperties();
}

/** Only where keys moved it: a pointer that takes the focus along says itself what it selects. */
function focusMoved(editor: Editor, target: EventTarget): void {
	if (!(target instanceof Element) || !target.matches(":focus-visible")) return;
	followFocus(editor, target);
	const { stageIds } = editor.ui.getState().selection;
	if (stageIds.length === 1) editor.view?.reveal(stageIds);
}

function dropped(editor: Editor, event: DragEvent): void {
	const kind = event.dataTransfer.getData(PALETTE_TYPE);
	if (!kind || !editor.view) return;
	event.preventDefault();
	const at = editor.view.toCanvas({ x: event.clientX, y: event.clientY });
	const position = { x: at.x - STAGE_WIDTH / 2, y: at.y - STAGE_HEIGHT / 2 };
	addStage(editor, { kind: kind as NonNullable<Stage["kind"]>, position });
}

function minimapColour(node: CanvasNode): string {
	return node.selected ? "var(--ps-accent)" : "var(--ps-line-strong)";
}

function Flow() {
	const editor = useEditor();
	const frame = useRef<HTMLDivElement>(null);
	useCanvasView(editor, frame);
	const { nodes, edges, onNodesChange, onEdgesChange } = useGraph(editor);
	const touch = coarsePointer();
	const addAt = (event: MouseEvent) => {
		if (!(event.target instanceof Element) || !event.target.matches(".react-flow__pane")) return;
		const at = editor.view?.toCanvas({ x: event.clientX, y: event.clientY });
		if (at) addStage(editor, { position: { x: at.x - STAGE_WIDTH / 2, y: at.y - 20 } });
	};
	return (
		<section
			ref={frame}
			className={styles.canvas}
			aria-label="Graph"
			tabIndex={-1}
			onKeyDownCapture={(event) => pickFocused(editor, event)}
			onFocus={(event) => focusMoved(editor, event.target)}
			onDoubleClick={addAt}
			onDragOver={(event) => event.dataTransfer.types.includes(PALETTE_TYPE) && event.preventDefault()}
			onDrop={(event) => dropped(editor, event)}
		>
			<ArrowHeads />
			<ReactFlow<CanvasNode, CanvasEdge>
				nodes={nodes}
				edges={edges}
				nodeTypes={NODE_TYPES}
				edgeTypes={EDGE_TYPES}
				onNodesChange={onNodesChange}
				onEdgesChange={onEdgesChange}
				{...stageGestures(editor)}
				{...connectGestures(editor, frame)}
				onPaneClick={() => select(editor, commands.NOTHING_SELECTED)}
				onPaneContextMenu={(event) => openMenu(editor, event, "canvas", null)}
				connectOnClick={false}
				connectionRadius={24}
				deleteKeyCode={null}
				disableKeyboardA11y
				multiSelectionKeyCode={["Shift", "Meta", "Control"]}
				nodeDragThreshold={3}
				onlyRenderVisibleElements={nodes.length > MANY_NODES}
				panOnDrag={touch ? true : [1]}
				panOnScroll
				selectionMode={SelectionMode.Partial}
				selectionOnDrag={!touch}
				zoomOnDoubleClick={false}
				minZoom={0.1}
				maxZoom={2}
				fitView
				fitViewOptions={{ ...FIT, duration: 0 }}
			>
				<Background gap={24} size={1.5} color="var(--ps-dots)" />
				<MiniMap<CanvasNode>
					className={styles.minimap}
					style={MINIMAP}
					pannable
					zoomable
					nodeColor={minimapColour}
					nodeBorderRadius={8}
					ariaLabel="Overview of the graph"
				/>
			</ReactFlow>
			<ToolRail />
			<ActiveStageHint />
		</section>
	);
}

export function Canvas() {
	return (
		<ReactFlowProvider>
			<Flow />
		</ReactFlowProvider>
	);
}
