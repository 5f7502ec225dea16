/** "Tidy up": asks the worker for a layout and applies it as one step. */
import { moveStages } from "../playbook/commands";
import { labelSize } from "../playbook/labelSize";
import { edgeSentence } from "../playbook/labels";
import { STAGE_HEIGHT, STAGE_WIDTH } from "../playbook/layout";
import type { Playbook, Position } from "../playbook/types";
import type { Editor } from "./editor";
import { announce, documentOf } from "./operations";
import type { TidyRequest } from "./tidyLayout";

function requestFor(playbook: Playbook): TidyRequest {
	const stages = new Set(playbook.stages.map(({ id }) => id));
	return {
		nodes: playbook.stages.map(({ id }) => ({ id, width: STAGE_WIDTH, height: STAGE_HEIGHT })),
		edges: (playbook.transitions ?? []).flatMap((transition) => {
			const { from, action } = transition;
			const target = action.targetStage ?? "";
			if (!stages.has(from) || !stages.has(target)) return [];
			return [{ from, to: target, labelWidth: labelSize(edgeSentence(transition)).width }];
		}),
	};
}

function layoutInWorker(request: TidyRequest): Promise<Record<string, Position>> {
	const worker = new Worker(new URL("./tidy.worker.ts", import.meta.url), { type: "module" });
	return new Promise<Record<string, Position>>((resolve, reject) => {
		worker.onmessage = ({ data }: MessageEvent<Record<string, Position>>) => resolve(data);
		worker.onerror = ({ message }) => reject(new Error(message));
		worker.postMessage(request);
	}).finally(() => worker.terminate());
}

export async function tidyUp(editor: Editor): Promise<void> {
	if (editor.ui.getState().tidying) return;
	editor.ui.setState({ tidying: true });
	try {
		const positions = await layoutInWorker(requestFor(documentOf(editor)));
		editor.history.edit("Tidy up", (playbook) => {
			const there = new Set(playbook.stages.map(({ id }) => id));
			return moveStages(
				playbook,
				Object.fromEntries(Object.entries(positions).filter(([id]) => there.has(id))),
			);
		});
		announce(editor, "Stages tidied up. Undo brings their places back.");
		// The canvas takes two frames to draw the new places.
		requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => editor.view?.fit(), 0)));
	} catch {
		announce(editor, "The stages could not be tidied up: the layout worker did not start.");
	} finally {
		editor.ui.setState({ tidying: false });
	}
}
