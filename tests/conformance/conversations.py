"""The conversations that every model must carry in the same way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from runtime.conversation import events as ev
from tests.conformance.conversation import Conversation, Steps, Talk
from tests.conformance.speakers import BIG, SMALL
from tests.runtime.desk import BOOK, DECISION, STOCK, desk, playbook, rule, says, stage
from tests.runtime.runner.play import calls, error

LONG: Final = "This answer is long enough to be shown before it is complete. " * 4
EMOJI: Final = "👩‍🔧🏽 é 日本 \u0301"
LISTING: Final[dict[str, Any]] = {
    "name": "list_shops",
    "description": "All shops",
    "parameters": {"type": "object", "properties": {}},
    "implementation": {"type": "mock", "responses": [{"result": ["Alfama", "Belém"]}]},
}
BROKEN: Final[dict[str, Any]] = {
    **STOCK,
    "implementation": {"type": "mock", "responses": [{"error": "The warehouse is closed."}]},
}


def said(*texts: str) -> Steps:
    """The user says these, one after the other."""

    async def steps(talk: Talk) -> None:
        await talk.say(*texts)

    return steps


def two_calls(**more: Any) -> dict[str, Any]:
    """A message that asks for both tools at once."""
    made = [
        {"id": "c1", "name": "stock", "args": {"kind": "city"}},
        {"id": "c2", "name": "book", "args": {"kind": "city", "day": "Mon"}},
    ]
    return {"tool_calls": made, **more}


def moves(target: str, call_id: str = "m1", **more: Any) -> dict[str, Any]:
    """The model asks for a transition."""
    return calls("playbook_transition", call_id, targetStage=target, **more)


def stopped(text: str, ready: Callable[[Talk], bool], then: str, way: str = "stop") -> Steps:
    """A turn is stopped, or interrupted by the next message, once `ready`."""

    async def steps(talk: Talk) -> None:
        acts: Mapping[str, Callable[[], Awaitable[Any]]] = {
            "stop": talk.session.stop,
            "interrupt": lambda: talk.session.send(then, interrupt=True),
        }
        await talk.say_and(text, ready, acts[way])
        if way == "stop":
            await talk.say(then)

    return steps


def shown(text: str) -> Callable[[Talk], bool]:
    """That text was shown."""
    return lambda talk: talk.shown.endswith(text)


def running(*names: str) -> Callable[[Talk], bool]:
    """These tools run."""
    return lambda talk: set(names) <= set(talk.tools.ran)


def one_of_two(slow: str, quick: str) -> Callable[[Talk], bool]:
    """One of these tools has answered, the other still runs."""

    def ready(talk: Talk) -> bool:
        return slow in talk.tools.ran and any(e.tool_name == quick for e in talk.of(ev.ToolCallComplete))

    return ready


def with_models() -> Any:
    """Choosing on the big model, goodbye on the small one."""
    pick = stage("pick", tools=[STOCK, BOOK], llmConfig={"model": BIG})
    close = stage("close", llmConfig={"model": SMALL})
    back = rule("t-back", "close", "pick", says("again", source="user"))
    return playbook([pick, close], [rule("t-close", "pick", "close", says("booked")), back])


def calling() -> Any:
    """Choosing a bike calls a stage that finds a seat and returns."""
    pick, seat = stage("pick", tools=[STOCK]), stage("seat", tools=[BOOK])
    rules = [
        rule("t-seat", "pick", "seat", DECISION, mode="call"),
        rule("t-return", "seat", None, DECISION, mode="return"),
    ]
    return playbook([pick, seat], rules)


def speaking_first() -> Any:
    """A stage that greets before anybody spoke."""
    return playbook([stage("greet", speakOnEnter=True)])


def with_tools(*tools: dict[str, Any], **more: Any) -> Any:
    """One stage with these tools."""
    return playbook([stage("pick", tools=list(tools), **more)])


ALL: Final[Mapping[str, Conversation]] = {
    "a reply": Conversation(desk(), [{"text": "Hello."}], said("hi")),
    "a reply in pieces of many scripts": Conversation(
        desk(), [{"chunks": ["He", "llo ", *EMOJI, "."]}], said(f"hi {EMOJI}")
    ),
    "several turns": Conversation(
        desk(start="close"),
        [{"text": f"Reply {n}."} for n in range(6)],
        said(*(f"message {n}" for n in range(6))),
    ),
    "a tool": Conversation(
        desk(start="pick"), [calls("stock", kind="city"), {"text": "Two are free."}], said("city?")
    ),
    "a tool without arguments": Conversation(
        with_tools(LISTING), [calls("list_shops"), {"text": "Two shops."}], said("where?")
    ),
    "two tools at once": Conversation(
        desk(start="pick"), [two_calls(), {"text": "Done."}], said("city, Monday")
    ),
    "a tool, and another one after its result": Conversation(
        desk(start="pick"),
        [calls("stock", kind="city"), calls("book", "c2", kind="city", day="Mon"), {"text": "Done."}],
        said("city, Monday"),
    ),
    "a word before the call": Conversation(
        desk(start="pick"), [two_calls(text="Let me look."), {"text": "Both done."}], said("city, Monday")
    ),
    "a tool that fails": Conversation(
        with_tools(BROKEN), [calls("stock", kind="city"), {"text": "We are closed."}], said("city?")
    ),
    "a tool that there is not": Conversation(
        desk(start="pick"), [calls("fly", where="up"), {"text": "I cannot fly."}], said("fly")
    ),
    "arguments that are cut off": Conversation(
        desk(start="pick"),
        [{"tool_calls": [{"id": "c1", "name": "stock", "raw_args": '{"ki'}]}, {"text": "Again?"}],
        said("city?"),
    ),
    "a call that ran into the output limit": Conversation(
        desk(start="pick"),
        [
            {"tool_calls": [{"id": "c1", "name": "stock", "raw_args": '{"kind": "ci'}], "stop": "max_tokens"},
            {"text": "Sorry."},
        ],
        said("city?"),
    ),
    "a reply that ran into the output limit": Conversation(
        desk(), [{"text": "Hel", "stop": "max_tokens"}, {"text": "Yes."}], said("hi", "you there?")
    ),
    "thinking before a call and before the reply": Conversation(
        desk(start="pick"),
        [
            {**calls("stock", kind="city"), "thinking": "A city bike."},
            {"text": "Two.", "thinking": "Two are free."},
            {"text": "Gladly."},
        ],
        said("city?", "thanks"),
    ),
    "a transition that the model asks for": Conversation(
        desk(), [moves("pick"), {"text": "Which bike?"}, {"text": "Fine."}], said("a bike", "city")
    ),
    "a transition beside a tool": Conversation(
        desk(rule("t-done", "pick", "close", DECISION), start="pick"),
        [
            {
                "tool_calls": [
                    {"id": "c1", "name": "stock", "args": {"kind": "city"}},
                    {"id": "m1", "name": "playbook_transition", "args": {"targetStage": "close"}},
                ]
            },
            {"text": "Goodbye."},
        ],
        said("bye"),
    ),
    "two transitions at once": Conversation(
        desk(),
        [
            {
                "tool_calls": [
                    {"id": "m1", "name": "playbook_transition", "args": {"targetStage": "pick"}},
                    {"id": "m2", "name": "playbook_transition", "args": {"targetStage": "close"}},
                ]
            },
            {"text": "Which bike?"},
        ],
        said("a bike"),
    ),
    "a transition that is not allowed": Conversation(
        desk(), [moves("close"), {"text": "Not yet."}], said("bye")
    ),
    "a transition in the middle of the tools": Conversation(
        desk(rule("t-done", "pick", "close", DECISION), start="pick"),
        [calls("stock", kind="city"), moves("close"), {"text": "Goodbye."}],
        said("city, and bye"),
    ),
    "a keyword of the reply moves on": Conversation(
        desk(start="pick"), [{"text": "It is booked."}, {"text": "Goodbye."}], said("Monday", "thanks")
    ),
    "a called stage that returns": Conversation(
        calling(),
        [
            moves("seat"),
            {"text": "Window or aisle?"},
            calls("book", kind="window", day="Mon"),
            moves("return", "m2", summary="A window seat.", data={"seat": "12A"}),
            {"text": "You have seat 12A."},
            {"text": "Bye."},
        ],
        said("a seat", "window", "bye"),
    ),
    "a stage that speaks first": Conversation(
        speaking_first(), [{"text": "Welcome!"}, {"text": "Hello."}], said("hi")
    ),
    "a model for each stage": Conversation(
        with_models(),
        [calls("stock", kind="city"), {"text": "It is booked."}, {"text": "Bye."}, {"text": "Which one?"}],
        said("city?", "thanks", "again"),
    ),
    "no answer, and then one": Conversation(
        desk(start="close"),
        [{"text": ""}, {"text": "\n"}, {"text": "Here I am."}],
        said("hm", "and now?", "hello?"),
    ),
    "an overload before any text": Conversation(
        desk(), [error(529, "overloaded_error"), {"text": "Hello."}], said("hi")
    ),
    "an overload after text was shown": Conversation(
        desk(start="close"),
        [
            {"chunks": ["Our bikes ", "are "], **error(200, "overloaded_error", after_chunks=2)},
            {"text": "Our bikes are blue."},
            {"text": "Fine."},
        ],
        said("colours?", "ok"),
    ),
    "too many requests": Conversation(
        desk(),
        [*[error(429, "rate_limit_error", headers={"retry-after": "3"})] * 2, {"text": "Hello."}],
        said("hi"),
    ),
    "a request that is refused": Conversation(
        desk(), [error(400, "invalid_request_error"), {"text": "Hello."}], said("hi", "again")
    ),
    "a wrong key, and a retry by hand": Conversation(
        desk(start="pick"),
        [calls("stock", kind="city"), error(401, "authentication_error"), {"text": "Two."}],
        lambda talk: _then_retry(talk, "city?"),
    ),
    "four overloads in a row": Conversation(
        desk(), [error(503)] * 4 + [{"text": "Hello."}], said("hi", "again")
    ),
    "stopped while the reply streams": Conversation(
        desk(start="close"),
        [{"chunks": ["The ", "bike"], "hang": True}, {"text": "Works."}],
        stopped("one", shown("bike"), "two"),
    ),
    "interrupted while the reply streams": Conversation(
        desk(start="pick"),
        [{"chunks": [LONG, "And more."], "hang": True}, {"text": "Works."}],
        stopped("one", shown("more."), "two", "interrupt"),
    ),
    "stopped while a tool runs": Conversation(
        desk(start="pick"),
        [calls("stock", kind="city"), {"text": "Works."}],
        stopped("city?", running("stock"), "hello?"),
        slow={"stock": 30.0},
    ),
    "stopped while one of two tools runs": Conversation(
        desk(start="pick"),
        [two_calls(), {"text": "Works."}],
        stopped("city, Monday", one_of_two("stock", "book"), "hello?"),
        slow={"stock": 30.0},
    ),
    "interrupted while a tool runs": Conversation(
        desk(start="pick"),
        [calls("stock", kind="city"), {"text": "Works."}],
        stopped("city?", running("stock"), "hello?", "interrupt"),
        slow={"stock": 30.0},
    ),
    "stopped three times in three ways": Conversation(
        desk(start="pick"),
        [
            {"chunks": [LONG], "hang": True},
            {"tool_calls": [{"id": "c1", "name": "stock", "raw_args": '{"ki'}], "hang": True},
            {"thinking": "not signed yet", "text": "", "hang": True},
            {"text": "Works."},
        ],
        lambda talk: _stop_three_times(talk),
    ),
}  # fmt: skip


async def _then_retry(talk: Talk, text: str) -> None:
    await talk.say(text)
    await talk.session.retry()


async def _stop_three_times(talk: Talk) -> None:
    await talk.say_and("one", shown(LONG), talk.session.stop)
    await talk.say_and("two", lambda _: talk.speaker.begun == 2, talk.session.stop)
    await talk.say_and("three", lambda _: talk.speaker.begun == 3, talk.session.stop)
    await talk.say("four")
