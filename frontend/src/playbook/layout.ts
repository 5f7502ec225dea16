/**
 * Where stages stand. Positions live in the playbook's `metadata.studio.layout` only, so that moving a stage
 * is one small change of the file. A position once given is never changed by anything but its owner.
 */
import type { Playbook, Position } from "./types";

export const STAGE_WIDTH = 214;
export const STAGE_HEIGHT = 84;
export const GRID = 8;
/** Between columns: room for the sentence on an edge. */
export const GAP = 186;
const COLUMN = STAGE_WIDTH + GAP;
const ROW = STAGE_HEIGHT + 68;

export type Layout = Readonly<Record<string, Position>>;

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPosition(value: unknown): value is Position {
	return isFields(value) && Number.isFinite(value.x) && Number.isFinite(value.y);
}

/** The editor's own part of the metadata. */
export function studioOf(playbook: Playbook): Fields {
	const studio = playbook.metadata?.studio;
	return isFields(studio) ? studio : {};
}

export function withStudio(playbook: Playbook, changes: Fields): Playbook {
	const studio = { ...studioOf(playbook), ...changes };
	return { ...playbook, metadata: { ...playbook.metadata, studio } };
}

const cache = new WeakMap<object, Layout>();

/** The stored positions; entries that are not positions are ignored (and left in the file). */
export function layoutOf(playbook: Playbook): Layout {
	const stored = studioOf(playbook).layout;
	if (!isFields(stored)) return {};
	const known = cache.get(stored);
	if (known) return known;
	const layout = Object.fromEntries(
		Object.entries(stored).filter((entry): entry is [string, Position] => isPosition(entry[1])),
	);
	cache.set(stored, layout);
	return layout;
}

export function withPositions(playbook: Playbook, positions: Layout): Playbook {
	const stored = studioOf(playbook).layout;
	return withStudio(playbook, { layout: { ...(isFields(stored) ? stored : {}), ...positions } });
}

export function withoutPositions(playbook: Playbook, ids: ReadonlySet<string>): Playbook {
	const stored = studioOf(playbook).layout;
	if (!isFields(stored)) return playbook;
	const layout = Object.fromEntries(Object.entries(stored).filter(([id]) => !ids.has(id)));
	return withStudio(playbook, { layout });
}

/** Steps from the start, by stage id; stages that cannot be reached come after the deepest one. */
function depths(playbook: Playbook): Map<string, number> {
	const targets = new Map<string, string[]>();
	for (const transition of playbook.transitions ?? []) {
		const target = transition.action.targetStage;
		if (target) targets.set(transition.from, [...(targets.get(transition.from) ?? []), target]);
	}
	const found = new Map([[playbook.initialStage, 0]]);
	for (const [id, depth] of found) {
		for (const target of targets.get(id) ?? []) if (!found.has(target)) found.set(target, depth + 1);
	}
	return found;
}

/** Gives a place to the stages that have none: columns by distance from the start, below what is there. */
export function completeLayout(playbook: Playbook): Playbook {
	const known = layoutOf(playbook);
	const missing = playbook.stages.filter((stage) => !known[stage.id]);
	if (missing.length === 0) return playbook;
	const top = Math.max(0, ...playbook.stages.map((stage) => (known[stage.id]?.y ?? -ROW) + ROW));
	const depth = depths(playbook);
	const last = Math.max(0, ...depth.values()) + 1;
	const filled = new Map<number, number>();
	const placed: Record<string, Position> = {};
	for (const stage of missing) {
		const column = depth.get(stage.id) ?? last;
		const row = filled.get(column) ?? 0;
		filled.set(column, row + 1);
		placed[stage.id] = { x: column * COLUMN, y: top + row * ROW };
	}
	return withPositions(playbook, placed);
}

/** Above and below a card that a person put there, and one that found its place itself: lines pass between. */
const LITTLE_ROOM = 16;
export const ROOM_FOR_LINES = 48;

/** The first place at or below `wanted` where a card covers no other and has `room` px above and below. */
export function freePosition(playbook: Playbook, wanted: Position, room = LITTLE_ROOM): Position {
	const taken = Object.values(layoutOf(playbook));
	const free = (place: Position) =>
		taken.every(
			(other) =>
				Math.abs(other.x - place.x) >= STAGE_WIDTH || Math.abs(other.y - place.y) >= STAGE_HEIGHT + room,
		);
	let place = snap(wanted);
	while (!free(place)) place = { x: place.x, y: place.y + ROW };
	return place;
}

export function snap(place: Position): Position {
	return { x: Math.round(place.x / GRID) * GRID, y: Math.round(place.y / GRID) * GRID };
}
