"""`llm_decision`: the model asked for this target with `playbook_transition`.

The request itself is carried out where the tool's call is answered (engine/decisions.py); here is only the
verdict for the turns in which the model did not ask.
"""

from __future__ import annotations

from runtime.engine.rules.facts import Facts, Moment, Verdict
from runtime.playbook import LLMDecisionCondition


def looks(condition: LLMDecisionCondition, moment: Moment) -> bool:
    """After the reply, so that the log says why it did not fire."""
    return moment == "after"


def judge(condition: LLMDecisionCondition, facts: Facts) -> Verdict:
    """Never true here."""
    return Verdict(False, None, "The model did not ask for this transition.")
