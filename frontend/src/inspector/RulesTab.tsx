import { endTitle, transitionSentence } from "../playbook/labels";
import common from "./common.module.css";
import { seenWords } from "./facts";
import type { TabProps } from "./props";
import tables from "./Tables.module.css";
import { useRules } from "./WhyItMovedOn";

function seenValue(seen: unknown): string {
	if (seen === null || seen === undefined) return "";
	return typeof seen === "string" ? seen : JSON.stringify(seen);
}

/** All rules of the turn with everything that is known of them. */
export function RulesTab(props: TabProps) {
	const rules = useRules(props);
	const { document } = props;
	if (rules.length === 0) {
		return (
			<p className={common.loading}>
				No rule was looked at in turn {props.call.turn}. Rules are looked at when a message comes, after tool
				calls, and after the reply.
			</p>
		);
	}
	return (
		<div className={tables.scroll}>
			<table className={tables.table}>
				<caption className="ps-visually-hidden">Rules of turn {props.call.turn} in order</caption>
				<thead>
					<tr>
						<th>Verdict</th>
						<th>From</th>
						<th>Rule</th>
						<th>To</th>
						<th>Reason</th>
						<th>Saw</th>
					</tr>
				</thead>
				<tbody>
					{rules.map((rule) => {
						const transition = document.transitions?.find((one) => one.id === rule.transition);
						const returns = transition?.action.mode === "return";
						return (
							<tr key={rule.seq} className={rule.verdict ? common.held : undefined}>
								<td className={tables.nowrap}>{rule.verdict ? "✓ held" : "– no"}</td>
								<td>{transition ? endTitle(document, transition.from) : ""}</td>
								<td>
									<button
										type="button"
										className={common.ruleName}
										onClick={() => props.onTransitionSelected(rule.transition)}
									>
										{transition ? transitionSentence(transition) : rule.transition}
									</button>
								</td>
								<td>
									{transition ? endTitle(document, returns ? null : transition.action.targetStage) : ""}
								</td>
								<td>{seenWords(rule)}</td>
								<td className={common.code}>{seenValue(rule.seen)}</td>
							</tr>
						);
					})}
				</tbody>
			</table>
		</div>
	);
}
