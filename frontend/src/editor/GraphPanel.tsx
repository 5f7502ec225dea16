import { useMode } from "../ui/screen";
import { Canvas } from "./Canvas";
import { Dialogs } from "./Dialogs";
import { useEditor, useUi } from "./editor";
import { Menus } from "./Menus";
import { Outline } from "./Outline";
import { useShortcuts } from "./useShortcuts";

function Announcer() {
	const announcement = useUi((ui) => ui.announcement);
	return (
		<div className="ps-visually-hidden" role="status" aria-live="polite">
			{announcement}
		</div>
	);
}

/** The graph, as a canvas or as an outline, with its menus, dialogs and keys. */
export function GraphPanel() {
	const editor = useEditor();
	const mode = useMode();
	const outline = useUi((ui) => ui.outline) ?? mode === "small";
	useShortcuts(editor);
	return (
		<>
			{outline ? <Outline /> : <Canvas />}
			<Menus />
			<Dialogs />
			<Announcer />
		</>
	);
}
