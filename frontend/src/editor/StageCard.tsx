import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import type { StageData } from "../playbook/derive";
import { duration } from "../playbook/duration";
import { stageTitle } from "../playbook/labels";
import type { Diagnostic } from "../playbook/problems";
import { useEditor, useLive, useUi } from "./editor";
import styles from "./graph.module.css";
import { type Leaving, NameField } from "./NameField";
import { addStage, nameStage } from "./operations";

type StageFlowNode = Node<StageData, "stage">;

function worst(problems: readonly Diagnostic[] | undefined): "error" | "warning" | undefined {
	const first = problems?.[0]?.severity;
	return first === "advice" ? undefined : first;
}

function Sign({ children, title }: { children: ReactNode; title: string }) {
	return (
		<span className={styles.sign} title={title} role="img" aria-label={title}>
			{children}
		</span>
	);
}

function Signs({ data, active }: { data: StageData; active: boolean }) {
	return (
		<>
			{active && <Sign title="Active stage">●</Sign>}
			{data.initial && <Sign title="Start stage">⚑</Sign>}
			{data.stage.kind === "end" && <Sign title="End stage">■</Sign>}
			{data.stage.kind === "raw" && <Sign title="Raw stage: its prompt is sent as it is">{"‹›"}</Sign>}
			{data.called && <Sign title="Called by another stage">⤵</Sign>}
		</>
	);
}

function ProblemSign({ problems }: { problems: readonly Diagnostic[] | undefined }) {
	const kind = worst(problems);
	if (!kind || !problems) return null;
	const text = problems.map(({ message }) => message).join("\n");
	return (
		<span
			className={styles.problem}
			data-severity={kind}
			title={text}
			role="img"
			aria-label={`Problem: ${text}`}
		>
			▲
		</span>
	);
}

function Tags({ data, visits }: { data: StageData; visits: number }) {
	const { stage, tokens, returns } = data;
	const tools = stage.tools?.length ?? 0;
	return (
		<div className={styles.tags}>
			<span title="Tokens of the prompt, estimated">~{tokens} tok</span>
			{tools > 0 && (
				<span className={styles.tag} title={`Tools: ${stage.tools?.map(({ name }) => name).join(", ")}`}>
					⚒ {tools}
				</span>
			)}
			{stage.maxTurns ? (
				<span className={styles.tag} title="Turns at most">
					≤ {stage.maxTurns} turns
				</span>
			) : null}
			{stage.timeoutMs ? (
				<span className={styles.tag} title="Time limit">
					≤ {duration(stage.timeoutMs)}
				</span>
			) : null}
			{returns && (
				<span className={styles.tag} title="Returns to the stage that called it">
					returns
				</span>
			)}
			{stage.speakOnEnter && (
				<span className={styles.tag} title="Speaks when it is entered">
					speaks first
				</span>
			)}
			{visits > 0 && (
				<span className={styles.tag} title={`Entered ${visits} times in this chat`}>
					×{visits}
				</span>
			)}
		</div>
	);
}

/** Handles: the whole card takes a connection; the "+" on two sides gives one, or adds the next stage on click. */
function Handles({ id }: { id: string }) {
	const editor = useEditor();
	const add = () => void addStage(editor, { connectFrom: id });
	return (
		<>
			<Handle type="target" position={Position.Left} className={styles.target} isConnectableStart={false} />
			{[Position.Right, Position.Bottom].map((position) => (
				<Handle
					key={position}
					id={position}
					type="source"
					position={position}
					className={styles.source}
					isConnectableEnd={false}
					aria-hidden="true"
					title="Drag to a stage to connect, click to add the next stage"
					onClick={add}
				/>
			))}
		</>
	);
}

export const StageCard = memo(function StageCard({ id, data, selected }: NodeProps<StageFlowNode>) {
	const editor = useEditor();
	const { stage } = data;
	const problems = useUi((ui) => ui.problems.byStage.get(id));
	const renaming = useUi((ui) => ui.renaming === id);
	const flashing = useUi((ui) => ui.flash === id);
	const active = useLive((live) => live.activeStageId === id);
	const visits = useLive((live) => live.visitedStages[id] ?? 0);
	const done = (name: string | null, leaving: Leaving) => {
		nameStage(editor, id, name);
		if (leaving === "key") editor.view?.focus();
	};
	return (
		<div
			className={styles.card}
			data-stage={id}
			data-kind={stage.kind ?? "chat"}
			data-called={data.called || undefined}
			data-selected={selected || undefined}
			data-active={active || undefined}
			data-visited={visits > 0 || undefined}
			data-flash={flashing || undefined}
			data-problem={worst(problems)}
		>
			<Handles id={id} />
			<div className={styles.head}>
				<Signs data={data} active={active} />
				{renaming ? (
					<NameField label="Stage name" value={stage.name} onDone={done} />
				) : (
					<span className={styles.name} title={stageTitle(stage)}>
						{stageTitle(stage)}
					</span>
				)}
				<ProblemSign problems={problems} />
			</div>
			<p className={styles.prompt} data-empty={stage.systemPrompt.trim() === "" || undefined}>
				{stage.systemPrompt.trim().slice(0, 160) || "No prompt yet"}
			</p>
			<Tags data={data} visits={visits} />
		</div>
	);
});
