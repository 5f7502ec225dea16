import { useReactFlow, ViewportPortal } from "@xyflow/react";
import { type PointerEvent as ReactPointerEvent, useState } from "react";
import type { Course } from "../playbook/routes";
import type { Position, Transition } from "../playbook/types";
import { type Editor, useEditor } from "./editor";
import styles from "./graph.module.css";
import { announce, reconnectEnd } from "./operations";

type End = "from" | "target";

const TITLES = { from: "Drag to start from another stage", target: "Drag to lead to another stage" } as const;

function stageUnder({ clientX, clientY }: PointerEvent): string | undefined {
	const found = document
		.elementsFromPoint(clientX, clientY)
		.find((element) => element.closest("[data-stage]"));
	return found?.closest<HTMLElement>("[data-stage]")?.dataset.stage;
}

/** Follows the pointer until it is let go; over nothing the transition stays as it was. */
function follow(editor: Editor, id: string, end: End, move: (event: PointerEvent | null) => void): void {
	const stop = new AbortController();
	const finish = (event: PointerEvent | null) => {
		stop.abort();
		move(null);
		const stage = event ? stageUnder(event) : undefined;
		if (stage) reconnectEnd(editor, id, { [end]: stage });
		else announce(editor, "The transition stays where it was.");
	};
	const { signal } = stop;
	window.addEventListener("pointermove", move, { signal });
	window.addEventListener("pointerup", finish, { signal });
	window.addEventListener("pointercancel", () => finish(null), { signal });
	window.addEventListener("keydown", (event) => event.key === "Escape" && finish(null), { signal });
}

/** The two ends of the selected edge, to be dragged to another stage. */
export function ReconnectGrips({ transition, course }: { transition: Transition; course: Course }) {
	const editor = useEditor();
	const { screenToFlowPosition } = useReactFlow();
	const [dragged, setDragged] = useState<{ end: End; at: Position } | null>(null);
	const start = (end: End) => (event: ReactPointerEvent) => {
		if (event.button !== 0) return;
		event.stopPropagation();
		event.preventDefault();
		follow(editor, transition.id, end, (moved) =>
			setDragged(moved && { end, at: screenToFlowPosition({ x: moved.clientX, y: moved.clientY }) }),
		);
	};
	const fixed = dragged?.end === "from" ? course.end : course.start;
	return (
		<>
			{dragged && (
				<path className={styles.ghost} d={`M${fixed.x},${fixed.y} L${dragged.at.x},${dragged.at.y}`} />
			)}
			<ViewportPortal>
				{(["from", "target"] as const).map((end) => {
					const at = end === "from" ? course.start : course.end;
					const fixedEnd = end === "target" && transition.action.mode === "return";
					if (fixedEnd) return null;
					return (
						<div
							key={end}
							className={`${styles.grip} nopan nodrag`}
							style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}
							data-end={end}
							title={TITLES[end]}
							onPointerDown={start(end)}
						/>
					);
				})}
			</ViewportPortal>
		</>
	);
}
