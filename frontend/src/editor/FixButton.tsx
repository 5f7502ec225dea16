import { Button } from "@mantine/core";
import { applyFix, canFix, type Fix } from "../playbook/fixes";
import { useEditor } from "./editor";
import { announce, dropStaleSelection } from "./operations";

/** Repairs a problem in one click, which is one step of undo. */
export function FixButton({ fix }: { fix: Fix | null | undefined }) {
	const editor = useEditor();
	if (!fix || !canFix(fix)) return null;
	const mend = () => {
		editor.history.edit(fix.label, (playbook) => applyFix(playbook, fix));
		dropStaleSelection(editor);
		announce(editor, `${fix.label}: done.`);
	};
	return (
		<Button variant="default" size="compact-xs" onClick={mend}>
			{fix.label}
		</Button>
	);
}
