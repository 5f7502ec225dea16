import { useStore } from "zustand";
import type { KnownCall, Prediction, Usage } from "../api/frames";
import { endTitle } from "../playbook/labels";
import { dollars, elapsed, grouped, percent, plural } from "../ui/format";
import { costWords, isRehearsal, sumWords, totals } from "./costs";
import styles from "./Inspector.module.css";
import type { TabProps } from "./props";
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

function ThisCall({ call }: { call: KnownCall }) {
	const { usage, predicted } = call;
	return (
		<section>
			<h3>
				This call {isRehearsal(call) && <span className={styles.tag}>simulated: no model was asked</span>}
			</h3>
			<table className={styles.table}>
				<thead>
					<tr>
						<th>Tokens</th>
						<th className={styles.number}>{isRehearsal(call) ? "simulated" : "billed"}</th>
						<th className={styles.number}>predicted</th>
					</tr>
				</thead>
				<tbody>
					{PARTS.map(([name, part]) => (
						<tr key={part}>
							<th scope="row">{name}</th>
							<td className={styles.number}>{cell(usage, part)}</td>
							<td className={styles.number}>{cell(predicted, part)}</td>
						</tr>
					))}
					<tr className={styles.total}>
						<th scope="row">input in all</th>
						<td className={styles.number}>{usage ? grouped(totalInput(usage)) : "–"}</td>
						<td className={styles.number}>{predicted ? grouped(totalInput(predicted)) : "–"}</td>
					</tr>
					<tr>
						<th scope="row">output</th>
						<td className={styles.number}>{usage ? grouped(usage.output) : "–"}</td>
						<td className={styles.number} />
					</tr>
				</tbody>
			</table>
			<dl className={styles.facts}>
				<dt>Cost</dt>
				<dd>{costWords(call)}</dd>
				<dt>Without caching</dt>
				<dd>{call.costWithoutCaching === null ? "unknown" : dollars(call.costWithoutCaching)}</dd>
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
		<tr className={props.chosen ? styles.chosen : undefined} aria-current={props.chosen ? "true" : undefined}>
			<th scope="row">
				<button type="button" className={styles.link} onClick={() => props.onCallSelected(call.call)}>
					call {call.call}
				</button>
			</th>
			<td>turn {call.turn}</td>
			<td>{endTitle(props.document, call.stage)}</td>
			<td className={styles.number}>{numbers ? grouped(input) : "–"}</td>
			<td className={styles.number}>{numbers ? percent(numbers.read, input) : "–"}</td>
			<td className={styles.number}>{call.usage ? grouped(call.usage.output) : "–"}</td>
			<td className={styles.number}>{costWords(call)}</td>
		</tr>
	);
}

export function CostTab(props: TabProps) {
	const known = useStore(props.live, (state) => state.calls);
	const calls = [...known.values()].sort((a, b) => a.call - b.call);
	const sum = totals(calls);
	return (
		<div className={`${styles.scroll} ${styles.split}`}>
			<ThisCall call={props.call} />
			<section>
				<h3>The session</h3>
				<table className={styles.table}>
					<thead>
						<tr>
							<th>Call</th>
							<th>Turn</th>
							<th>Stage</th>
							<th className={styles.number}>in</th>
							<th className={styles.number}>cached</th>
							<th className={styles.number}>out</th>
							<th className={styles.number}>cost</th>
						</tr>
					</thead>
					<tbody>
						{calls.map((call) => (
							<Row key={call.call} {...props} call={call} chosen={call.call === props.call.call} />
						))}
						<tr className={styles.total}>
							<th scope="row">{plural(sum.calls, "call")}</th>
							<td />
							<td />
							<td className={styles.number}>{grouped(sum.input)}</td>
							<td className={styles.number}>{percent(sum.read, sum.input)}</td>
							<td className={styles.number}>{grouped(sum.output)}</td>
							<td className={styles.number}>{sumWords(sum)}</td>
						</tr>
					</tbody>
				</table>
				{sum.costWithoutCaching > 0 && (
					<p className={styles.quiet}>Without caching: {dollars(sum.costWithoutCaching)}.</p>
				)}
			</section>
		</div>
	);
}
