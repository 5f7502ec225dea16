/** Ids are made from names, so that files and diffs can be read; the same document gives the same id. */
import type { Playbook } from "./types";

const RESERVED_STAGE_IDS = new Set(["return", "*"]);

/** Lower-case words joined by hyphens; letters of every script are kept. */
export function slug(text: string): string {
	const words = text
		.normalize("NFKD")
		.replace(/\p{M}/gu, "")
		.toLowerCase()
		.match(/[\p{L}\p{N}_]+/gu);
	return words ? words.join("-").slice(0, 60) : "";
}

/** `wanted`, or `wanted-2`, `wanted-3` …, whichever is the first that is not taken. */
export function freshId(wanted: string, taken: ReadonlySet<string>): string {
	if (!taken.has(wanted)) return wanted;
	for (let number = 2; ; number++) {
		const candidate = `${wanted}-${number}`;
		if (!taken.has(candidate)) return candidate;
	}
}

export function stageIds(playbook: Playbook): Set<string> {
	return new Set(playbook.stages.map((stage) => stage.id));
}

export function transitionIds(playbook: Playbook): Set<string> {
	return new Set((playbook.transitions ?? []).map((transition) => transition.id));
}

export function freshStageId(playbook: Playbook, name: string): string {
	return freshId(slug(name) || "stage", new Set([...stageIds(playbook), ...RESERVED_STAGE_IDS]));
}

export function freshTransitionId(playbook: Playbook, from: string, target: string | null): string {
	const start = from === "*" ? "any" : slug(from) || "stage";
	const end = target ? slug(target) || "stage" : "return";
	return freshId(`${start}-to-${end}`, transitionIds(playbook));
}

/** "New stage", "New stage 2", … */
export function freshStageName(playbook: Playbook, wanted: string): string {
	const names = new Set(playbook.stages.map((stage) => stage.name));
	if (!names.has(wanted)) return wanted;
	for (let number = 2; ; number++) {
		if (!names.has(`${wanted} ${number}`)) return `${wanted} ${number}`;
	}
}
