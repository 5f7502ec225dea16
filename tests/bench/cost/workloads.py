"""The conversations that are measured. Sizes are in tokens as a person guesses them (words.py); everything is
seeded: the same each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.bench.cost.scripts import Script, Workload, Writer, move, prompt, text_tool
from tests.llmrtc.case import Json, playbook, stage

BASE: Final = 2_000
LONG_PAUSE_SHARE: Final = 0.06
"""Of all calls: those before which the user is away for 1 to 15 minutes."""
NOTES: Final = ("name", "address", "order", "colour", "wish")
VARIABLES: Final[list[Json]] = [
    {"name": f"fact_{number}", "default": f"{word} {number * 37}"}
    for number, word in enumerate(("blue", "north", "spare", "late", "paid", "small") * 3)
]
"""What is known from the beginning: about 200 tokens of state."""
OPTIONS: Final[Json] = {
    "phase1TimeoutMs": 1_200_000,
    "turnTimeoutMs": 1_200_000,
    "maxToolCallsPerTurn": 40,
    "maxTransitionsPerTurn": 20,
}


def pause(writer: Writer, calls_a_turn: float, long: float = LONG_PAUSE_SHARE) -> float:
    """Seconds before the user speaks: reading and typing, or away for a while."""
    if writer.chance.random() < long * calls_a_turn:
        return writer.chance.uniform(60, 900)
    return writer.chance.uniform(8, 45)


def notes() -> list[Json]:
    """Tools that set a variable: the state changes."""
    return [text_tool(f"note_{what}", 20, saveAs=what) for what in NOTES]


def takes_a_note(writer: Writer, share: float) -> None:
    """Sometimes the model notes something down."""
    if writer.chance.random() < share:
        writer.asks(f"note_{writer.chance.choice(NOTES)}", writer.text(8), query=writer.text(4))


# -- (a) stack sessions -----------------------------------------------------------------------------------

STACK_CALLS, STACK_SESSIONS, STACK_DEPTH = 120, 40, 3
CALLED: Final = ("lookup", "check", "draft")


def stack_playbook() -> Json:
    """A desk that calls three stages, which call one another."""
    return playbook(
        *(
            stage(name, text_tool(f"{name}_tool"), systemPrompt=prompt(name, 300))
            for name in ("desk", *CALLED)
        ),
        rules=[
            *(move(f"call_{name}", name, mode="call") for name in CALLED),
            *(move(f"back_{name}", "return", start=name, mode="return") for name in CALLED),
        ],
        globalSystemPrompt=prompt("base", BASE),
        globalTools=notes(),
        variables=VARIABLES,
        options=OPTIONS,
    )


def stack_script(seed: int) -> Script:
    """Turns of about three calls; frames are called, do their work over a few turns, and return."""
    writer, stack = Writer(f"stack {seed}"), ["desk"]
    while writer.calls < STACK_CALLS:
        writer.user(pause(writer, 3.0), 10, 120)
        for _ in range(writer.chance.choice((1, 2, 2, 3))):
            _stack_step(writer, stack)
        takes_a_note(writer, 0.3)
        writer.replies(20, 200)
    return writer.script()


def _stack_step(writer: Writer, stack: list[str]) -> None:
    dice = writer.chance.random()
    if len(stack) < STACK_DEPTH and dice < 0.22:
        target = writer.chance.choice([name for name in CALLED if name not in stack])
        stack.append(target)
        writer.moves(target)
    elif len(stack) > 1 and dice < 0.42:
        stack.pop()
        writer.moves("return", summary=writer.text(110))
    else:
        writer.asks(f"{stack[-1]}_tool", writer.text(writer.size(60, 1_200)), query=writer.text(8))


def stack_sessions(count: int = STACK_SESSIONS) -> Workload:
    """40 random stack sessions of 120 calls."""
    scripts = tuple(stack_script(seed) for seed in range(count))
    return Workload("a", "stack sessions", stack_playbook(), scripts)


# -- (b) a support chat -------------------------------------------------------------------------------------

SUPPORT_TURNS, SUPPORT_SESSIONS, RESULT_CHARACTERS = 30, 10, 600


def support_chat(count: int = SUPPORT_SESSIONS) -> Workload:
    """30 turns, each with one tool result of 600 characters."""
    document = playbook(
        stage(
            "help",
            text_tool("find_order"),
            text_tool("find_customer"),
            text_tool("find_policy"),
            systemPrompt=prompt("help", 400),
        ),
        globalSystemPrompt=prompt("base", BASE),
        globalTools=notes(),
        variables=VARIABLES,
        options=OPTIONS,
    )
    return Workload("b", "support chat", document, tuple(_support(seed) for seed in range(count)))


def _support(seed: int) -> Script:
    writer = Writer(f"support {seed}")
    for _ in range(SUPPORT_TURNS):
        writer.user(pause(writer, 2.0), 10, 60)
        result = writer.text(RESULT_CHARACTERS / 4 + 20)[:RESULT_CHARACTERS]
        writer.asks(writer.chance.choice(("find_order", "find_customer", "find_policy")), result, query="it")
        takes_a_note(writer, 0.2)
        writer.replies(30, 150)
    return writer.script()


# -- (c) a long chat ----------------------------------------------------------------------------------------

LONG_TURNS, LONG_SESSIONS, LONG_BUDGET = 200, 3, 24_000


def long_chat(count: int = LONG_SESSIONS) -> Workload:
    """200 turns without tools, in a window that they do not fit into."""
    document = playbook(
        stage("talk", systemPrompt=prompt("talk", 400)),
        globalSystemPrompt=prompt("base", BASE),
        context={"budgetTokens": LONG_BUDGET},
        options=OPTIONS,
    )
    return Workload("c", "long chat", document, tuple(_long(seed) for seed in range(count)), LONG_BUDGET)


def _long(seed: int) -> Script:
    writer = Writer(f"long {seed}")
    for _ in range(LONG_TURNS):
        writer.user(pause(writer, 1.0), 15, 120)
        writer.replies(40, 250)
    return writer.script()


# -- (d) research -------------------------------------------------------------------------------------------

ARTIFACTS, RESEARCH_SESSIONS, RESEARCH_BUDGET = 30, 2, 60_000
SMALLEST, LARGEST = 5_000, 200_000


def research(count: int = RESEARCH_SESSIONS) -> Workload:
    """30 documents of 5 to 200 kB are read, most of them in a called stage that returns what it found."""
    document = playbook(
        stage("plan", text_tool("search"), systemPrompt=prompt("plan", 400)),
        stage("read", text_tool("fetch"), systemPrompt=prompt("read", 300)),
        rules=[
            move("into", "read", start="plan", mode="call"),
            move("back", "", start="read", mode="return"),
        ],
        globalSystemPrompt=prompt("base", BASE),
        context={"budgetTokens": RESEARCH_BUDGET},
        options=OPTIONS,
    )
    scripts = tuple(_research(seed) for seed in range(count))
    return Workload("d", "research", document, scripts, RESEARCH_BUDGET)


def _research(seed: int) -> Script:
    writer, read = Writer(f"research {seed}"), 0
    while read < ARTIFACTS:
        writer.user(pause(writer, 5.0), 15, 80)
        writer.asks("search", writer.text(80), query=writer.text(8))
        writer.moves("read")
        for _ in range(min(ARTIFACTS - read, writer.chance.randint(1, 4))):
            size = writer.size(SMALLEST, LARGEST)
            writer.asks("fetch", writer.text(size / 4 + 20)[: int(size)], query=writer.text(8))
            read += 1
        writer.moves("return", summary=writer.text(200))
        writer.replies(150, 500)
    return writer.script()


# -- (e) ping-pong ------------------------------------------------------------------------------------------

CHANGES, PING_PONG_SESSIONS, STAGES = 60, 10, 6


def ping_pong(count: int = PING_PONG_SESSIONS) -> Workload:
    """60 moves between six stages, each with a long prompt and tools of its own."""
    names = [f"desk{number}" for number in range(1, STAGES + 1)]
    document = playbook(
        *(
            stage(
                name,
                *(text_tool(f"{name}_{what}", 45) for what in ("find", "write")),
                systemPrompt=prompt(name, 1_500),
            )
            for name in names
        ),
        rules=[move(f"to_{name}", name) for name in names],
        globalSystemPrompt=prompt("base", BASE),
        globalTools=notes(),
        variables=VARIABLES,
        options=OPTIONS,
    )
    scripts = tuple(_ping_pong(seed, names) for seed in range(count))
    return Workload("e", "stage ping-pong", document, scripts)


def _ping_pong(seed: int, names: list[str]) -> Script:
    writer, here = Writer(f"ping-pong {seed}"), names[0]
    for _ in range(CHANGES):
        writer.user(pause(writer, 3.0), 10, 80)
        here = writer.chance.choice([name for name in names if name != here])
        writer.moves(here)
        if writer.chance.random() < 0.5:
            writer.asks(f"{here}_find", writer.text(writer.size(30, 110)), query=writer.text(6))
        takes_a_note(writer, 0.2)
        writer.replies(30, 150)
    return writer.script()


WORKLOADS: Final[dict[str, Callable[..., Workload]]] = {
    "a": stack_sessions,
    "b": support_chat,
    "c": long_chat,
    "d": research,
    "e": ping_pong,
}
