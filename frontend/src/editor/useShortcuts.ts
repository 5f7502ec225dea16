/** Listens for the keys of the action table while the editor is on the screen. */
import { useEffect } from "react";
import { isTypingPlace } from "../ui/typing";
import type { Editor } from "./editor";
import { nothingSelected, selectFocused } from "./focused";
import { actionFor } from "./keys";
import { copyText, deleteSelection, pasteText } from "./operations";

/** Keys that a focused control answers itself. */
const CONTROL_KEYS = new Set(["Enter", " ", "Tab", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

function belongsToControl(event: KeyboardEvent): boolean {
	if (!(event.target instanceof HTMLElement) || !CONTROL_KEYS.has(event.key)) return false;
	return (
		event.target.closest(
			"button, a, summary, [role=tab], [role=menuitem], [role=separator], [role=option]",
		) !== null
	);
}

/** Keys typed in the chat, the inspector and dialogs are theirs, but for the few that work anywhere. */
function isElsewhere(target: EventTarget | null): boolean {
	return target instanceof Element && target.closest("[data-panel], [role=dialog]") !== null;
}

/** Fields that something was typed into since they got the focus: their own undo has something to undo. */
const touched = new WeakSet<EventTarget>();

function trackTyping(event: Event): void {
	if (!event.target) return;
	if (event.type === "input") touched.add(event.target);
	else touched.delete(event.target);
}

function isUntouchedUndo(event: KeyboardEvent): boolean {
	const { target } = event;
	const inForm = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
	const id = actionFor(event, false)?.id;
	return inForm && !touched.has(target) && (id === "undo" || id === "redo");
}

function handle(editor: Editor, event: KeyboardEvent): void {
	if (event.defaultPrevented || belongsToControl(event)) return;
	const { dialog, renaming } = editor.ui.getState();
	// A name field that is open but has not got the focus yet: its keys are not commands.
	const busy = dialog !== null || renaming !== null;
	const inField = isTypingPlace(event.target) && !isUntouchedUndo(event);
	const typing = inField || isElsewhere(event.target) || busy;
	const action = actionFor(event, typing);
	if (!action) return;
	// Keys act on the card that has the focus, where nothing is selected; Escape is what lets go.
	if (action.id !== "escape" && nothingSelected(editor)) selectFocused(editor, event.target);
	if (action.byClipboardEvent || !(action.when?.(editor) ?? true)) return;
	event.preventDefault();
	action.run(editor);
}

/** The browser's clipboard events outside of fields; text that was selected by hand is copied as usual. */
function handleClipboard(editor: Editor, event: ClipboardEvent): void {
	const selecting = !(document.getSelection()?.isCollapsed ?? true);
	if (isTypingPlace(event.target) || isElsewhere(event.target) || !event.clipboardData) return;
	if (event.type === "paste") {
		if (pasteText(editor, event.clipboardData.getData("text/plain"))) event.preventDefault();
		return;
	}
	const text = selecting ? null : copyText(editor);
	if (text === null) return;
	event.clipboardData.setData("text/plain", text);
	event.preventDefault();
	if (event.type === "cut") deleteSelection(editor);
}

export function useShortcuts(editor: Editor): void {
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => handle(editor, event);
		const onClipboard = (event: ClipboardEvent) => handleClipboard(editor, event);
		const clipboard = ["copy", "cut", "paste"] as const;
		const typingEvents = ["focusin", "input"] as const;
		window.addEventListener("keydown", onKey);
		for (const name of typingEvents) document.addEventListener(name, trackTyping);
		for (const name of clipboard) document.addEventListener(name, onClipboard);
		return () => {
			window.removeEventListener("keydown", onKey);
			for (const name of typingEvents) document.removeEventListener(name, trackTyping);
			for (const name of clipboard) document.removeEventListener(name, onClipboard);
		};
	}, [editor]);
}
