/** What can be done to stages. Every command is `(playbook, arguments) => playbook`, and changes no value it was given. */
import { freshStageId } from "../ids";
import { type Layout, layoutOf, snap, withoutPositions, withPositions } from "../layout";
import type { Playbook, Position, Stage } from "../types";

export interface NewStage {
	readonly name: string;
	readonly position: Position;
	readonly kind?: Stage["kind"];
}

/** The new stage's id is `freshStageId(playbook, name)`. */
export function addStage(playbook: Playbook, { name, position, kind }: NewStage): Playbook {
	const stage: Stage = { id: freshStageId(playbook, name), name, systemPrompt: "" };
	if (kind && kind !== "chat") stage.kind = kind;
	return withPositions({ ...playbook, stages: [...playbook.stages, stage] }, { [stage.id]: snap(position) });
}

/** Sets fields of a stage; a field set to `undefined` is removed. */
export function updateStage(playbook: Playbook, id: string, changes: Partial<Stage>): Playbook {
	return {
		...playbook,
		stages: playbook.stages.map((stage) => (stage.id === id ? merged(stage, changes) : stage)),
	};
}

/** `part` with `changes`, and without the fields that are set to `undefined`. */
export function merged<T extends object>(part: T, changes: Partial<T>): T {
	const result = { ...part, ...changes };
	for (const field of Object.keys(changes) as (keyof T)[]) {
		if (result[field] === undefined) delete result[field];
	}
	return result;
}

export function renameStage(playbook: Playbook, id: string, name: string): Playbook {
	return updateStage(playbook, id, { name });
}

/** Gives a stage another id, wherever it is named. An id that is empty or taken changes nothing. */
export function changeStageId(playbook: Playbook, id: string, wanted: string): Playbook {
	const taken = playbook.stages.some((stage) => stage.id === wanted);
	if (wanted === "" || wanted === id || taken) return playbook;
	const renamed = updateStage(playbook, id, { id: wanted });
	const place = layoutOf(playbook)[id];
	const moved = place
		? withPositions(withoutPositions(renamed, new Set([id])), { [wanted]: place })
		: renamed;
	return {
		...moved,
		initialStage: playbook.initialStage === id ? wanted : playbook.initialStage,
		transitions: (playbook.transitions ?? []).map((transition) => ({
			...transition,
			from: transition.from === id ? wanted : transition.from,
			action:
				transition.action.targetStage === id
					? { ...transition.action, targetStage: wanted }
					: transition.action,
		})),
	};
}

export function setInitialStage(playbook: Playbook, id: string): Playbook {
	return playbook.stages.some((stage) => stage.id === id) ? { ...playbook, initialStage: id } : playbook;
}

export function moveStages(playbook: Playbook, positions: Layout): Playbook {
	const before = layoutOf(playbook);
	const moved = Object.entries(positions).filter(
		([id, place]) => before[id]?.x !== place.x || before[id]?.y !== place.y,
	);
	return moved.length === 0 ? playbook : withPositions(playbook, Object.fromEntries(moved));
}

export function nudgeStages(playbook: Playbook, ids: Iterable<string>, by: Position): Playbook {
	const layout = layoutOf(playbook);
	const moved: Record<string, Position> = {};
	for (const id of ids) {
		const place = layout[id];
		if (place) moved[id] = { x: place.x + by.x, y: place.y + by.y };
	}
	return moveStages(playbook, moved);
}
