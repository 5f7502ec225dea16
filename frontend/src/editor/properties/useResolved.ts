import { createElement, type ReactNode } from "react";
import { type Resolved, resolveModel, type ToResolve } from "../../api/connections";
import { useLatest } from "../../ui/useLatest";
import type { Part } from "./part";

/** Who would answer with these settings on this server; null while that is not known. */
export function useResolved(asked: ToResolve): Resolved | null {
	return useLatest(JSON.stringify(asked), (signal) => resolveModel(asked, signal));
}

/** The problem of a field, else that its model does not take the setting. */
export function problemOrLeftOut<T extends object>(
	part: Part<T>,
	field: string,
	resolved: Resolved | null,
): ReactNode {
	const problem = part.error(field);
	if (problem || !resolved?.leftOut.includes(field)) return problem;
	const words = `Not supported by ${resolved.model}: it is not sent.`;
	return createElement("span", { "data-severity": "warning" }, words);
}
