"""The cache and billing model: properties that hold for any sequence of requests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.cache_model import Mark, send
from runtime.context.models import record
from runtime.context.prefixes import Block
from runtime.conversation.segments import Prediction

SONNET = record("claude-sonnet-5")
AT = datetime(2026, 1, 5, tzinfo=UTC)


def blocks(*tokens: int, prefix: str = "b") -> list[Block]:
    return [Block(f"{prefix}{i}", count) for i, count in enumerate(tokens)]


def total(tokens: Prediction) -> int:
    return tokens.read + tokens.write5m + tokens.write1h + tokens.fresh


@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from(["5m", "1h"])), max_size=4),
    st.integers(0, 7200),
)
def test_the_parts_add_up_and_the_first_call_reads_nothing(
    sizes: list[int], wanted: list[tuple[int, str]], pause: int
) -> None:
    request = blocks(*sizes)
    marks = sorted({Mark(i % len(sizes), ttl) for i, ttl in wanted}, key=lambda m: (m.index, m.ttl))
    first = send(request, marks, {}, SONNET, AT)
    assert first.tokens.read == 0
    second = send(request, marks, first.store, SONNET, AT + timedelta(seconds=pause))
    assert total(first.tokens) == total(second.tokens) == sum(sizes)


def test_the_same_call_twice_reads_everything_up_to_the_last_mark() -> None:
    request, marks = blocks(1500, 500, 200), [Mark(0, "1h"), Mark(1, "5m")]
    first = send(request, marks, {}, SONNET, AT)
    assert (first.tokens.write1h, first.tokens.write5m, first.tokens.fresh) == (1500, 500, 200)
    second = send(request, marks, first.store, SONNET, AT + timedelta(minutes=1))
    assert (second.tokens.read, second.tokens.fresh) == (2000, 200)


def test_a_changed_block_ends_what_can_be_read_before_it() -> None:
    first = send(blocks(1500, 500, 200), [Mark(0, "5m"), Mark(2, "5m")], {}, SONNET, AT)
    changed = [*blocks(1500), Block("other", 500), Block("b2", 200)]
    second = send(changed, [Mark(0, "5m"), Mark(2, "5m")], first.store, SONNET, AT)
    assert second.tokens.read == 1500


def test_a_read_looks_back_twenty_positions_the_mark_included() -> None:
    request = blocks(*[1100] * 30)
    store = send(request, [Mark(5, "5m")], {}, SONNET, AT).store
    assert send(request, [Mark(24, "5m")], store, SONNET, AT).tokens.read == 6600
    assert send(request, [Mark(25, "5m")], store, SONNET, AT).tokens.read == 0


def test_a_tools_block_takes_a_position_for_each_tool() -> None:
    request = [Block("tools", 1200, positions=10), *blocks(*[10] * 15)]
    store = send(request, [Mark(0, "5m")], {}, SONNET, AT).store
    assert send(request, [Mark(15, "5m")], store, SONNET, AT).tokens.read == 1200


def test_a_prefix_under_the_minimum_is_silently_not_cached() -> None:
    request = blocks(1023)
    first = send(request, [Mark(0, "5m")], {}, SONNET, AT)
    assert (first.tokens.fresh, dict(first.store)) == (1023, {})


def test_a_hit_gives_the_entry_a_new_life_and_an_expired_one_is_gone() -> None:
    request, marks = blocks(2000), [Mark(0, "5m")]
    store = send(request, marks, {}, SONNET, AT).store
    store = send(request, marks, store, SONNET, AT + timedelta(minutes=4)).store
    assert send(request, marks, store, SONNET, AT + timedelta(minutes=8)).tokens.read == 2000
    assert send(request, marks, store, SONNET, AT + timedelta(minutes=9)).tokens.read == 0


def test_what_a_request_writes_can_be_read_once_its_answer_began() -> None:
    request, marks = blocks(2000), [Mark(0, "5m")]
    store = send(request, marks, {}, SONNET, AT, first_byte=AT + timedelta(seconds=3)).store
    assert send(request, marks, store, SONNET, AT + timedelta(seconds=1)).tokens.read == 0
    assert send(request, marks, store, SONNET, AT + timedelta(seconds=3)).tokens.read == 2000
