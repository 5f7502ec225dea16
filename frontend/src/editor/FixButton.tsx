import { Button } from "@mantine/core";
import { applyFix, canFix, type Fix } from "../playbook/fixes";
import { useEditor } from "./editor";
import { announce, dropStaleSelection } from "./operations";

interface FixButtonProps {
	fix: Fix | null | undefined;
	/** The button will go with its problem: whoever holds it takes the focus. */
	onDone?: () => void;
}

/** Repairs a problem in one click, which is one step of undo. */
export function FixButton({ fix, onDone }: FixButtonProps) {
	const editor = useEditor();
	if (!fix || !canFix(fix)) return null;
	const mend = () => {
		editor.history.edit(fix.label, (playbook) => applyFix(playbook, fix));
		dropStaleSelection(editor);
		announce(editor, `${fix.label}: done.`);
		onDone?.();
	};
	return (
		<Button variant="default" size="compact-xs" onClick={mend}>
			{fix.label}
		</Button>
	);
}
