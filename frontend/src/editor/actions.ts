/**
 * Everything that can be done by a key, in one table: keys are handled from it, and the help, the menus, the
 * palette and the tooltips are written from it, so that they cannot drift apart.
 */
import { isSmallScreen } from "../ui/screen";
import type { Editor } from "./editor";
import * as operations from "./operations";
import { tidyUp } from "./tidy";

/** What the help says of an action, or of several that are alike. */
export interface HelpRow {
	readonly label: string;
	readonly keys: readonly string[];
}

export interface Action {
	readonly id: string;
	readonly label: string;
	/** Any of these; `Mod` is Cmd on a Mac and Ctrl elsewhere. */
	readonly keys: readonly string[];
	readonly group: "Add and connect" | "Edit" | "Select" | "View" | "Run" | "Help";
	/** Also while typing in a field. */
	readonly whileTyping?: boolean;
	/** The browser's own copy, cut and paste events do it, which need no permission. */
	readonly byClipboardEvent?: boolean;
	/** Not offered in the palette: it makes sense as a key only. */
	readonly keyOnly?: boolean;
	/** Actions that are told in one row of the help. */
	readonly family?: HelpRow;
	readonly when?: (editor: Editor) => boolean;
	readonly run: (editor: Editor) => void;
}

const STEP = 8;
const hasStages = (editor: Editor) => operations.selectionOf(editor).stageIds.length > 0;
const hasTransitions = (editor: Editor) => operations.selectionOf(editor).transitionIds.length > 0;
const hasAny = (editor: Editor) => hasStages(editor) || hasTransitions(editor);
const oneStage = (editor: Editor) => operations.selectionOf(editor).stageIds.length === 1;
const firstStage = (editor: Editor) => operations.selectionOf(editor).stageIds[0];

const MOVES: HelpRow = {
	label: "Move by one step, with Shift by five",
	keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"],
};

function arrow(key: string, x: number, y: number): Action[] {
	const move = (steps: number): Action => ({
		id: `move-${key}-${steps}`,
		label: steps === 1 ? "Move by one step" : "Move by five steps",
		keys: [steps === 1 ? key : `Shift+${key}`],
		group: "Edit",
		keyOnly: true,
		family: MOVES,
		when: hasStages,
		run: (editor) => operations.nudge(editor, { x: x * STEP * steps, y: y * STEP * steps }),
	});
	return [move(1), move(5)];
}

function withFirstStage(run: (editor: Editor, id: string) => void) {
	return (editor: Editor) => {
		const id = firstStage(editor);
		if (id) run(editor, id);
	};
}

async function copyOut(editor: Editor): Promise<boolean> {
	const text = operations.copyText(editor);
	if (text === null) return false;
	await navigator.clipboard.writeText(text);
	return true;
}

const DENIED = "The browser does not allow reading the clipboard.";

async function copyAndDelete(editor: Editor): Promise<void> {
	if (await copyOut(editor)) operations.deleteSelection(editor);
}

async function pasteIn(editor: Editor): Promise<void> {
	const text = await navigator.clipboard.readText().catch(() => null);
	if (text === null) operations.announce(editor, DENIED);
	else operations.pasteText(editor, text);
}

function closeTopMost(editor: Editor): void {
	const { menu, dialog, selection } = editor.ui.getState();
	if (menu || dialog) editor.ui.setState({ menu: null, dialog: null });
	else if (selection.stageIds.length + selection.transitionIds.length > 0) {
		operations.select(editor, { stageIds: [], transitionIds: [] });
	} else editor.host.closePanel();
}

export const ACTIONS: readonly Action[] = [
	{
		id: "add",
		label: "Add stage",
		keys: ["A"],
		group: "Add and connect",
		run: (editor) => void operations.addStage(editor),
	},
	{
		id: "add-next",
		label: "Add next stage, connected",
		keys: ["Shift+A"],
		group: "Add and connect",
		when: oneStage,
		run: withFirstStage((editor, id) => void operations.addStage(editor, { connectFrom: id })),
	},
	{
		id: "connect",
		label: "Connect to a stage…",
		keys: ["C"],
		group: "Add and connect",
		when: oneStage,
		run: withFirstStage((editor, from) => editor.ui.setState({ dialog: { kind: "connect", from } })),
	},
	{ id: "undo", label: "Undo", keys: ["Mod+Z"], group: "Edit", run: operations.undo },
	{ id: "redo", label: "Redo", keys: ["Mod+Shift+Z", "Mod+Y"], group: "Edit", run: operations.redo },
	{
		id: "open",
		label: "Open properties",
		keys: ["Enter"],
		group: "Edit",
		when: hasAny,
		run: (editor) => editor.host.enterProperties(),
	},
	{
		id: "rename",
		label: "Rename",
		keys: ["F2"],
		group: "Edit",
		when: oneStage,
		run: withFirstStage(operations.rename),
	},
	{
		id: "copy",
		label: "Copy",
		byClipboardEvent: true,
		keys: ["Mod+C"],
		group: "Edit",
		when: hasStages,
		run: (editor) => void copyOut(editor),
	},
	{
		id: "cut",
		label: "Cut",
		byClipboardEvent: true,
		keys: ["Mod+X"],
		group: "Edit",
		when: hasStages,
		run: (editor) => void copyAndDelete(editor),
	},
	{ id: "paste", label: "Paste", keys: ["Mod+V"], group: "Edit", run: (editor) => void pasteIn(editor) },
	{
		id: "duplicate",
		label: "Duplicate",
		keys: ["Mod+D"],
		group: "Edit",
		when: hasStages,
		run: operations.duplicateSelection,
	},
	{
		id: "delete",
		label: "Delete",
		keys: ["Delete", "Backspace"],
		group: "Edit",
		when: hasAny,
		run: operations.deleteSelection,
	},
	{
		id: "initial",
		label: "Set as start stage",
		keys: ["S"],
		group: "Edit",
		when: oneStage,
		run: withFirstStage(operations.setInitial),
	},
	{
		id: "disable",
		label: "Disable or enable transition",
		keys: ["D"],
		group: "Edit",
		when: hasTransitions,
		run: operations.toggleDisabled,
	},
	{ id: "tidy", label: "Tidy up", keys: ["Mod+O"], group: "Edit", run: (editor) => void tidyUp(editor) },
	...arrow("ArrowLeft", -1, 0),
	...arrow("ArrowRight", 1, 0),
	...arrow("ArrowUp", 0, -1),
	...arrow("ArrowDown", 0, 1),
	{ id: "select-all", label: "Select all", keys: ["Mod+A"], group: "Select", run: operations.selectAll },
	{
		id: "escape",
		label: "Clear selection, close panel",
		keys: ["Escape"],
		group: "Select",
		keyOnly: true,
		run: closeTopMost,
	},
	{
		id: "find",
		label: "Find stage, transition, command",
		keys: ["Mod+K"],
		group: "View",
		whileTyping: true,
		run: (editor) => editor.ui.setState({ dialog: { kind: "find" } }),
	},
	{ id: "fit", label: "Fit all", keys: ["1", "Shift+1"], group: "View", run: (editor) => editor.view?.fit() },
	{
		id: "fit-selection",
		label: "Fit selection",
		keys: ["2", "Shift+2"],
		group: "View",
		when: hasStages,
		run: (editor) => editor.view?.fit(operations.selectionOf(editor).stageIds),
	},
	{
		id: "full-size",
		label: "Zoom to 100 %",
		keys: ["0", "Shift+0"],
		group: "View",
		run: (editor) => editor.view?.zoomTo(1),
	},
	{
		id: "zoom-in",
		label: "Zoom in",
		keys: ["+", "="],
		group: "View",
		run: (editor) => editor.view?.zoomBy(1.25),
	},
	{
		id: "zoom-out",
		label: "Zoom out",
		keys: ["-"],
		group: "View",
		run: (editor) => editor.view?.zoomBy(0.8),
	},
	{
		id: "report",
		label: "Report on the graph",
		keys: [],
		group: "View",
		run: (editor) => editor.ui.setState({ dialog: { kind: "report" } }),
	},
	{
		id: "outline",
		label: "Graph or outline",
		keys: ["O"],
		group: "View",
		run: (editor) => editor.ui.setState(({ outline }) => ({ outline: !(outline ?? isSmallScreen()) })),
	},
	{
		id: "talk",
		label: "Talk",
		keys: ["Mod+J"],
		group: "Run",
		whileTyping: true,
		run: (editor) => editor.host.openTalk(),
	},
	{
		id: "save",
		label: "Save now",
		keys: ["Mod+S"],
		group: "Run",
		whileTyping: true,
		run: (editor) => editor.host.saveNow(),
	},
	{
		id: "export",
		label: "Export as JSON",
		keys: ["Mod+Shift+E"],
		group: "Run",
		run: (editor) => editor.host.exportFile(),
	},
	{
		id: "export-as",
		label: "Export as…",
		keys: [],
		group: "Run",
		run: (editor) => editor.host.exportAs(),
	},
	{
		id: "versions",
		label: "Versions and differences…",
		keys: [],
		group: "Run",
		run: (editor) => editor.host.showVersions(),
	},
	{
		id: "help",
		label: "Shortcuts",
		keys: ["?"],
		group: "Help",
		run: (editor) => editor.ui.setState({ dialog: { kind: "help" } }),
	},
];

/** The rows of the help for one group of actions that have keys, in the table's order. */
export function helpRows(group: Action["group"]): HelpRow[] {
	const rows = ACTIONS.filter((action) => action.group === group).map((action) => action.family ?? action);
	return [...new Set(rows)].filter(({ keys }) => keys.length > 0);
}

export function actionById(id: string): Action {
	const action = ACTIONS.find((candidate) => candidate.id === id);
	if (!action) throw new Error(`no action ${id}`);
	return action;
}

export function runAction(editor: Editor, id: string): void {
	const action = actionById(id);
	if (action.when?.(editor) ?? true) action.run(editor);
}
