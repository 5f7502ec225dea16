/** Diagnostics of the server, arranged for the stage, the edge or the field they belong to. */
import type { Fix } from "./fixes";
import type { Playbook } from "./types";

export interface Diagnostic {
	readonly code: string;
	readonly severity: "error" | "warning" | "advice";
	/** A sentence for a person. */
	readonly message: string;
	/** JSON pointer into the document. */
	readonly path: string;
	readonly related?: readonly string[];
	readonly stage?: string | null;
	readonly transition?: string | null;
	readonly fix?: Fix | null;
}

const RANK = { error: 0, warning: 1, advice: 2 } as const;

export interface Place {
	readonly stageId?: string;
	readonly transitionId?: string;
}

/** The stage or transition a JSON pointer leads into, if any. */
export function placeOf(playbook: Playbook, path: string): Place {
	const [, list, index] = path.split("/");
	const number = Number(index);
	if (list === "stages") return place("stageId", playbook.stages[number]?.id);
	if (list === "transitions") return place("transitionId", playbook.transitions?.[number]?.id);
	return {};
}

function place(key: keyof Place, id: string | undefined): Place {
	return id === undefined ? {} : { [key]: id };
}

export function placeOfDiagnostic(playbook: Playbook, { stage, transition, path }: Diagnostic): Place {
	if (transition) return { transitionId: transition };
	if (stage) return { stageId: stage };
	return placeOf(playbook, path);
}

/** The other places of a finding, each once, without the place it is shown at. */
export function relatedPlaces(playbook: Playbook, problem: Diagnostic): Place[] {
	const key = ({ stageId, transitionId }: Place) => JSON.stringify([stageId ?? null, transitionId ?? null]);
	const known = new Set([key({}), key(placeOfDiagnostic(playbook, problem))]);
	return (problem.related ?? [])
		.map((path) => placeOf(playbook, path))
		.filter((place) => {
			const isNew = !known.has(key(place));
			known.add(key(place));
			return isNew;
		});
}

export interface Problems {
	/** Errors first, then warnings, then advice; otherwise in the order they came. */
	readonly all: readonly Diagnostic[];
	readonly byStage: ReadonlyMap<string, readonly Diagnostic[]>;
	readonly byTransition: ReadonlyMap<string, readonly Diagnostic[]>;
}

export const NO_PROBLEMS: Problems = { all: [], byStage: new Map(), byTransition: new Map() };

export function arrangeProblems(playbook: Playbook, diagnostics: readonly Diagnostic[]): Problems {
	const all = [...diagnostics].sort((a, b) => RANK[a.severity] - RANK[b.severity]);
	const byStage = new Map<string, Diagnostic[]>();
	const byTransition = new Map<string, Diagnostic[]>();
	for (const diagnostic of all) {
		const { stageId, transitionId } = placeOfDiagnostic(playbook, diagnostic);
		if (stageId) byStage.set(stageId, [...(byStage.get(stageId) ?? []), diagnostic]);
		if (transitionId) byTransition.set(transitionId, [...(byTransition.get(transitionId) ?? []), diagnostic]);
	}
	return { all, byStage, byTransition };
}

/** The diagnostics of one field; `pointer` is relative to the part, such as `/systemPrompt`. */
export function problemsAt(diagnostics: readonly Diagnostic[], part: string, pointer: string): Diagnostic[] {
	const whole = `${part}${pointer}`;
	return diagnostics.filter(({ path }) => path === whole || path.startsWith(`${whole}/`));
}
