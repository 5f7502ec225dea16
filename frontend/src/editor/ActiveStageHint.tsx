import { useStore as useFlow } from "@xyflow/react";
import { stageTitle } from "../playbook/labels";
import styles from "./canvas.module.css";
import { useDocument, useEditor, useLive } from "./editor";

/** True while no part of the stage's card can be seen. */
function useOutOfSight(id: string | null): boolean {
	return useFlow(({ nodeLookup, transform: [x, y, zoom], width, height }) => {
		const node = id ? nodeLookup.get(id) : undefined;
		if (!node) return false;
		const { positionAbsolute } = node.internals;
		const left = positionAbsolute.x * zoom + x;
		const top = positionAbsolute.y * zoom + y;
		const right = left + (node.measured.width ?? 0) * zoom;
		const bottom = top + (node.measured.height ?? 0) * zoom;
		return right < 0 || bottom < 0 || left > width || top > height;
	});
}

/** The view is never moved for a running chat: this offers to. */
export function ActiveStageHint() {
	const editor = useEditor();
	const id = useLive((live) => live.activeStageId);
	const away = useOutOfSight(id);
	const stage = useDocument().stages.find((candidate) => candidate.id === id);
	if (!stage || !away) return null;
	return (
		<button type="button" className={styles.hint} onClick={() => editor.view?.reveal([stage.id])}>
			● {stageTitle(stage)} – show
		</button>
	);
}
