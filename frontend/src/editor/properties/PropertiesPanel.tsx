import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { Selection } from "../../playbook/commands";
import type { Diagnostic } from "../../playbook/problems";
import { runAction } from "../actions";
import { useDocument, useEditor, useUi } from "../editor";
import { FixButton } from "../FixButton";
import { countWords } from "../operations";
import { leaveWithEscape, PROPERTIES_MARK } from "./enterPanel";
import { PlaybookProperties } from "./PlaybookProperties";
import styles from "./properties.module.css";
import { StageProperties } from "./StageProperties";
import { TransitionProperties } from "./TransitionProperties";

const NO_DIAGNOSTICS: readonly Diagnostic[] = [];

/** Fields at the top of the forms, which show their problems themselves. */
const SHOWN_AT_FIELD = /^\/(stages\/\d+\/(name|systemPrompt)|transitions\/\d+\/condition\/.+)$/;

function ProblemNotes({ problems }: { problems: readonly Diagnostic[] }) {
	const shown = problems.filter(({ path }) => !SHOWN_AT_FIELD.test(path));
	if (shown.length === 0) return null;
	return (
		<ul className={styles.notes} aria-label="Problems here">
			{shown.map(({ code, path, message, severity, fix }) => (
				<li key={`${code} ${path} ${message}`} data-severity={severity}>
					{severity === "advice" ? "·" : "▲"} {message} <FixButton fix={fix} />
				</li>
			))}
		</ul>
	);
}

function Several({ selection }: { selection: Selection }) {
	const editor = useEditor();
	return (
		<div className={styles.fields}>
			<p className={styles.quiet}>{countWords(selection)} selected.</p>
			{selection.stageIds.length > 0 && (
				<>
					<Button variant="default" size="xs" onClick={() => runAction(editor, "duplicate")}>
						Duplicate
					</Button>
					<Button variant="default" size="xs" onClick={() => runAction(editor, "fit-selection")}>
						Show them
					</Button>
				</>
			)}
			<Button variant="default" size="xs" onClick={() => runAction(editor, "delete")}>
				Delete
			</Button>
		</div>
	);
}

function Panel({ children }: { children: ReactNode }) {
	const editor = useEditor();
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: Escape out of any of its fields
		<div
			className={styles.panel}
			{...{ [PROPERTIES_MARK]: "" }}
			onKeyDown={(event) => leaveWithEscape(editor, event)}
		>
			{children}
		</div>
	);
}

/** The properties of what is selected; of the playbook where nothing is. */
export function PropertiesPanel() {
	const playbook = useDocument();
	const selection = useUi((ui) => ui.selection);
	const { stageIds, transitionIds } = selection;
	const stage = playbook.stages.find(({ id }) => id === stageIds[0]);
	const transition = playbook.transitions?.find(({ id }) => id === transitionIds[0]);
	const stageProblems = useUi((ui) => (stage && ui.problems.byStage.get(stage.id)) ?? NO_DIAGNOSTICS);
	const ruleProblems = useUi(
		(ui) => (transition && ui.problems.byTransition.get(transition.id)) ?? NO_DIAGNOSTICS,
	);
	// Forms read the problems when they are drawn: they are drawn again when there are new ones.
	useUi((ui) => ui.problems);

	if (stageIds.length + transitionIds.length > 1) {
		return <Several selection={selection} />;
	}
	if (stage) {
		return (
			<Panel key={`stage ${playbook.stages.indexOf(stage)}`}>
				<ProblemNotes problems={stageProblems} />
				<StageProperties playbook={playbook} stage={stage} />
			</Panel>
		);
	}
	if (transition) {
		return (
			<Panel key={transition.id}>
				<ProblemNotes problems={ruleProblems} />
				<TransitionProperties playbook={playbook} transition={transition} />
			</Panel>
		);
	}
	return (
		<Panel key="playbook">
			<PlaybookProperties playbook={playbook} />
		</Panel>
	);
}
