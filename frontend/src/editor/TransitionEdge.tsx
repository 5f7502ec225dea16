import { type EdgeProps, useStore as useFlow, ViewportPortal } from "@xyflow/react";
import { type CSSProperties, memo } from "react";
import { transitionTitle } from "../playbook/labels";
import type { Course } from "../playbook/routes";
import type { Transition } from "../playbook/types";
import { useEditor, useLive, useUi } from "./editor";
import styles from "./graph.module.css";
import { documentOf, selectTransition } from "./operations";
import { ReconnectGrips } from "./ReconnectGrips";
import type { CanvasEdge } from "./useGraph";

const FAR = 0.4;

interface EdgeLabelProps {
	transition: Transition;
	sentence: string;
	course: Course;
	selected: boolean;
	taken: boolean;
}

const SHORT = 24;

/** What is missing, where it is short enough for an edge; the whole reason is in the label's title. */
function visibleSentence(sentence: string, missing: string | undefined, visits: number): string {
	if (missing !== undefined)
		return `${sentence} — ${missing && missing.length <= SHORT ? missing : "not yet"}`;
	return visits > 1 ? `${sentence} ×${visits}` : sentence;
}

/** At its place, and no wider than there is room; a pointer or the selection shows it whole. */
function placed({ x, y, cutTo }: Course["label"]): CSSProperties {
	const transform = `translate(-50%, -50%) translate(${x}px, ${y}px)`;
	return { transform, ...(cutTo === null ? {} : { "--label-room": `${cutTo}px` }) };
}

function EdgeLabel({ transition, sentence, course, selected, taken }: EdgeLabelProps) {
	const editor = useEditor();
	const { id } = transition;
	const problem = useUi((ui) => ui.problems.byTransition.get(id)?.[0]);
	const flashing = useUi((ui) => ui.flash === id);
	const missing = useLive(({ activeStageId, nearlyFired }) =>
		activeStageId === transition.from
			? nearlyFired.find(({ transitionId }) => transitionId === id)?.missing
			: undefined,
	);
	const visits = useLive((live) => live.visitedTransitions[id] ?? 0);
	const text = visibleSentence(sentence, missing, visits);
	return (
		<button
			type="button"
			tabIndex={-1}
			className={`${styles.label} nodrag nopan`}
			style={placed(course.label)}
			data-transition={id}
			data-selected={selected || undefined}
			data-taken={taken || undefined}
			data-nearly={missing !== undefined || undefined}
			data-off={transition.disabled || undefined}
			data-flash={flashing || undefined}
			data-problem={problem && problem.severity !== "advice" ? problem.severity : undefined}
			title={[
				transitionTitle(documentOf(editor), transition),
				transition.description,
				missing,
				problem?.message,
			]
				.filter(Boolean)
				.join("\n")}
			onClick={() => selectTransition(editor, id)}
			onDoubleClick={() => editor.host.openProperties()}
			onContextMenu={(event) => {
				event.preventDefault();
				selectTransition(editor, id);
				editor.ui.setState({
					menu: { kind: "transition", id, screen: { x: event.clientX, y: event.clientY } },
				});
			}}
		>
			{text}
			{problem && problem.severity !== "advice" && <span className={styles.labelSign}> ▲</span>}
		</button>
	);
}

export const TransitionEdge = memo(function TransitionEdge({ id, data, selected }: EdgeProps<CanvasEdge>) {
	const transitionId = data?.transition.id ?? id;
	const taken = useLive((live) => live.lastTransitionId === transitionId);
	const visited = useLive((live) => (live.visitedTransitions[transitionId] ?? 0) > 0);
	const far = useFlow((flow) => flow.transform[2] < FAR);
	if (!data?.course) return null;
	const { course, transition, mode, sentence, lead } = data;
	const isSelected = selected ?? false;
	return (
		<>
			<path d={course.path} className={styles.hit} />
			<path
				d={course.path}
				className={styles.edge}
				data-mode={mode}
				data-selected={isSelected || undefined}
				data-taken={taken || undefined}
				data-visited={visited || undefined}
				data-off={transition.disabled || undefined}
				markerEnd={`url(#ps-arrow${arrowFor(isSelected, taken)})`}
			/>
			{isSelected && lead && <ReconnectGrips transition={transition} course={course} />}
			{lead && !(far && !isSelected && !taken) && (
				<ViewportPortal>
					<EdgeLabel
						transition={transition}
						sentence={sentence}
						course={course}
						selected={isSelected}
						taken={taken}
					/>
				</ViewportPortal>
			)}
		</>
	);
});

const ARROWS = { "": styles.arrow, "-selected": styles.arrowSelected, "-accent": styles.arrowAccent };

function arrowFor(selected: boolean, taken: boolean): keyof typeof ARROWS {
	if (taken) return "-accent";
	return selected ? "-selected" : "";
}

/** The arrow heads, once for the whole canvas. */
export function ArrowHeads() {
	return (
		<svg className={styles.defs} aria-hidden="true" focusable="false">
			<defs>
				{Object.entries(ARROWS).map(([suffix, className]) => (
					<marker
						key={suffix}
						id={`ps-arrow${suffix}`}
						viewBox="0 0 8 8"
						refX="7"
						refY="4"
						markerWidth="9"
						markerHeight="9"
						markerUnits="userSpaceOnUse"
						orient="auto-start-reverse"
					>
						<path d="M0.500 0.800 7.200 4 0.500 7.200z" className={className} />
					</marker>
				))}
			</defs>
		</svg>
	);
}
