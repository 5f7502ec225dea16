"""Hand-made cases in which both engines do the same."""

from __future__ import annotations

from tests.llmrtc.case import (
    Case,
    Json,
    after_turns,
    called,
    decision,
    keyword,
    playbook,
    rule,
    stage,
    tool_named,
)
from tests.support.replays import asks, said, to, tool

LOOK = tool_named("look", "what")
COUNT = tool_named("count", "what")
DESK = playbook(stage("front", LOOK, COUNT))
TWO = playbook(stage("front", LOOK), stage("back", COUNT), rules=[rule("go", "front", decision(), "back")])
FOUND: dict[str, Json] = {"look": {"returns": {"found": True}}, "count": {"returns": 3}}
SERVER_ERROR = {"error": {"status": 500, "type": "api_error", "message": "overloaded"}}
BAD_REQUEST = {"error": {"status": 400, "type": "invalid_request_error", "message": "no"}}


def looks(call_id: str, **args: str) -> Json:
    return asks(tool(call_id, "look", **(args or {"what": "red"})))


def moves(call_id: str, target: str) -> Json:
    return asks(to(call_id, target, reason="They asked."))


AGREEING = [
    Case("talk", playbook(stage("front")), [said("Hi", "Hello."), said("Bye", "Goodbye.")]),
    Case(
        "a tool, then the reply",
        DESK,
        [said("Red?", looks("c1"), "Yes."), said("Thanks", "Welcome.")],
        tools=FOUND,
    ),
    Case(
        "two tools in one message",
        DESK,
        [said("Red?", asks(tool("c1", "look", what="red"), tool("c2", "count", what="red")), "Three.")],
        tools=FOUND,
    ),
    Case(
        "tools in several messages",
        DESK,
        [said("Red?", looks("c1"), looks("c2", what="blue"), looks("c3"), "Both.")],
        tools=FOUND,
    ),
    Case("the model moves on, and the next stage answers", TWO, [said("Back", moves("c1", "back"), "Here.")]),
    Case(
        "a tool before the move in the same message",
        TWO,
        [
            said(
                "Back",
                asks(tool("c1", "look", what="x"), to("c2", "back", reason="They asked.")),
                "Here.",
            )
        ],
        tools=FOUND,
    ),
    Case(
        "a tool, then the move",
        TWO,
        [said("Back", looks("c1"), moves("c2", "back"), "Here."), said("More", "Yes?")],
        tools=FOUND,
    ),
    Case(
        "there and back again",
        playbook(
            stage("front"),
            stage("back"),
            rules=[
                rule("there", "front", decision(), "back"),
                rule("home", "back", decision(), "front"),
            ],
        ),
        [
            said("Go", moves("c1", "back"), "Back."),
            said("Go", moves("c2", "front"), "Front."),
            said("Go", moves("c3", "back"), "Back."),
        ],
    ),
    Case(
        "a keyword of the reply",
        playbook(stage("front"), stage("back"), rules=[rule("word", "front", keyword("goodbye"), "back")]),
        [said("goodbye", "Not yet."), said("Done", "Then Goodbye!"), said("Hm", "Goodbye.")],
    ),
    Case(
        "a keyword inside another word",
        playbook(stage("front"), stage("back"), rules=[rule("cat", "front", keyword("Cat"), "back")]),
        [said("Hm", "This category.")],
    ),
    Case(
        "one of several keywords",
        playbook(stage("front"), stage("back"), rules=[rule("w", "front", keyword("one", "two"), "back")]),
        [said("Hm", "zero"), said("Hm", "two")],
    ),
    Case(
        "after two turns",
        playbook(stage("front"), stage("back"), rules=[rule("two", "front", after_turns(2), "back")]),
        [said("1", "a"), said("2", "b"), said("3", "c")],
    ),
    Case(
        "turns are counted anew in each visit",
        playbook(
            stage("front"),
            stage("back"),
            rules=[
                rule("there", "front", after_turns(2), "back"),
                rule("home", "back", after_turns(2), "front"),
            ],
        ),
        [said(str(number), "ok") for number in range(7)],
    ),
    Case(
        "the turn of a move counts where it was answered",
        playbook(
            stage("front"),
            stage("back"),
            stage("end"),
            rules=[
                rule("there", "front", decision(), "back"),
                rule("on", "back", after_turns(2), "end"),
            ],
        ),
        [said("Go", moves("c1", "back"), "Back."), said("Hm", "ok"), said("Hm", "ok")],
    ),
    Case(
        "priority before document order",
        playbook(
            stage("front"),
            stage("low"),
            stage("high"),
            rules=[
                rule("first", "front", keyword("go"), "low"),
                rule("second", "front", keyword("go"), "high", priority=5),
            ],
        ),
        [said("Hm", "go")],
    ),
    Case(
        "document order among equals",
        playbook(
            stage("front"),
            stage("one"),
            stage("two"),
            rules=[
                rule("first", "front", keyword("go"), "one", priority=2),
                rule("second", "front", keyword("go"), "two", priority=2),
            ],
        ),
        [said("Hm", "go")],
    ),
    Case(
        "from any stage",
        playbook(
            stage("front"),
            stage("back"),
            stage("person"),
            rules=[
                rule("there", "front", keyword("back"), "back"),
                rule("help", "*", keyword("person"), "person"),
            ],
        ),
        [said("Hm", "Go back."), said("Hm", "A person comes.")],
    ),
    Case(
        "a tool that is called",
        playbook(stage("front", LOOK), stage("back"), rules=[rule("found", "front", called("look"), "back")]),
        # LLMRTC shows what the old stage wrote, we what the next one writes: see target-answers-a-tool-call.
        [said("Red?", looks("c1"), "Yes.", "Yes."), said("Hm", "ok")],
        tools=FOUND,
    ),
    Case(
        "a required argument is missing",
        DESK,
        [said("Red?", asks(tool("c1", "look")), looks("c2"), "Yes.")],
        tools=FOUND,
    ),
    Case(
        "a tool that fails",
        DESK,
        [said("Red?", looks("c1"), "I cannot see it.")],
        tools={"look": {"raises": "The shop is closed."}},
    ),
    Case("a tool that does not exist", DESK, [said("Red?", asks(tool("c1", "fly")), "No.")]),
    Case(
        "tools of every stage",
        playbook(
            stage("front"),
            stage("back"),
            globalTools=[LOOK],
            rules=[rule("there", "front", keyword("back"), "back")],
        ),
        [said("Red?", looks("c1"), "Go back."), said("Red?", looks("c2"), "Yes.")],
        tools=FOUND,
    ),
    Case("one error of the server", DESK, [said("Hi", SERVER_ERROR, "Hello.")]),
    Case("a request that is refused", DESK, [said("Hi", BAD_REQUEST), said("Hi", "Hello.")]),
    Case(
        "text before a call is no reply",
        DESK,
        [said("Red?", asks(tool("c1", "look", what="red"), text="One moment."), "Yes.")],
        tools=FOUND,
    ),
    Case(
        "the limit of calls, one at a time",
        DESK,
        [said("Red?", looks("c1"), looks("c2"), "Yes."), said("Hi", looks("c3"), "Hello.")],
        tools=FOUND,
        options={"maxToolCallsPerTurn": 2},
    ),
    Case(
        "one phase",
        playbook(stage("front", LOOK, twoPhaseExecution=False)),
        [said("Red?", looks("c1"), "Yes.")],
        tools=FOUND,
    ),
    Case(
        "streamed",
        TWO,
        [said("Red?", looks("c1"), "Yes."), said("Go", moves("c2", "back"), "Here.")],
        tools=FOUND,
        mode="stream",
    ),
    Case(
        "what was said is in the next request",
        DESK,
        [said("The word is amber.", "Noted."), said("Which word?", "It was said.")],
        look_for=["amber", "Noted."],
    ),
    Case(
        "a cleared history is gone",
        playbook(
            stage("front"),
            stage("back"),
            rules=[rule("there", "front", keyword("onwards"), "back", clearHistory=True)],
        ),
        [said("The word is amber.", "Then onwards."), said("Which word?", "I never heard one.")],
        look_for=["amber", "Which word?"],
    ),
    Case(
        "braces in a prompt",
        playbook(
            stage("front"),
            stage("back", systemPrompt="Order {data.order} {{x}} {turn.count}."),
            rules=[rule("go", "front", decision(), "back", data={"order": "A7"})],
        ),
        [said("Go", moves("c1", "back"), "Here.")],
        look_for=["Order A7.", "Order {data.order} {{x}} {turn.count}."],
    ),
]
