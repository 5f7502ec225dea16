import { Modal, Text } from "@mantine/core";
import { lazy, Suspense } from "react";
import { stageTitle, transitionTitle } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import { Picker, type PickerItem } from "../ui/Picker";
import { ACTIONS, type HelpRow, helpRows } from "./actions";
import { type Editor, useDocument, useEditor, useUi } from "./editor";
import styles from "./help.module.css";
import { keyName } from "./keys";
import { connectStages, jumpTo } from "./operations";

const ReportDialog = lazy(() =>
	import("./ReportDialog").then(({ ReportDialog }) => ({ default: ReportDialog })),
);

function firstWords(text: string): string {
	return text.trim().slice(0, 80);
}

function stageItems(playbook: Playbook, run: (id: string) => void): PickerItem[] {
	return playbook.stages.map((stage) => ({
		id: `stage ${stage.id}`,
		label: stageTitle(stage),
		hint: firstWords(stage.systemPrompt),
		group: "Stages",
		run: () => run(stage.id),
	}));
}

function toolItems(editor: Editor, playbook: Playbook): PickerItem[] {
	const own = playbook.stages.flatMap((stage) =>
		(stage.tools ?? []).map((tool) => ({ tool, stageId: stage.id, where: stageTitle(stage) })),
	);
	const global = (playbook.globalTools ?? []).map((tool) => ({
		tool,
		stageId: undefined,
		where: "every stage",
	}));
	return [...global, ...own].map(({ tool, stageId, where }, index) => ({
		id: `tool ${index}`,
		label: tool.name,
		hint: `tool of ${where}`,
		group: "Tools",
		run: () => jumpTo(editor, stageId ? { stageId } : {}),
	}));
}

function commandItems(editor: Editor): PickerItem[] {
	return ACTIONS.filter(({ keyOnly, id, when }) => !keyOnly && id !== "find" && (when?.(editor) ?? true)).map(
		(action) => ({
			id: `action ${action.id}`,
			label: action.label,
			hint: action.keys[0] ? keyName(action.keys[0]) : "",
			group: "Commands",
			run: () => action.run(editor),
		}),
	);
}

function findItems(editor: Editor, playbook: Playbook): PickerItem[] {
	const problems = editor.ui.getState().problems.all.map((problem, index) => ({
		id: `problem ${index}`,
		label: problem.message,
		hint: problem.severity,
		group: "Problems",
		run: () => jumpTo(editor, placeIn(problem)),
	}));
	const transitions = (playbook.transitions ?? []).map((transition) => ({
		id: `transition ${transition.id}`,
		label: transitionTitle(playbook, transition),
		hint: "",
		group: "Transitions",
		run: () => jumpTo(editor, { transitionId: transition.id }),
	}));
	const stages = stageItems(playbook, (stageId) => jumpTo(editor, { stageId }));
	return [...stages, ...transitions, ...toolItems(editor, playbook), ...problems, ...commandItems(editor)];
}

function placeIn({ stage, transition }: { stage?: string | null; transition?: string | null }) {
	if (transition) return { transitionId: transition };
	return stage ? { stageId: stage } : {};
}

function HelpTable() {
	const groups = [...new Set(ACTIONS.map(({ group }) => group))];
	const row = ({ label, keys }: HelpRow) => (
		<tr key={label}>
			<td>{label}</td>
			<td className={styles.keys}>
				{keys.map((key) => (
					<kbd key={key}>{keyName(key)}</kbd>
				))}
			</td>
		</tr>
	);
	return (
		<table className={styles.help}>
			{groups.map((group) => (
				<tbody key={group}>
					<tr>
						<th colSpan={2} scope="rowgroup">
							{group}
						</th>
					</tr>
					{helpRows(group).map(row)}
				</tbody>
			))}
		</table>
	);
}

/** A dialog takes its focus along: what is selected has it then, unless what was chosen took it. */
function focusIfLost(editor: Editor): void {
	requestAnimationFrame(() => {
		if (document.activeElement === document.body) editor.view?.focus();
	});
}

export function Dialogs() {
	const editor = useEditor();
	const playbook = useDocument();
	const dialog = useUi((ui) => ui.dialog);
	const close = () => {
		editor.ui.setState({ dialog: null });
		focusIfLost(editor);
	};
	if (!dialog) return null;
	if (dialog.kind === "find") {
		return (
			<Picker
				title="Find"
				placeholder="Stage, transition, tool, problem or command"
				items={findItems(editor, playbook)}
				onClose={close}
			/>
		);
	}
	if (dialog.kind === "report") {
		return (
			<Suspense fallback={null}>
				<ReportDialog onClose={close} />
			</Suspense>
		);
	}
	if (dialog.kind === "connect") {
		const from = playbook.stages.find(({ id }) => id === dialog.from);
		const items = stageItems(playbook, (target) => {
			connectStages(editor, dialog.from, target);
			editor.host.openProperties();
		});
		return (
			<Picker
				title={`Connect ${from ? stageTitle(from) : dialog.from} to`}
				placeholder="Name of a stage"
				items={items}
				onClose={close}
			/>
		);
	}
	return (
		<Modal opened onClose={close} title="Shortcuts" size="md">
			<Text size="sm" c="dimmed" mb="xs">
				Drag from a stage's + to connect. Space and drag, or the middle button, moves the view; the wheel
				scrolls it, with {keyName("Mod")} it zooms. While the inspector is open, [ and ] go from call to call.
			</Text>
			<HelpTable />
		</Modal>
	);
}
