/** True where keys belong to the field they are typed into. */
export function isTypingPlace(target: EventTarget | null): boolean {
	if (!(target instanceof HTMLElement)) return false;
	return (
		target.isContentEditable ||
		target.closest("input, textarea, select, [role=combobox], .cm-editor") !== null
	);
}
