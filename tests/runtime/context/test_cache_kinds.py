"""The cache model where providers differ: breakpoints, automatic caches, entries not yet readable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.cache_model import NOT_YET, Entry, Mark, begin, misplaced, send
from runtime.context.models import ModelRecord, record
from runtime.context.prefixes import DEVELOPER, Block
from runtime.conversation.segments import Prediction

SONNET = record("claude-sonnet-5")
GPT = record("gpt-6.2-sol")
OLD_GPT = GPT.model_copy(update={"caching": "automatic", "cache_step": 128})
LOCAL = record("a-local-model", "openai-chat")
AT = datetime(2026, 1, 5, tzinfo=UTC)
KINDS = pytest.mark.parametrize("model", [SONNET, GPT, OLD_GPT, LOCAL], ids=lambda m: f"{m.id}-{m.caching}")


def blocks(*tokens: int, prefix: str = "b") -> list[Block]:
    return [Block(f"{prefix}{i}", count) for i, count in enumerate(tokens)]


def total(tokens: Prediction) -> int:
    return tokens.read + tokens.write5m + tokens.write1h + tokens.fresh


def weighted(tokens: Prediction, model: ModelRecord) -> float:
    """In input tokens."""
    short, long = model.write_multiplier("5m"), model.write_multiplier("1h")
    read = model.read_multiplier * tokens.read
    return tokens.fresh + short * tokens.write5m + long * tokens.write1h + read


SIZES = st.lists(st.integers(0, 3000), min_size=1, max_size=12)


@KINDS
@given(sizes=SIZES, places=st.sets(st.integers(0, 11), max_size=6), changed=st.integers(0, 11))
def test_the_parts_add_up_and_nothing_behind_a_changed_block_is_read(
    model: ModelRecord, sizes: list[int], places: set[int], changed: int
) -> None:
    request = blocks(*sizes)
    marks = [Mark(index, (model.ttls or ("5m",))[0]) for index in sorted(places) if index < len(sizes)]
    first = send(request, marks, {}, model, AT)
    assert (first.tokens.read, total(first.tokens)) == (0, sum(sizes))
    other = [Block("other", b.tokens) if i == changed else b for i, b in enumerate(request)]
    second = send(other, marks, first.store, model, AT)
    assert total(second.tokens) == sum(sizes)
    assert second.tokens.read <= sum(sizes[:changed])


@given(sizes=SIZES, extra=st.integers(0, 11), calls=st.integers(2, 4))
def test_one_more_mark_before_the_last_one_makes_a_repeated_request_no_dearer(
    sizes: list[int], extra: int, calls: int
) -> None:
    def cost(places: set[int]) -> float:
        store: dict[int, Entry] = {}
        paid = 0.0
        for _ in range(calls):
            billing = send(blocks(*sizes), [Mark(i, "5m") for i in sorted(places)], store, SONNET, AT)
            store, paid = dict(billing.store), paid + weighted(billing.tokens, SONNET)
        return paid

    last = len(sizes) - 1
    assert cost({extra % len(sizes), last}) <= cost({last}) + 1e-9


# -- breakpoints --------------------------------------------------------------------------------------


def test_in_implicit_mode_a_grown_conversation_reads_up_to_the_old_end_without_any_mark() -> None:
    first = send(blocks(1500, 500), [], {}, GPT, AT)
    assert first.tokens.write5m == 2000
    grown = send(blocks(1500, 500, 300, 40), [], first.store, GPT, AT)
    assert (grown.tokens.read, grown.tokens.write5m) == (2000, 340)


def test_in_explicit_mode_nothing_is_cached_without_marks() -> None:
    billing = send(blocks(1500, 500), [], {}, GPT, AT, implicit=False)
    assert (billing.tokens.fresh, dict(billing.store)) == (2000, {})


def test_in_explicit_mode_an_entry_is_found_only_where_a_mark_stands_again() -> None:
    store = send(blocks(1500, 500), [Mark(1, "30m")], {}, GPT, AT, implicit=False).store
    grown = blocks(1500, 500, 300)
    assert send(grown, [Mark(2, "30m")], store, GPT, AT, implicit=False).tokens.read == 0
    again = send(grown, [Mark(1, "30m"), Mark(2, "30m")], store, GPT, AT, implicit=False)
    assert (again.tokens.read, again.tokens.write5m) == (2000, 300)


def test_implicit_mode_looks_at_the_last_twenty_message_ends_and_the_first_developer_message() -> None:
    head = Block("instructions", 1200, end=DEVELOPER)
    near = [head, *blocks(*[100] * 19)]
    store = send(near, [], {}, GPT, AT).store
    assert send([*near, *blocks(*[100] * 20, prefix="c")], [], store, GPT, AT).tokens.read == 3100
    assert send([*near, *blocks(*[100] * 21, prefix="c")], [], store, GPT, AT).tokens.read == 0
    base = send([head], [], {}, GPT, AT).store
    assert send([head, *blocks(*[100] * 40)], [], base, GPT, AT).tokens.read == 1200


def test_of_more_than_four_marks_the_latest_four_are_written() -> None:
    request = blocks(*[1100] * 6)
    marks = [Mark(index, "30m") for index in range(6)]
    explicit = send(request, marks, {}, GPT, AT, implicit=False)
    assert len(explicit.written) == 4
    assert send(request[:1], [Mark(0, "30m")], explicit.store, GPT, AT).tokens.read == 0
    assert len(send(request, marks[:5], {}, GPT, AT).written) == 4


def test_breakpoints_have_no_look_back_limit_but_the_last_eighty_marks() -> None:
    request = blocks(*[1100] * 90)
    store = send(request[:5], [Mark(4, "30m")], {}, GPT, AT, implicit=False).store
    far = [Mark(index, "30m") for index in (4, 89)]
    assert send(request, far, store, GPT, AT, implicit=False).tokens.read == 5500
    many = [Mark(index, "30m") for index in range(90)]
    assert send(request, many, store, GPT, AT, implicit=False).tokens.read == 0


# -- automatic ----------------------------------------------------------------------------------------


def test_an_automatic_cache_reads_in_steps_and_charges_nothing_for_writing() -> None:
    first = send(blocks(1000, 500), [], {}, OLD_GPT, AT)
    assert first.tokens == Prediction(fresh=1500)
    second = send(blocks(1000, 500, 200), [], first.store, OLD_GPT, AT)
    assert (second.tokens.read, second.tokens.fresh) == (1408, 292)


def test_an_automatic_cache_reads_nothing_under_the_minimum_or_after_its_life() -> None:
    small = send(blocks(1000), [], {}, OLD_GPT, AT).store
    assert send(blocks(1000, 500), [], small, OLD_GPT, AT).tokens.read == 0
    store = send(blocks(2000), [], {}, OLD_GPT, AT).store
    assert send(blocks(2000), [], store, OLD_GPT, AT + timedelta(minutes=10)).tokens.read == 0
    store = send(blocks(2000), [], store, OLD_GPT, AT + timedelta(minutes=9)).store
    assert send(blocks(2000), [], store, OLD_GPT, AT + timedelta(minutes=18)).tokens.read == 1920


def test_a_compatible_server_uses_any_exact_prefix_again() -> None:
    store = send(blocks(10, 20), [], {}, LOCAL, AT).store
    assert send(blocks(10, 20, 5), [], store, LOCAL, AT).tokens == Prediction(read=30, fresh=5)


# -- when an entry can be read ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SONNET, GPT, OLD_GPT], ids=lambda m: m.id + m.caching)
def test_parallel_first_calls_all_pay_until_one_answer_begins(model: ModelRecord) -> None:
    request, marks = blocks(2048), [Mark(0, model.ttls[0])]
    one = send(request, marks, {}, model, AT, first_byte=NOT_YET)
    two = send(request, marks, one.store, model, AT, first_byte=NOT_YET)
    assert (one.tokens.read, two.tokens.read) == (0, 0)
    begun = begin(two.store, one, AT + timedelta(seconds=3))
    assert send(request, marks, begun, model, AT + timedelta(seconds=2)).tokens.read == 0
    assert send(request, marks, begun, model, AT + timedelta(seconds=3)).tokens.read == 2048
    later = begin(begun, two, AT + timedelta(seconds=9))
    assert send(request, marks, later, model, AT + timedelta(seconds=3)).tokens.read == 2048


def test_a_long_mark_behind_a_short_one_is_misplaced() -> None:
    assert misplaced([Mark(0, "1h"), Mark(1, "5m"), Mark(2, "5m")]) is None
    assert misplaced([Mark(2, "1h"), Mark(0, "1h"), Mark(1, "5m")]) == Mark(2, "1h")
