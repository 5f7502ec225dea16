import { endTitle, stageTitle, transitionSentence } from "../playbook/labels";
import type { Playbook, Stage, Transition } from "../playbook/types";
import { useDocument, useEditor, useLive, useUi } from "./editor";
import { addStage, selectStage, selectTransition } from "./operations";
import styles from "./outline.module.css";

function signs(playbook: Playbook, stage: Stage): string {
	const words = [];
	if (playbook.initialStage === stage.id) words.push("⚑ start");
	if (stage.kind === "end") words.push("■ end");
	if (stage.kind === "raw") words.push("‹› raw");
	return words.join(" · ");
}

interface RulesProps {
	rules: readonly Transition[];
	playbook: Playbook;
}

function Rules({ rules, playbook }: RulesProps) {
	const editor = useEditor();
	const selected = useUi((ui) => ui.selection.transitionIds);
	const open = (id: string) => {
		selectTransition(editor, id);
		editor.host.openProperties();
	};
	return rules.map((rule) => (
		<li key={rule.id}>
			<button
				type="button"
				className={styles.row}
				aria-pressed={selected.includes(rule.id)}
				onClick={() => open(rule.id)}
			>
				<span>→ {endTitle(playbook, rule.action.mode === "return" ? null : rule.action.targetStage)}</span>
				<span className={styles.quiet}>{transitionSentence(rule)}</span>
			</button>
		</li>
	));
}

function OutlineStage({ stage, playbook }: { stage: Stage; playbook: Playbook }) {
	const editor = useEditor();
	const selection = useUi((ui) => ui.selection);
	const problem = useUi((ui) => ui.problems.byStage.get(stage.id)?.[0]);
	const active = useLive((live) => live.activeStageId === stage.id);
	const rules = (playbook.transitions ?? []).filter(({ from }) => from === stage.id);
	const open = () => {
		selectStage(editor, stage.id);
		editor.host.openProperties();
	};
	return (
		<li className={styles.stage} data-active={active || undefined}>
			<button
				type="button"
				className={styles.row}
				aria-pressed={selection.stageIds.includes(stage.id)}
				onClick={open}
			>
				<strong>
					{active && "● "}
					{stageTitle(stage)}
				</strong>
				<span className={styles.quiet}>{signs(playbook, stage)}</span>
				{problem && <span className={styles.problem}>▲ {problem.message}</span>}
				<span className={styles.prompt}>{stage.systemPrompt.trim() || "No prompt yet"}</span>
			</button>
			<ul className={styles.rules}>
				<Rules rules={rules} playbook={playbook} />
				<li>
					<button
						type="button"
						className={styles.add}
						onClick={() => editor.ui.setState({ dialog: { kind: "connect", from: stage.id } })}
					>
						+ Transition
					</button>
				</li>
			</ul>
		</li>
	);
}

/** The same graph as a list: everything that can be done on the canvas can be done from here. */
export function Outline() {
	const editor = useEditor();
	const playbook = useDocument();
	const anywhere = (playbook.transitions ?? []).filter(({ from }) => from === "*");
	return (
		<section className={styles.outline} aria-label="Outline of the graph">
			<ol className={styles.list}>
				{playbook.stages.map((stage) => (
					<OutlineStage key={stage.id} stage={stage} playbook={playbook} />
				))}
				{anywhere.length > 0 && (
					<li className={styles.stage}>
						<strong className={styles.anywhere}>✱ From any stage</strong>
						<ul className={styles.rules}>
							<Rules rules={anywhere} playbook={playbook} />
						</ul>
					</li>
				)}
			</ol>
			<div className={styles.more}>
				<button type="button" className={styles.add} onClick={() => addStage(editor)}>
					+ Stage
				</button>
				<button type="button" className={styles.add} onClick={() => editor.ui.setState({ outline: false })}>
					Show the graph
				</button>
			</div>
		</section>
	);
}
