"""The model table, policies, token counts and prices."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import ceil

import pytest

from runtime.context.guard import prefix_violation
from runtime.context.models import record, stale_entries, table
from runtime.context.policy import policy_for
from runtime.context.prices import price, price_without_caching
from runtime.context.segments import SegmentMaker
from runtime.context.tokens import characters_estimate, count_tokens
from runtime.conversation.appendlist import AppendList
from runtime.conversation.messages import Usage
from runtime.conversation.windows import SentRequest
from runtime.playbook import Playbook, StageContextPolicy
from tests.runtime.context.talk import START, playbook, tool

SONNET = record("claude-sonnet-5")
GPT = record("gpt-6.2-sol")


def test_every_entry_says_where_it_comes_from_and_when() -> None:
    for entry in table().records.values():
        assert entry.source, entry.id
        assert date.fromisoformat(entry.date) <= date.today(), entry.id


def test_no_entry_is_older_than_nine_months_unless_it_was_confirmed() -> None:
    """When this fails: compare the entries with their sources, correct them, and set `confirmed`."""
    assert stale_entries(table(), date.today()) == ()


def test_an_entry_is_stale_after_nine_months_until_somebody_confirms_it() -> None:
    entry = record("claude-sonnet-5").model_copy(update={"date": "2026-11-30"})
    models = replace(table(), records={entry.id: entry})
    assert stale_entries(models, date(2027, 8, 31)) == ()
    assert stale_entries(models, date(2027, 9, 1)) == ("claude-sonnet-5",)
    again = entry.model_copy(update={"confirmed": "2027-08-20"})
    assert stale_entries(replace(models, records={entry.id: again}), date(2027, 9, 1)) == ()


@pytest.mark.parametrize(
    ("model", "prices"),
    [
        ("claude-fable-5-2", (8, 10, 16, 0.2, 40)),
        ("claude-fable-5-1", (10, 12.5, 20, 0.25, 50)),
        ("claude-opus-5-5", (4, 5, 8, 0.2, 20)),
        ("claude-opus-4-5", (5, 6.25, 10, 0.5, 25)),
        ("claude-sonnet-5-5", (2, 2.5, 4, 0.1, 10)),
        ("claude-sonnet-4-5", (3, 3.75, 6, 0.3, 15)),
        ("claude-haiku-4-5", (1, 1.25, 2, 0.1, 5)),
        ("gpt-6-astra", (10, 12.5, 12.5, 1, 50)),
        ("gpt-6-luna", (0.1, 0.125, 0.125, 0.01, 0.5)),
        ("gpt-5.6-terra", (2, 2.5, 2.5, 0.2, 12)),
    ],
)
def test_prices_are_those_of_the_vendors(model: str, prices: tuple[float, ...]) -> None:
    listed = record(model).prices
    assert listed is not None
    assert (listed.input, listed.write5m, listed.write1h, listed.read, listed.output) == prices


def test_a_dated_release_of_a_listed_model_is_that_model_under_its_own_id() -> None:
    haiku = record("claude-haiku-4-5-20251001")
    assert (haiku.known, haiku.id, haiku.prices) == (True, haiku.id, record("claude-haiku-4-5").prices)
    assert haiku.id == "claude-haiku-4-5-20251001"
    assert record("gpt-6-sol-2026-09-01").prices == record("gpt-6-sol").prices
    assert not record("claude-haiku-4-5-fast").known


def test_a_model_whose_price_is_not_public_costs_an_unknown_amount() -> None:
    assert price(Usage(fresh=10), record("claude-mythos-5-2")) is None


def test_reads_are_cheaper_than_input_and_writes_dearer() -> None:
    for entry in table().records.values():
        for prices in [entry.prices, *entry.tiers]:
            if prices is not None:
                assert prices.read < prices.input < prices.write5m <= prices.write1h


def test_an_unknown_model_gets_a_careful_entry_without_prices() -> None:
    unknown = record("claude-some-9")
    assert (unknown.provider, unknown.known, unknown.prices) == ("anthropic", False, None)
    assert not unknown.sampling
    assert unknown.binds_thinking
    assert record("llama-4").provider == "openai-chat"
    assert price(Usage(fresh=10, output=5), unknown) is None


def test_a_known_id_on_another_provider_is_not_that_model() -> None:
    assert not record("claude-sonnet-5", "openai-chat").known


def test_a_call_without_usage_has_no_price() -> None:
    assert price(None, SONNET) is None
    assert price_without_caching(None, SONNET) is None


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(fresh=7, write5m=9000, output=400), 0.039771),
        (Usage(fresh=12, read=9000, output=400), 0.008736),
    ],
)
def test_a_call_costs_what_its_parts_cost(usage: Usage, dollars: float) -> None:
    assert price(usage, record("claude-sonnet-4-6")) == pytest.approx(dollars)
    assert price_without_caching(usage, record("claude-sonnet-4-6")) > dollars - 0.01  # type: ignore[operator]


def test_a_request_over_a_size_tier_pays_that_tier_for_every_token() -> None:
    haiku = record("claude-haiku-5-5")
    assert price(Usage(fresh=100_000), haiku) == pytest.approx(0.01)
    assert price(Usage(fresh=1, read=100_000), haiku) == pytest.approx((0.5 + 100_000 * 0.05) / 1e6)


def test_counts_are_exact_for_openai_and_estimates_for_claude() -> None:
    text = "The quick brown fox jumps over the lazy dog."
    assert count_tokens(text, "dialogue", GPT) == (10, "o200k")
    assert count_tokens(text, "dialogue", SONNET) == (14, "estimate")
    assert count_tokens("", "dialogue", SONNET)[0] == 0


PYTHON = """\
from pathlib import Path

def lines(path: Path) -> int:
    with path.open() as file:
        return sum(1 for _ in file)

class Counter:
    def __init__(self, start: int = 0):
        self.value = start
"""
SENTENCES = """\
You help the customer to choose a bike. Be brief:

- Ask for the size first; then for the colour.
- If nothing is free, say so (never invent one) and return to the list
"""


@pytest.mark.parametrize(
    ("text", "kind", "factor"),
    [
        (SENTENCES, "stage", "prose"),
        (PYTHON, "artifact", "code"),
        ("function f(a) {\n  const b = a;\n  return b;\n}\n", "dialogue", "code"),
        ('  {"a": [1, 2, 3]}', "artifact", "json_"),
        (SENTENCES, "tool_result", "json_"),
        ("自行车出租" * 20, "tool_result", "cjk"),
    ],
)
def test_each_kind_of_text_has_a_factor_of_its_own_for_claude(text: str, kind: str, factor: str) -> None:
    raw = count_tokens(text, kind, GPT)[0]
    expected = ceil(raw * getattr(table().factors["claude-5"], factor))
    assert count_tokens(text, kind, SONNET) == (expected, "estimate")


def test_a_count_for_a_model_with_another_vocabulary_is_never_called_exact() -> None:
    assert count_tokens("Hello there.", "dialogue", record("llama-4"))[1] == "estimate"


@pytest.mark.parametrize("marker", ["<|endoftext|>", "<|im_start|>system", "<|endofprompt|>"])
def test_control_tokens_count_as_plain_text(marker: str) -> None:
    assert count_tokens(f"What does {marker} mean?", "dialogue", GPT)[0] > 6


@pytest.mark.parametrize("text", ["自行车出租" * 200, "สวัสดี" * 200, "🚲" * 200])
def test_other_scripts_never_count_as_four_characters_a_token(text: str) -> None:
    exact = count_tokens(text, "dialogue", GPT)[0]
    assert count_tokens(text, "dialogue", SONNET)[0] >= exact
    assert characters_estimate(text) >= len(text)


def test_a_long_run_of_one_character_is_counted_at_once() -> None:
    assert 20_000 < count_tokens("a" * 200_000, "dialogue", GPT)[0] < 30_000


def test_half_a_surrogate_pair_does_not_stop_the_count() -> None:
    assert count_tokens("cut \ud83d", "dialogue", GPT)[0] > 1


def test_each_setting_says_where_it_comes_from() -> None:
    book = playbook(context={"cacheTtl": "5m", "budgetTokens": 8000})
    stage = book.stages[0].model_copy(update={"context": StageContextPolicy(artifactThreshold=900)})
    policy = policy_for(book, stage, SONNET, StageContextPolicy(cachePoints=2))
    assert (policy.cache_ttl, policy.origins["cache_ttl"]) == ("5m", "playbook")
    assert (policy.artifact_threshold, policy.origins["artifact_threshold"]) == (900, "stage")
    assert (policy.cache_points, policy.origins["cache_points"]) == (2, "session")
    assert (policy.layout, policy.origins["layout"]) == ("append", "default")
    assert (policy.budget_tokens, policy.budget_target, policy.keep_recent) == (8000, 4000, 1600)


def test_the_budget_is_three_fifths_of_the_window_and_never_crosses_a_price_tier() -> None:
    assert policy_for(playbook(), None, SONNET).budget_tokens == 600_000
    assert policy_for(playbook(), None, record("claude-haiku-5-5")).budget_tokens == 100_000
    wanted = playbook(context={"budgetTokens": 500_000})
    policy = policy_for(wanted, None, record("claude-haiku-5-5"))
    assert policy.budget_tokens == 100_000
    assert "lowered" in policy.origins["budget_tokens"]


def test_two_different_tools_of_one_name_run_in_the_swap_layout_and_say_why() -> None:
    stages = [stage.model_dump() for stage in playbook().stages]
    stages[0]["tools"] = [{**tool("stock"), "description": "Another one"}]
    book = Playbook.model_validate({**playbook().model_dump(by_alias=True), "stages": stages})
    policy = policy_for(book, None, SONNET, layout="append")
    assert policy.layout == "swap"
    assert "stock" in policy.origins["layout"]


def test_the_guard_names_the_block_that_changed() -> None:
    first, second = _sent(1, "a", "b"), _sent(2, "a", "x", "c")
    assert "block 1" in (prefix_violation(first, second) or "")
    assert prefix_violation(first, second, rewritten_from=1) is None
    assert prefix_violation(first, _sent(2, "a", "b", "c")) is None
    assert "nothing" in (prefix_violation(first, _sent(2, "a")) or "")


def _sent(call: int, *texts: str) -> SentRequest:
    maker = SegmentMaker(SONNET)
    window = AppendList(maker.make(text, "dialogue", "user", text) for text in texts)
    return SentRequest(call, START, window)
