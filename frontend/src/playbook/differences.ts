/** What differs between two states of a playbook, as lines for a person; positions are not worth a line. */
import { stageTitle, transitionTitle } from "./labels";
import { layoutOf } from "./layout";
import { sameJson } from "./same";
import type { Playbook } from "./types";

interface Part {
	readonly id: string;
}

function compare<T extends Part>(
	before: readonly T[],
	after: readonly T[],
	title: (part: T, added: boolean) => string,
): string[] {
	const old = new Map(before.map((part) => [part.id, part]));
	const fresh = new Set(after.map(({ id }) => id));
	const lines: string[] = [];
	for (const part of after) {
		const known = old.get(part.id);
		if (!known) lines.push(`added: ${title(part, true)}`);
		else if (!sameJson(known, part))
			lines.push(`changed: ${title(part, true)} (${changedFields(known, part)})`);
	}
	for (const part of before) if (!fresh.has(part.id)) lines.push(`not there: ${title(part, false)}`);
	return lines;
}

function changedFields(before: object, after: object): string {
	const names = new Set([...Object.keys(before), ...Object.keys(after)]);
	const value = (part: object, name: string) => (part as Record<string, unknown>)[name] ?? null;
	return [...names].filter((name) => !sameJson(value(before, name), value(after, name))).join(", ");
}

/** Seen from `before`: what `after` has added, changed, or does not have. */
export function differences(before: Playbook, after: Playbook): string[] {
	const stages = compare(before.stages, after.stages, (stage) => `stage ${stageTitle(stage)}`);
	const transitions = compare(before.transitions ?? [], after.transitions ?? [], (rule, added) =>
		transitionTitle(added ? after : before, rule),
	);
	const { stages: _s, transitions: _t, metadata: _m, ...restBefore } = before;
	const { stages: _s2, transitions: _t2, metadata: _m2, ...restAfter } = after;
	const settings = changedFields(restBefore, restAfter);
	const lines = [...stages, ...transitions, ...(settings ? [`changed: playbook (${settings})`] : [])];
	if (!sameJson(layoutOf(before), layoutOf(after))) lines.push("changed: places of stages");
	return lines.length > 0 ? lines : ["nothing"];
}
