/** What a comparison found, as marks on the graph that has the stages and rules of both states. */
import type { components } from "../api/schema.gen";
import { layoutOf, withPositions } from "./layout";
import type { Playbook } from "./types";

type Schemas = components["schemas"];
export type Comparison = Schemas["Comparison"];
export type Change = Schemas["Change"];
export type FieldChange = Schemas["FieldChange"];
export type Mark = "added" | "removed" | "changed";

export interface Marks {
	readonly stages: ReadonlyMap<string, Mark>;
	readonly transitions: ReadonlyMap<string, Mark>;
}

export const NO_MARKS: Marks = { stages: new Map(), transitions: new Map() };

const markOf = (kind: Change["kind"]): Mark => (kind === "added" || kind === "removed" ? kind : "changed");

/** A stage is changed as well where one of its tools is. */
export function marksOf({ changes }: Pick<Comparison, "changes">): Marks {
	const stages = new Map<string, Mark>();
	const transitions = new Map<string, Mark>();
	for (const { kind, what, id, stage } of changes) {
		if (what === "transition") transitions.set(id, markOf(kind));
		if (what === "stage") stages.set(id, markOf(kind));
		if (what === "tool" && stage && !stages.has(stage)) stages.set(stage, "changed");
	}
	return { stages, transitions };
}

/** The newer document with what was removed put back where it stood, so that it can be shown as gone. */
export function withRemoved(
	before: Playbook,
	after: Playbook,
	{ changes }: Pick<Comparison, "changes">,
): Playbook {
	const gone = (what: Change["what"]) =>
		new Set(
			changes.filter((change) => change.what === what && change.kind === "removed").map(({ id }) => id),
		);
	const [stages, transitions] = [gone("stage"), gone("transition")];
	if (stages.size + transitions.size === 0) return after;
	const places = Object.entries(layoutOf(before)).filter(([id]) => stages.has(id));
	const both = {
		...after,
		stages: [...after.stages, ...before.stages.filter(({ id }) => stages.has(id))],
		transitions: [
			...(after.transitions ?? []),
			...(before.transitions ?? []).filter(({ id }) => transitions.has(id)),
		],
	};
	return withPositions(both, Object.fromEntries(places));
}
