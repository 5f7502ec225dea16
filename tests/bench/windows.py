"""What a window costs behind a long log: `python -m tests.bench.windows`. Printed figures; nothing is a test.

A session of tool turns is played. Then `build_window` and `plan_cache_points` are asked of a state that was
just read from its log (nothing is kept from earlier calls) and of the live one after one more entry. Times
are processor times in milliseconds, medians. The last line is a whole turn of `tests.bench.engine`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

from runtime.context.build import build_window
from runtime.context.cache_points import plan_cache_points
from runtime.conversation.fold import fold
from runtime.conversation.state import SessionState
from tests.bench.engine import our_times, typical
from tests.runtime.context.talk import Talk, call, playbook

ENTRIES = (100, 300, 1000, 3000)
SAMPLE = 15


def talked(entries: int) -> Talk:
    """A session with that many segments in its window, four or five a turn."""
    talk = Talk(playbook(globalSystemPrompt="Be kind and brief. " * 200), guarded=False).start("pick")
    while len(talk.state.windows.agent().segments) < entries:
        turn(talk)
    return talk


def turn(talk: Talk) -> None:
    """Words, a tool, a reply."""
    number = talk.state.turn
    talk.turn(f"Is bike number {number} free?")
    talk.ask()
    talk.says(calls=[call(f"c{number}", kind=f"bike {number}")])
    talk.result(f"c{number}", "stock", {"free": number % 3})
    talk.ask()
    talk.says(f"Bike {number} is there. " * 4).end("yes").wait(20)


def window_time(talk: Talk, state: SessionState) -> float:
    """Milliseconds of one window with its plan."""
    policy = talk.policy()
    began = time.process_time()
    window = build_window(talk.playbook, state, talk.model, policy, now=talk.now)
    plan_cache_points(window, state, talk.model, policy, talk.now)
    return (time.process_time() - began) * 1000


def from_nothing(talk: Talk) -> list[float]:
    """Of states that no window was ever built for."""
    return [window_time(talk, fold("s", talk.log)) for _ in range(SAMPLE)]


def one_more(talk: Talk) -> list[float]:
    """Of the live session, each time with one more entry."""
    times = []
    for _ in range(SAMPLE):
        talk.turn("And this one?")
        times.append(window_time(talk, talk.state))
        talk.ask()
        talk.says("Yes.").end("Yes.")
    return times


def report(sizes: Sequence[int] = ENTRIES) -> None:
    """Prints the figures."""
    print("segments  from nothing ms   one entry more ms")
    for entries in sizes:
        talk = talked(entries)
        print(f"{entries:7,}{median(from_nothing(talk)):18.2f}{median(one_more(talk)):20.2f}")
    times, entries = our_times(150, built=True)
    print(f"a turn of three calls, windows built: {typical(times, 150):.2f} ms (behind {entries:,} segments)")


if __name__ == "__main__":
    report()
