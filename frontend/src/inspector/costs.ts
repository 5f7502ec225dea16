/** Sums of tokens and money over calls, honest about what is not known. */
import type { KnownCall } from "../api/frames";
import { dollars } from "../ui/format";
import { totalInput } from "./window";

export interface Totals {
	readonly calls: number;
	readonly input: number;
	readonly read: number;
	readonly output: number;
	/** US dollars of the calls whose price is known. */
	readonly cost: number;
	readonly costWithoutCaching: number;
	/** Calls of a real model whose cost is not known. */
	readonly unknown: number;
	readonly rehearsed: number;
}

export const isRehearsal = (call: Pick<KnownCall, "provider">): boolean => call.provider === "rehearsal";

export function totals(calls: readonly KnownCall[]): Totals {
	const counted = calls.flatMap((call) => call.usage ?? []);
	const real = calls.filter((call) => !isRehearsal(call));
	const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
	return {
		calls: calls.length,
		input: sum(counted.map(totalInput)),
		read: sum(counted.map((usage) => usage.read)),
		output: sum(counted.map((usage) => usage.output)),
		cost: sum(real.map((call) => call.cost ?? 0)),
		costWithoutCaching: sum(real.map((call) => call.costWithoutCaching ?? 0)),
		unknown: real.filter((call) => call.cost === null).length,
		rehearsed: calls.length - real.length,
	};
}

/** "$0.0041", "cost unknown", "no cost (rehearsal)" */
export function costWords(call: Pick<KnownCall, "provider" | "cost" | "status">): string {
	if (isRehearsal(call)) return "no cost (rehearsal)";
	if (call.cost !== null) return dollars(call.cost);
	return call.status === "running" ? "cost not known yet" : "cost unknown";
}

/** "$0.031", "at least $0.031", "unknown" */
export function sumWords(sum: Totals): string {
	if (sum.rehearsed === sum.calls) return "no cost (rehearsal)";
	if (sum.unknown === 0) return dollars(sum.cost);
	return sum.cost > 0 ? `at least ${dollars(sum.cost)}` : "unknown";
}
