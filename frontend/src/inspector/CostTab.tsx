import { useStore } from "zustand";
import type { KnownCall, Prediction, Usage } from "../api/frames";
import { agentOf, endTitle, placed } from "../playbook/labels";
import { dollars, elapsed, grouped, percent, plural } from "../ui/format";
import { CacheUse } from "./CacheUse";
import common from "./common.module.css";
import { costWords, isRehearsal, sumWords, totals } from "./costs";
import type { TabProps } from "./props";
import tables from "./Tables.module.css";
import { numbersOf, totalInput } from "./window";

const PARTS = [
	["read from the cache", "read"],
	["written, kept 5 minutes", "write5m"],
	["written, kept 1 hour", "write1h"],
	["fresh", "fresh"],
] as const;

function cell(numbers: Prediction | Usage | null, part: (typeof PARTS)[number][1]): string {
	return numbers ? grouped(numbers[part]) : "–";
}

function withoutCaching(call: KnownCall): string {
	if (isRehearsal(call)) return "no cost (rehearsal)";
	return call.costWithoutCaching === null ? "unknown" : dollars(call.costWithoutCaching);
}

function ThisCall({ call }: { call: KnownCall }) {
	const { usage, predicted } = call;
	return (
		<section>
			<h3>
				This call {isRehearsal(call) && <span className={common.tag}>simulated: no model was asked</span>}
			</h3>
			<table className={tables.table}>
				<thead>
					<tr>
						<th>Tokens</th>
						<th className={tables.amount}>{isRehearsal(call) ? "simulated" : "billed"}</th>
						<th className={tables.amount}>predicted</th>
					</tr>
				</thead>
				<tbody>
					{PARTS.map(([name, part]) => (
						<tr key={part}>
							<th scope="row">{name}</th>
							<td className={tables.amount}>{cell(usage, part)}</td>
							<td className={tables.amount}>{cell(predicted, part)}</td>
						</tr>
					))}
					<tr className={tables.total}>
						<th scope="row">input in all</th>
						<td className={tables.amount}>{usage ? grouped(totalInput(usage)) : "–"}</td>
						<td className={tables.amount}>{predicted ? grouped(totalInput(predicted)) : "–"}</td>
					</tr>
					<tr>
						<th scope="row">output</th>
						<td className={tables.amount}>{usage ? grouped(usage.output) : "–"}</td>
						<td className={tables.amount} />
					</tr>
				</tbody>
			</table>
			<dl className={tables.facts}>
				<dt>Cost</dt>
				<dd>{costWords(call)}</dd>
				<dt>Without caching</dt>
				<dd>{withoutCaching(call)}</dd>
				<dt>To the first word</dt>
				<dd>{call.firstTokenMs === null ? "–" : elapsed(call.firstTokenMs)}</dd>
				<dt>In all</dt>
				<dd>{call.durationMs === null ? "–" : elapsed(call.durationMs)}</dd>
			</dl>
		</section>
	);
}

/** One line of the session's table. A call that is not counted yet shows dashes. */
function Row({ call, ...props }: Omit<TabProps, "live" | "sessionId"> & { chosen: boolean }) {
	const numbers = numbersOf(call);
	const input = numbers ? totalInput(numbers) : 0;
	return (
		<tr className={props.chosen ? tables.chosen : undefined} aria-current={props.chosen ? "true" : undefined}>
			<th scope="row">
				<button type="button" className={common.link} onClick={() => props.onCallSelected(call.call)}>
					call {call.call}
				</button>
			</th>
			<td>turn {call.turn}</td>
			<td>{endTitle(props.document, placed(agentOf(call.lane), call.stage))}</td>
			<td className={tables.amount}>{numbers ? grouped(input) : "–"}</td>
			<td className={tables.amount}>{numbers ? percent(numbers.read, input) : "–"}</td>
			<td className={tables.amount}>{call.usage ? grouped(call.usage.output) : "–"}</td>
			<td className={tables.amount}>{costWords(call)}</td>
		</tr>
	);
}

export function CostTab(props: TabProps) {
	const known = useStore(props.live, (state) => state.calls);
	const calls = [...known.values()].sort((a, b) => a.call - b.call);
	const sum = totals(calls);
	return (
		<div className={`${tables.scroll} ${tables.split}`}>
			<ThisCall call={props.call} />
			<section>
				<h3>The session</h3>
				<table className={tables.table}>
					<thead>
						<tr>
							<th>Call</th>
							<th>Turn</th>
							<th>Stage</th>
							<th className={tables.amount}>in</th>
							<th className={tables.amount}>cached</th>
							<th className={tables.amount}>out</th>
							<th className={tables.amount}>cost</th>
						</tr>
					</thead>
					<tbody>
						{calls.map((call) => (
							<Row key={call.call} {...props} call={call} chosen={call.call === props.call.call} />
						))}
						<tr className={tables.total}>
							<th scope="row">{plural(sum.calls, "call")}</th>
							<td />
							<td />
							<td className={tables.amount}>{grouped(sum.input)}</td>
							<td className={tables.amount}>{percent(sum.read, sum.input)}</td>
							<td className={tables.amount}>{grouped(sum.output)}</td>
							<td className={tables.amount}>{sumWords(sum)}</td>
						</tr>
					</tbody>
				</table>
				{sum.costWithoutCaching > 0 && (
					<p className={common.quiet}>Without caching: {dollars(sum.costWithoutCaching)}.</p>
				)}
				<CacheUse sessionId={props.sessionId} counted={calls.filter((call) => call.usage !== null).length} />
			</section>
		</div>
	);
}
