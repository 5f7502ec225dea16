/** With keys from the canvas into the properties, and back. */
import type { KeyboardEvent } from "react";
import type { Editor } from "../editor";
import { takeFocusLater } from "../takeFocus";

/** Marks the form's element, which is drawn only a moment after it was asked for. */
export const PROPERTIES_MARK = "data-properties";

const FIELD = ":is(input, textarea, .cm-content):not([type=hidden])";

export function enterPropertiesPanel(): void {
	takeFocusLater(() => document.querySelector<HTMLElement>(`[${PROPERTIES_MARK}] ${FIELD}`));
}

/** Escape goes back to what the properties are of, unless it closes a list that is open in the field. */
export function leaveWithEscape(editor: Editor, event: KeyboardEvent<HTMLElement>): void {
	if (event.key !== "Escape" || event.defaultPrevented || event.nativeEvent.isComposing) return;
	const { target } = event;
	if (!editor.view || !(target instanceof HTMLElement) || target.ariaExpanded === "true") return;
	event.preventDefault();
	event.stopPropagation();
	editor.view.focus();
}
