/** What the editor's buttons, keys and menus do: a command, then the selection, the view and the announcement. */

import type { Selection } from "../playbook/commands";
import * as commands from "../playbook/commands";
import type { Command } from "../playbook/history";
import { freshStageId, freshStageName, freshTransitionId } from "../playbook/ids";
import { endTitle, transitionTitle } from "../playbook/labels";
import { freePosition, GAP, layoutOf, STAGE_HEIGHT, STAGE_WIDTH } from "../playbook/layout";
import type { Playbook, Position, Stage } from "../playbook/types";
import { plural } from "../ui/format";
import type { Editor } from "./editor";

/** Typing that pauses for so long is one step of the history. */
const TYPING_PAUSE_MS = 1000;

export const documentOf = (editor: Editor): Playbook => editor.history.store.getState().document;
export const selectionOf = (editor: Editor): Selection => editor.ui.getState().selection;

export function announce(editor: Editor, announcement: string): void {
	editor.ui.setState({ announcement });
}

export function select(editor: Editor, selection: Selection): void {
	editor.ui.setState({ selection, fresh: null });
}

export function selectStage(editor: Editor, id: string): void {
	select(editor, { stageIds: [id], transitionIds: [] });
}

export function selectTransition(editor: Editor, id: string): void {
	select(editor, { stageIds: [], transitionIds: [id] });
}

/** Edits that follow one another in one field are one step. */
export function typing(editor: Editor, change: string, command: Command, group: string): void {
	editor.history.edit(change, command, { group });
	clearTimeout(editor.settleTimer);
	editor.settleTimer = setTimeout(editor.history.settle, TYPING_PAUSE_MS);
}

export interface StageWish {
	readonly position?: Position;
	readonly kind?: Stage["kind"];
	readonly connectFrom?: string | null;
}

function placeFor(editor: Editor, { position, connectFrom }: StageWish): Position {
	const playbook = documentOf(editor);
	const from = connectFrom ? layoutOf(playbook)[connectFrom] : undefined;
	if (position) return freePosition(playbook, position);
	if (from) return freePosition(playbook, { x: from.x + STAGE_WIDTH + GAP, y: from.y });
	const middle = editor.view?.pointer() ?? { x: 0, y: 0 };
	return freePosition(playbook, { x: middle.x - STAGE_WIDTH / 2, y: middle.y - STAGE_HEIGHT / 2 });
}

const NEW_NAMES = { chat: "New stage", end: "End", raw: "Raw prompt" } as const;

/** Adds a stage, connected if wished, selects it and lets its name be typed. One step of the history. */
export function addStage(editor: Editor, wish: StageWish = {}): string {
	const before = documentOf(editor);
	const name = freshStageName(before, NEW_NAMES[wish.kind ?? "chat"]);
	const id = freshStageId(before, name);
	const position = placeFor(editor, wish);
	const from = wish.connectFrom;
	editor.history.edit(from ? "Add and connect stage" : "Add stage", (playbook) => {
		const added = commands.addStage(playbook, { name, position, kind: wish.kind ?? "chat" });
		return from ? commands.connect(added, from, id) : added;
	});
	selectStage(editor, id);
	rename(editor, id);
	editor.ui.setState({ newborn: id });
	const after = from ? ` and connected from ${endTitle(before, from)}` : "";
	announce(editor, `Stage ${name} added${after}.`);
	return id;
}

/** Lets the name be typed on the card; where there is no canvas, in the properties. */
export function rename(editor: Editor, id: string): void {
	if (editor.view) editor.ui.setState({ renaming: id });
	else editor.host.openProperties();
}

/** Takes a stage's new name, null if it was left as it was. The first name of a new stage gives it its id too. */
export function nameStage(editor: Editor, id: string, name: string | null): void {
	const newborn = editor.ui.getState().newborn === id;
	editor.ui.setState({ renaming: null, newborn: null });
	if (name === null) return;
	const fresh = newborn ? freshStageId(documentOf(editor), name) : id;
	editor.history.edit("Rename stage", (playbook) =>
		commands.changeStageId(commands.renameStage(playbook, id, name), id, fresh),
	);
	selectStage(editor, fresh);
	announce(editor, `Renamed to ${name}.`);
}

export function connectStages(editor: Editor, from: string, target: string): void {
	const before = documentOf(editor);
	const id = freshTransitionId(before, from, target);
	editor.history.edit("Connect stages", (playbook) => commands.connect(playbook, from, target));
	selectTransition(editor, id);
	editor.ui.setState({ fresh: id });
	announce(editor, `${endTitle(before, from)} connected to ${endTitle(before, target)}.`);
}

export function reconnectEnd(editor: Editor, id: string, ends: { from?: string; target?: string }): void {
	editor.history.edit("Reconnect transition", (playbook) => commands.reconnect(playbook, id, ends));
	const transition = documentOf(editor).transitions?.find((candidate) => candidate.id === id);
	if (transition) announce(editor, `Transition moved: ${transitionTitle(documentOf(editor), transition)}.`);
}

/** "2 stages and 1 transition" */
export function countWords({ stageIds, transitionIds }: Selection): string {
	const parts = [];
	if (stageIds.length > 0) parts.push(plural(stageIds.length, "stage"));
	if (transitionIds.length > 0) parts.push(plural(transitionIds.length, "transition"));
	return parts.join(" and ");
}

export function deleteSelection(editor: Editor): void {
	const selection = selectionOf(editor);
	if (selection.stageIds.length + selection.transitionIds.length === 0) return;
	if (commands.takesEveryStage(documentOf(editor), selection)) {
		announce(editor, "A playbook keeps at least one stage.");
		return;
	}
	const words = countWords(selection);
	editor.history.edit(`Delete ${words}`, (playbook) => commands.removeSelection(playbook, selection));
	select(editor, commands.NOTHING_SELECTED);
	announce(editor, `${words} deleted.`);
	editor.view?.focus();
}

export function selectAll(editor: Editor): void {
	const playbook = documentOf(editor);
	select(editor, {
		stageIds: playbook.stages.map(({ id }) => id),
		transitionIds: (playbook.transitions ?? []).map(({ id }) => id),
	});
	announce(editor, `${playbook.stages.length} stages selected.`);
}

/** The text for the clipboard, or null if no stage is selected. */
export function copyText(editor: Editor): string | null {
	const selection = selectionOf(editor);
	if (selection.stageIds.length === 0) return null;
	announce(editor, `${countWords({ ...selection, transitionIds: [] })} copied.`);
	return commands.clipText(commands.clipOf(documentOf(editor), selection));
}

export function pasteText(editor: Editor, text: string): boolean {
	const clip = commands.parseClip(text);
	if (!clip || clip.stages.length === 0) {
		announce(editor, "The clipboard holds no stages.");
		return false;
	}
	const at = freePosition(documentOf(editor), editor.view?.pointer() ?? { x: 0, y: 0 });
	applyPaste(editor, "Paste", (playbook) => commands.paste(playbook, clip, at));
	return true;
}

function applyPaste(editor: Editor, change: string, make: (playbook: Playbook) => commands.Pasted): void {
	const pasted = make(documentOf(editor));
	editor.history.edit(change, () => pasted.playbook);
	select(editor, pasted.selection);
	announce(editor, `${countWords(pasted.selection)} added.`);
}

export function duplicateSelection(editor: Editor): void {
	const selection = selectionOf(editor);
	if (selection.stageIds.length === 0) return;
	applyPaste(editor, "Duplicate", (playbook) => commands.duplicate(playbook, selection));
}

export function nudge(editor: Editor, by: Position): void {
	const { stageIds } = selectionOf(editor);
	if (stageIds.length === 0) return;
	typing(editor, "Move stages", (playbook) => commands.nudgeStages(playbook, stageIds, by), "nudge");
	editor.view?.reveal(stageIds);
}

export function undo(editor: Editor): void {
	const change = editor.history.undo();
	announce(editor, change === null ? "Nothing to undo." : `Undone: ${change}.`);
	dropStaleSelection(editor);
}

export function redo(editor: Editor): void {
	const change = editor.history.redo();
	announce(editor, change === null ? "Nothing to redo." : `Redone: ${change}.`);
	dropStaleSelection(editor);
}

/** What is no longer in the document cannot stay selected. */
export function dropStaleSelection(editor: Editor): void {
	const playbook = documentOf(editor);
	const stages = new Set(playbook.stages.map(({ id }) => id));
	const transitions = new Set((playbook.transitions ?? []).map(({ id }) => id));
	const { stageIds, transitionIds } = selectionOf(editor);
	select(editor, {
		stageIds: stageIds.filter((id) => stages.has(id)),
		transitionIds: transitionIds.filter((id) => transitions.has(id)),
	});
}

export function setInitial(editor: Editor, id: string): void {
	editor.history.edit("Set start stage", (playbook) => commands.setInitialStage(playbook, id));
	announce(editor, `${endTitle(documentOf(editor), id)} is the start stage.`);
}

export function toggleDisabled(editor: Editor): void {
	for (const id of selectionOf(editor).transitionIds) {
		const transition = documentOf(editor).transitions?.find((candidate) => candidate.id === id);
		if (!transition) continue;
		const off = !transition.disabled;
		editor.history.edit(off ? "Disable transition" : "Enable transition", (playbook) =>
			commands.setDisabled(playbook, id, off),
		);
		announce(editor, off ? "Transition disabled." : "Transition enabled.");
	}
}

/** Selects, shows and flashes a stage or a transition. */
export function jumpTo(editor: Editor, place: { stageId?: string; transitionId?: string }): void {
	const playbook = documentOf(editor);
	const transition = playbook.transitions?.find(({ id }) => id === place.transitionId);
	const stage = place.stageId;
	if (transition) selectTransition(editor, transition.id);
	else if (stage) selectStage(editor, stage);
	else select(editor, commands.NOTHING_SELECTED);
	editor.host.openProperties();
	const ends = transition ? [transition.from, transition.action.targetStage ?? ""] : [stage ?? ""];
	editor.view?.reveal(ends.filter((id) => playbook.stages.some((candidate) => candidate.id === id)));
	flash(editor, place.transitionId ?? stage ?? null);
}

const FLASH_MS = 1200;

function flash(editor: Editor, id: string | null): void {
	editor.ui.setState({ flash: id });
	setTimeout(() => {
		if (editor.ui.getState().flash === id) editor.ui.setState({ flash: null });
	}, FLASH_MS);
}
