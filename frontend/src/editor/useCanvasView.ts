/** What the canvas does for the rest of the editor: fitting, zooming, showing stages, keeping them in sight. */
import { useReactFlow } from "@xyflow/react";
import { type RefObject, useEffect } from "react";
import { isNothing, type Selection } from "../playbook/commands";
import type { Position } from "../playbook/types";
import type { CanvasView, Editor } from "./editor";
import { selectionOf } from "./operations";
import { takeFocusLater } from "./takeFocus";
import type { CanvasEdge, CanvasNode } from "./useGraph";

/** Room for the tool rail. */
const RAIL = 64;
const MARGIN = 24;
const AROUND = { left: `${RAIL + MARGIN}px`, right: "48px", top: "48px", bottom: "48px" } as const;
export const FIT = { padding: AROUND, maxZoom: 1, minZoom: 0.2, duration: 150 };
const QUICK = { duration: 150 };

/** How far to pan, at least, for the boxes to be seen in the area; of what is too large, the start is shown. */
export function panInto(area: DOMRect, boxes: readonly DOMRect[]): Position {
	const along = (low: number, high: number, from: number, to: number) => {
		if (low < from) return from - low;
		return high > to ? Math.max(to - high, from - low) : 0;
	};
	const least = (side: (box: DOMRect) => number) => Math.min(...boxes.map(side)) - MARGIN;
	const most = (side: (box: DOMRect) => number) => Math.max(...boxes.map(side)) + MARGIN;
	return {
		x: along(
			least(({ left }) => left),
			most(({ right }) => right),
			area.left + RAIL,
			area.right,
		),
		y: along(
			least(({ top }) => top),
			most(({ bottom }) => bottom),
			area.top,
			area.bottom,
		),
	};
}

/** The selected card or line, which may be drawn only in the next frame. */
function selectedPart(root: HTMLElement, { stageIds, transitionIds }: Selection): HTMLElement | null {
	const find = (kind: string, id: string | undefined) =>
		id === undefined
			? null
			: root.querySelector<HTMLElement>(`.react-flow__${kind}[data-id="${CSS.escape(id)}"]`);
	return find("node", stageIds[0]) ?? find("edge", transitionIds[0]);
}

function createView(
	editor: Editor,
	root: HTMLElement,
	flow: ReturnType<typeof useReactFlow<CanvasNode, CanvasEdge>>,
): CanvasView & { setPointer(at: Position | null): void } {
	let pointer: Position | null = null;
	let stopFocus = () => {};
	const middle = (): Position => {
		const { left, top, width, height } = root.getBoundingClientRect();
		return { x: left + width / 2, y: top + height / 2 };
	};
	const reveal = (ids: readonly string[]) => {
		const cards = ids.map((id) => root.querySelector(`[data-stage="${CSS.escape(id)}"]`));
		const boxes = cards.flatMap((card) => (card ? [card.getBoundingClientRect()] : []));
		if (boxes.length === 0) return;
		const pan = panInto(root.getBoundingClientRect(), boxes);
		const { x, y, zoom } = flow.getViewport();
		if (pan.x !== 0 || pan.y !== 0) void flow.setViewport({ x: x + pan.x, y: y + pan.y, zoom }, QUICK);
	};
	return {
		fit: (ids) => void flow.fitView(ids ? { ...FIT, nodes: ids.map((id) => ({ id })) } : FIT),
		zoomTo: (level) => void flow.zoomTo(level, QUICK),
		zoomBy: (factor) => void flow.zoomTo(flow.getZoom() * factor, QUICK),
		toCanvas: (screen) => flow.screenToFlowPosition(screen),
		pointer: () => flow.screenToFlowPosition(pointer ?? middle()),
		focus: () => {
			stopFocus();
			stopFocus = takeFocusLater(() => {
				const selection = selectionOf(editor);
				return isNothing(selection) ? root : selectedPart(root, selection);
			});
		},
		// After a panel that opens beside the canvas has taken its room.
		reveal: (ids) => void requestAnimationFrame(() => reveal(ids)),
		setPointer: (at) => {
			pointer = at;
		},
	};
}

/** The stages that should stay in sight: what is selected, else where the conversation is. */
function inSight(editor: Editor): readonly string[] {
	const { stageIds } = editor.ui.getState().selection;
	const active = editor.live.getState().activeStageId;
	if (stageIds.length > 0) return stageIds;
	return active ? [active] : [];
}

/**
 * Makes this canvas the editor's view while it is on the screen. When panels take room from it, the whole graph
 * is fitted again as long as nobody has touched the canvas; afterwards it is only panned, and only if it must.
 */
export function useCanvasView(editor: Editor, frame: RefObject<HTMLElement | null>): void {
	const flow = useReactFlow<CanvasNode, CanvasEdge>();
	useEffect(() => {
		const root = frame.current;
		if (!root) return;
		const view = createView(editor, root, flow);
		const stop = new AbortController();
		const { signal } = stop;
		let touched = false;
		let size = root.clientWidth * root.clientHeight;
		const touch = () => {
			touched = true;
		};
		for (const name of ["pointerdown", "wheel", "keydown", "drop"] as const) {
			root.addEventListener(name, touch, { signal, capture: true, passive: true });
		}
		root.addEventListener(
			"pointermove",
			({ clientX, clientY }) => view.setPointer({ x: clientX, y: clientY }),
			{ signal },
		);
		root.addEventListener("pointerleave", () => view.setPointer(null), { signal });
		const resized = new ResizeObserver(() => {
			const now = root.clientWidth * root.clientHeight;
			if (now === size || now === 0) return;
			size = now;
			if (touched) view.reveal(inSight(editor));
			else requestAnimationFrame(() => view.fit());
		});
		resized.observe(root);
		editor.view = view;
		return () => {
			stop.abort();
			resized.disconnect();
			if (editor.view === view) editor.view = null;
		};
	}, [editor, flow, frame]);
}
