import { useMemo } from "react";
import { useStore } from "zustand";
import { conditionSentence, endTitle } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import common from "./common.module.css";
import { type Rule, rulesOfTurn, seenWords } from "./facts";
import type { TabProps } from "./props";
import view from "./Window.module.css";

/** "→ Triage · model decides", or the rule's id where the document has no such rule. */
function ruleSentence(document: Playbook, id: string): string {
	const transition = document.transitions?.find((one) => one.id === id);
	if (!transition) return id;
	const target = transition.action.mode === "return" ? null : transition.action.targetStage;
	return `→ ${endTitle(document, target)} · ${conditionSentence(transition.condition)}`;
}

export function useRules({ live, call }: Pick<TabProps, "live" | "call">): Rule[] {
	const events = useStore(live, (state) => state.events);
	return useMemo(() => rulesOfTurn(events, call.turn), [events, call.turn]);
}

/** Every rule of the turn in the order it was looked at: held or not, and what it saw. */
export function WhyItMovedOn(props: TabProps) {
	const rules = useRules(props);
	const moved = rules.some((rule) => rule.verdict);
	return (
		<section className={view.why} aria-label="Why it moved on">
			<h3>{moved || rules.length === 0 ? "Why it moved on" : "Why it did not move on"}</h3>
			{rules.length === 0 && <p className={common.quiet}>No rule was looked at in this turn.</p>}
			<ul>
				{rules.map((rule) => (
					<li key={rule.seq} className={rule.verdict ? common.held : undefined}>
						<span
							className={rule.verdict ? view.verdictHeld : view.verdict}
							role="img"
							aria-label={rule.verdict ? "held" : "did not hold"}
						>
							{rule.verdict ? "✓" : "–"}
						</span>
						<button
							type="button"
							className={`${common.ruleName} ${view.clamped}`}
							title={ruleSentence(props.document, rule.transition)}
							onClick={() => props.onTransitionSelected(rule.transition)}
						>
							{ruleSentence(props.document, rule.transition)}
						</button>
						<span className={view.saw}>{seenWords(rule)}</span>
					</li>
				))}
			</ul>
		</section>
	);
}
