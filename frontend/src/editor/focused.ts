/** What of the graph has the keyboard's focus. */
import { isNothing, NOTHING_SELECTED, type Selection } from "../playbook/commands";
import type { Editor } from "./editor";
import { documentOf, select, selectionOf, selectStage, selectTransition } from "./operations";

function focusedPart(editor: Editor, target: EventTarget | null): Selection | null {
	if (!(target instanceof Element)) return null;
	const id = target.getAttribute("data-id");
	const { stages, transitions = [] } = documentOf(editor);
	if (id === null) return null;
	if (target.matches(".react-flow__node") && stages.some((stage) => stage.id === id)) {
		return { stageIds: [id], transitionIds: [] };
	}
	const rule = transitions.find((transition) => id === transition.id || id.startsWith(`${transition.id}@`));
	if (target.matches(".react-flow__edge") && rule) return { stageIds: [], transitionIds: [rule.id] };
	return null;
}

/** Selects the stage or transition that has the focus; false if none has. */
export function selectFocused(editor: Editor, target: EventTarget | null): boolean {
	const part = focusedPart(editor, target);
	const [stage] = part?.stageIds ?? [];
	const [transition] = part?.transitionIds ?? [];
	if (stage) selectStage(editor, stage);
	else if (transition) selectTransition(editor, transition);
	return part !== null;
}

/**
 * The focus was moved by keys to that place of the canvas: what has it is what keys act on from now on. One of
 * several that are selected leaves them selected; what can't be selected leaves nothing selected.
 */
export function followFocus(editor: Editor, target: EventTarget | null): void {
	if (!(target instanceof Element) || !target.matches(".react-flow__node, .react-flow__edge")) return;
	const part = focusedPart(editor, target);
	if (part && isWithin(part, selectionOf(editor))) return;
	select(editor, part ?? NOTHING_SELECTED);
}

function isWithin(part: Selection, { stageIds, transitionIds }: Selection): boolean {
	return (
		part.stageIds.every((id) => stageIds.includes(id)) &&
		part.transitionIds.every((id) => transitionIds.includes(id))
	);
}

export function nothingSelected(editor: Editor): boolean {
	return isNothing(selectionOf(editor));
}
