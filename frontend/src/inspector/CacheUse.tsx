import type { components } from "../api/schema.gen";
import { dollars, grouped, percent } from "../ui/format";
import common from "./common.module.css";
import tables from "./Tables.module.css";
import { costsPath, useAsked } from "./texts";

type CostReport = components["schemas"]["CostReport"];
type InputCosts = components["schemas"]["InputCosts"];

const ROWS: readonly (readonly [string, keyof InputCosts])[] = [
	["paid", "paid"],
	["without caching", "uncached"],
	["one cache point behind the instructions", "systemPoint"],
	["one cache point at each end (automatic caching)", "tailPoint"],
	["the least that any cache points could cost", "bound"],
];

interface CacheUseProps {
	sessionId: string;
	/** Calls that were counted so far: with each more the figures are asked for anew. */
	counted: number;
}

/** What the input of all calls cost, what other cache points would have cost, and how little was possible. */
export function CacheUse({ sessionId, counted }: CacheUseProps) {
	const asked = useAsked<CostReport>(counted > 0 ? costsPath(sessionId, counted) : null);
	if (asked.state !== "here" || asked.value.efficiency.eta === null) return null;
	const { tokens, dollars: money, eta } = asked.value.efficiency;
	const amount = (name: keyof InputCosts) =>
		money ? dollars(money[name]) : `${grouped(tokens[name])} tokens' worth`;
	return (
		<section aria-label="How well the cache was used">
			<h4>Input, in other ways</h4>
			<table className={tables.table}>
				<tbody>
					{ROWS.map(([words, name]) => (
						<tr key={name}>
							<th scope="row">{words}</th>
							<td className={tables.amount}>{amount(name)}</td>
						</tr>
					))}
				</tbody>
			</table>
			<p className={common.quiet}>
				{percent(Math.min(eta, 1), 1)} of what was paid could not have been saved by other cache points, even
				knowing every later message and pause. All but “paid” is worked out from the log.
			</p>
		</section>
	);
}
