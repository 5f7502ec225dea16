"""Any session with a small budget: never over it, never an invalid request, nothing rewritten unlogged."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.compaction import count_messages
from runtime.context.models import record
from runtime.context.sent import is_bound
from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.conversation.window_events import WindowRewritten
from runtime.llm.anthropic_wire import render_anthropic
from tests.runtime.context.talk import Talk, call, playbook
from tests.runtime.context.test_properties import ACTIONS, MODELS, Player
from tests.runtime.llm.requests import request_of
from tests.runtime.llm.valid import problems
from tests.support.examples import a_share

WORDS = "The rider asks for one thing after the other and wants to know it all. "
LONG_ACTIONS = ("long", "much", "rounds")


class Short(Player):
    """A session with a budget of so many tokens and long things to say."""

    def __init__(self, model: str, layout: str, context: dict[str, Any], limit: int | None = None) -> None:
        super().__init__(model, layout)
        options = {} if limit is None else {"historyLimit": limit}
        book = playbook(context={"layout": layout, "fullStateInterval": 2, **context}, options=options)
        self.talk = Talk(book, record(model)).start("pick")

    def ask(self, **more: Any) -> None:
        talk = self.talk
        super().ask(**more)
        if talk.over is None:
            assert talk.windows[-1].tokens <= talk.policy().budget_tokens
        assert problems(render_anthropic(request_of(talk), talk.model)) == []

    def do_long(self, name: str) -> None:
        self.talk.turn(f"{name} " + WORDS * 6)
        self.ask()
        self.talk.says(WORDS * 6, thinking="hm").end("yes")

    def do_much(self, name: str) -> None:
        self.talk.turn("look")
        self.ask()
        self.talk.says(thinking="hm", calls=[call(name, kind="x")])
        self.talk.result(name, "stock", {"text": WORDS * 20})
        self.ask()
        self.talk.says("much").end("much")

    def do_rounds(self, name: str) -> None:
        self.talk.turn(f"{name} " + WORDS)
        for round_ in range(3):
            self.ask()
            self.talk.says(thinking="hm", calls=[call(f"{name}r{round_}", kind="x")])
            self.talk.result(f"{name}r{round_}", "stock", {"text": WORDS * 8})
        self.ask()
        self.talk.says("done").end("done")


actions = st.lists(st.sampled_from((*ACTIONS, *LONG_ACTIONS * 3)), min_size=3, max_size=14)
budgets = st.fixed_dictionaries(
    {"budgetTokens": st.integers(1_800, 5_000)},
    optional={
        "budgetTarget": st.integers(500, 4_000),
        "keepRecent": st.integers(0, 2_000),
        "compaction": st.just(True),
        "cachePoints": st.integers(0, 4),
    },
)


@a_share(Fraction(3, 4))
@given(actions, st.sampled_from(MODELS), st.sampled_from(["append", "append", "swap"]), budgets)
def test_no_request_passes_the_budget_and_each_is_valid(
    played: list[str], model: str, layout: str, context: dict[str, Any]
) -> None:
    player = Short(model, layout, context)
    for action in (*played, "reply"):
        player.play(action)


class Trimmed(Short):
    """What a request has above the limit belongs to its own turn, or was not sent before."""

    def ask(self, **more: Any) -> None:
        super().ask(**more)
        talk = self.talk
        window, limit = talk.windows[-1], talk.playbook.options.history_limit
        assert limit is not None
        if count_messages(window.segments) > limit:
            first = min(
                [talk.state.windows.agent().turn.first_seq, *talk.state.windows.agent().open_messages]
            )
            sent = window.segments[: len(window.segments) - window.added]
            old = [segment for segment in sent if segment.sources and max(segment.sources) < first]
            assert count_messages([segment for segment in old if segment.kind != "summary"]) == 0


@a_share(Fraction(3, 10))
@given(actions, st.integers(1, 9))
def test_only_the_running_turn_passes_the_limit_of_messages(played: list[str], limit: int) -> None:
    player = Trimmed("claude-sonnet-5", "swap", {}, limit)
    for action in (*played, "reply"):
        player.play(action)


@a_share(Fraction(3, 10))
@given(actions, budgets)
def test_no_word_is_lost_that_no_summary_stands_for(played: list[str], context: dict[str, Any]) -> None:
    player = Short("claude-sonnet-5", "append", context)
    for action in (*played, "reply"):
        player.play(action)
    talk = player.talk
    if any(rewrite.rule == "clear" for rewrite in talk.rewrites):
        return
    replaced = talk.state.windows.agent().replaced
    present = {segment.id for segment in talk.windows[-1].segments}
    for segment in (s for window in talk.windows for s in window.segments if s.kind == "dialogue"):
        stands = segment.id
        while stands not in present and stands in replaced and replaced[stands].id != stands:
            stands = replaced[stands].id
        assert stands in present


@a_share(Fraction(3, 10))
@given(actions, budgets)
def test_no_thinking_is_sent_behind_a_place_that_was_rewritten_after_it_was_made(
    played: list[str], context: dict[str, Any]
) -> None:
    player = Short("claude-opus-5-5", "append", context)
    for action in (*played, "reply"):
        player.play(action)
    made_at: dict[str, list[str]] = {}
    windows = iter(player.talk.windows)
    last: list[str] = []
    for event in player.talk.log:
        if isinstance(event, ev.LLMCallStarted) and event.lane:
            segments = next(windows).segments
            last = [segment.hash for segment in segments]
            for index, segment in enumerate(segments):
                if is_bound(segment):
                    before = made_at[f"e{segment.sources[0]}"]
                    assert last[: len(before)] == before[:index] + before[index:]
        elif isinstance(event, ev.LLMCallCompleted):
            made_at[f"e{event.seq}"] = last


@a_share(Fraction(3, 10))
@given(actions, budgets)
def test_a_compaction_follows_another_only_on_growth(played: list[str], context: dict[str, Any]) -> None:
    player = Short("claude-sonnet-5", "append", context)
    for action in (*played, "reply"):
        player.play(action)
    rests = [d.numbers for d in player.talk.decisions if d.decision and d.rule == "must"]
    for before, after in pairwise(rests):
        assert after["tokens"] > before["rest"]


@a_share(Fraction(1, 5))
@given(actions, budgets)
def test_a_log_read_back_gives_the_same_state_after_compactions(
    played: list[str], context: dict[str, Any]
) -> None:
    player = Short("claude-sonnet-5", "append", context)
    for action in played:
        player.play(action)
    talk = player.talk
    stored = [ev.EVENT.validate_python(json.loads(ev.EVENT.dump_json(event))) for event in talk.log]
    assert fold("s", stored).windows == talk.state.windows
    assert all(isinstance(e.numbers, dict) for e in talk.log if isinstance(e, WindowRewritten))
