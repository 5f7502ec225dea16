/** What of the graph has the keyboard's focus. */
import type { Selection } from "../playbook/commands";
import type { Editor } from "./editor";
import { documentOf, selectionOf, selectStage, selectTransition } from "./operations";

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

export function nothingSelected(editor: Editor): boolean {
	const { stageIds, transitionIds } = selectionOf(editor);
	return stageIds.length + transitionIds.length === 0;
}
