"""One case for each intended difference; `docs/llmrtc-differences.md` gives the reasons, by the same ids."""

from __future__ import annotations

from typing import Any

from tests.llmrtc.agreeing import DESK, FOUND, LOOK, SERVER_ERROR, TWO, looks, moves
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
)
from tests.support.replays import asks, said, to, tool


def ran(call_id: str, name: str, result: Any = None) -> Json:
    """A call that succeeded, as both report it."""
    return {"id": call_id, "name": name, "success": True, "result": result}


def refused(call_id: str, name: str) -> Json:
    """A call that got an error."""
    return {"id": call_id, "name": name, "success": False, "result": None}


TIMEOUT = {"type": "timeout", "durationMs": 60_000}
LONG = "I am looking for it in all of our shops. " * 5

MOVES = [
    Case(
        "text of the old stage",
        playbook(stage("front", LOOK), stage("back"), rules=[rule("found", "front", called("look"), "back")]),
        [said("Red?", looks("c1"), "The old stage.", "The new stage.")],
        tools=FOUND,
        difference="target-answers-a-tool-call",
        differs={
            "0.reply": ("The old stage.", "The new stage."),
        },
    ),
    Case(
        "a stage for one turn",
        playbook(
            stage("front"),
            stage("once"),
            stage("end"),
            rules=[rule("go", "front", decision(), "once"), rule("on", "once", after_turns(1), "end")],
        ),
        [said("Go", moves("c1", "once"), "Here."), said("Hm", "ok")],
        difference="rules-look-at-every-reply",
        differs={
            "0.path": (["once"], ["once", "end"]),
            "0.fired": (["go"], ["go", "on"]),
            "0.stage": ("once", "end"),
            "1.path": (["end"], []),
            "1.fired": (["on"], []),
        },
    ),
    Case(
        "a keyword in a turn with a tool",
        playbook(
            stage("front", LOOK),
            stage("back"),
            rules=[
                rule("word", "front", keyword("back"), "back"),
                rule("on", "back", after_turns(2), "front"),
            ],
        ),
        [said("Red?", looks("c1"), "Go back."), said("1", "a"), said("2", "b")],
        tools=FOUND,
        difference="a-turn-counts-where-it-was-answered",
        differs={
            "1.path": (["front"], []),
            "1.fired": (["on"], []),
            "1.stage": ("front", "back"),
            "2.path": ([], ["front"]),
            "2.fired": ([], ["on"]),
        },
    ),
    Case(
        "a stage that no rule leads to",
        playbook(
            stage("front"), stage("back"), stage("cellar"), rules=[rule("go", "front", decision(), "back")]
        ),
        [said("Cellar", moves("c1", "cellar"), "No.")],
        difference="no-move-without-a-rule",
        differs={
            "0.path": (["cellar"], []),
            "0.fired": (["implicit"], []),
            "0.tools": ([ran("c1", "playbook_transition")], [refused("c1", "playbook_transition")]),
            "0.stage": ("cellar", "front"),
        },
    ),
    Case(
        "a stage that does not exist",
        TWO,
        [said("Moon", moves("c1", "moon"), "No.")],
        difference="a-decision-names-its-target",
        differs={
            "0.path": (["back"], []),
            "0.fired": (["go"], []),
            "0.tools": ([ran("c1", "playbook_transition")], [refused("c1", "playbook_transition")]),
            "0.stage": ("back", "front"),
        },
    ),
    Case(
        "named before any",
        playbook(
            stage("front"),
            stage("one"),
            stage("two"),
            rules=[rule("any", "*", keyword("go"), "one"), rule("own", "front", keyword("go"), "two")],
        ),
        [said("Hm", "go")],
        difference="named-before-any",
        differs={
            "0.path": (["one"], ["two"]),
            "0.fired": (["any"], ["own"]),
            "0.stage": ("one", "two"),
        },
    ),
    Case(
        "any, into itself",
        playbook(stage("front"), rules=[rule("any", "*", keyword("go"), "front")]),
        [said("Hm", "go")],
        difference="any-does-not-enter-again",
        differs={
            "0.path": (["front"], []),
            "0.fired": (["any"], []),
        },
    ),
    Case(
        "clearing while an answer is owed",
        playbook(
            stage("front"), stage("back"), rules=[rule("go", "front", decision(), "back", clearHistory=True)]
        ),
        [said("The word is amber.", moves("c1", "back"), "Which word?")],
        look_for=["amber"],
        difference="clearing-keeps-the-open-question",
        differs={
            "0.found": ([], ["amber"]),
        },
    ),
    Case(
        "a message on the way",
        playbook(
            stage("front"),
            stage("back"),
            rules=[rule("go", "front", decision(), "back", transitionMessage="They were checked.")],
        ),
        [said("Go", moves("c1", "back"), "Here.")],
        look_for=["They were checked."],
        difference="transition-messages-are-said",
        differs={
            "0.found": ([], ["They were checked."]),
        },
    ),
    Case(
        "streamed, and a move",
        TWO,
        [said("Go", moves("c1", "back"), "Here.")],
        mode="stream",
        look_for=["You are at desk back."],
        difference="streamed-or-not-is-the-same",
        differs={
            "0.found": ([], ["You are at desk back."]),
        },
    ),
]

LIMITS = [
    Case(
        "three turns at most",
        playbook(
            stage("front", maxTurns=2),
            stage("back"),
            rules=[rule("word", "front", keyword("never"), "back")],
        ),
        [said("1", "a"), said("2", "b"), said("3", "c")],
        difference="max-turns-of-a-stage",
        differs={
            "1.path": ([], ["back"]),
            "1.fired": ([], ["word"]),
            "1.stage": ("front", "back"),
            "2.stage": ("front", "back"),
        },
    ),
    Case(
        "a minute at most",
        playbook(
            stage("front", timeoutMs=60_000),
            stage("back"),
            rules=[rule("word", "front", keyword("never"), "back")],
        ),
        [said("1", "a"), {"wait_s": 90}, said("2", "b")],
        difference="timeout-of-a-stage",
        differs={
            "1.path": ([], ["back"]),
            "1.fired": ([], ["word"]),
            "1.stage": ("front", "back"),
            "2.stage": ("front", "back"),
        },
    ),
    Case(
        "silence",
        playbook(stage("front"), stage("back"), rules=[rule("late", "front", TIMEOUT, "back")]),
        [said("1", "a"), {"wait_s": 90}, said("2", "b")],
        difference="timeouts-fire-in-silence",
        differs={
            "1.path": ([], ["back"]),
            "1.fired": ([], ["late"]),
            "1.stage": ("front", "back"),
            "2.path": (["back"], []),
            "2.fired": (["late"], []),
        },
    ),
    Case(
        "three calls at once, two allowed",
        DESK,
        [said("Red?", asks(*(tool(f"c{n}", "look", what="x") for n in (1, 2, 3))), "Two.")],
        tools=FOUND,
        options={"maxToolCallsPerTurn": 2},
        difference="calls-are-counted",
        differs={
            "0.tools": (
                [ran(call, "look", {"found": True}) for call in ("c1", "c2", "c3")],
                [
                    ran("c1", "look", {"found": True}),
                    ran("c2", "look", {"found": True}),
                    refused("c3", "look"),
                ],
            ),
        },
    ),
    Case(
        "four errors",
        DESK,
        [said("Hi", *[SERVER_ERROR] * 3, "Hello.")],
        difference="three-retries-are-three",
        differs={
            "0.reply": ("", "Hello."),
            "0.failed": (True, False),
        },
    ),
    Case(
        "a short memory",
        DESK,
        [said("The word is amber.", "Noted."), said("Hm", "ok"), said("Hm", "ok"), said("Which?", "Amber.")],
        options={"historyLimit": 4},
        look_for=["amber"],
        difference="history-is-bounded-by-tokens",
        differs={
            "2.found": ([], ["amber"]),
            "3.found": ([], ["amber"]),
        },
    ),
]

TOOLS = [
    Case(
        "a call after the move",
        TWO,
        [said("Go", asks(to("c1", "back", reason="x"), tool("c2", "look", what="x")), "Here.")],
        tools=FOUND,
        difference="calls-beside-a-move-run",
        differs={
            "0.tools": (
                [ran("c1", "playbook_transition"), refused("c2", "look")],
                [ran("c1", "playbook_transition"), ran("c2", "look", {"found": True})],
            ),
        },
    ),
    Case(
        "two slow calls",
        DESK,
        [said("Red?", asks(tool("c1", "look", what="x"), tool("c2", "count", what="x")), "Yes.")],
        tools={"look": {"returns": 1, "sleep_s": 2}, "count": {"returns": 2, "sleep_s": 1}},
        in_order=True,
        difference="parallel-calls-run-together",
        differs={
            "0.order": (
                ["start c1", "end c1", "start c2", "end c2"],
                ["start c1", "start c2", "end c2", "end c1"],
            ),
        },
    ),
    Case(
        "a tool of another stage",
        TWO,
        [said("Count", asks(tool("c1", "count", what="x")), "No.")],
        tools=FOUND,
        difference="tools-belong-to-stages",
        differs={
            "0.tools": ([ran("c1", "count", 3)], [refused("c1", "count")]),
        },
    ),
    Case(
        "a name too many, deep inside",
        playbook(
            stage(
                "front",
                {
                    "name": "look",
                    "description": "Looks.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "order": {
                                "type": "object",
                                "properties": {"id": {"type": "string"}},
                                "additionalProperties": False,
                            }
                        },
                    },
                },
            )
        ),
        [said("Hm", asks(tool("c1", "look", order={"id": "A", "colour": "red"})), "ok")],
        tools=FOUND,
        difference="arguments-are-checked-in-full",
        differs={
            "0.tools": ([ran("c1", "look", {"found": True})], [refused("c1", "look")]),
        },
    ),
    Case(
        "forty seconds",
        DESK,
        [said("Red?", looks("c1"), "Yes.")],
        tools={"look": {"returns": 1, "sleep_s": 40}},
        difference="a-tool-has-the-time-of-the-turn",
        differs={
            "0.tools": ([refused("c1", "look")], [ran("c1", "look", 1)]),
        },
    ),
    Case(
        "a required call that is not made",
        playbook(stage("front", LOOK, toolChoice="required")),
        [said("Red?", "I think so.", "I do think so.")],
        difference="a-required-call-is-asked-for-again",
        differs={
            "0.reply": ("I think so.", "I do think so."),
        },
    ),
]

REPLIES = [
    Case(
        "one phase, with words before the call",
        playbook(stage("front", LOOK, twoPhaseExecution=False)),
        [said("Red?", asks(tool("c1", "look", what="red"), text="One moment."), "Yes.")],
        tools=FOUND,
        difference="one-phase-shows-everything",
        differs={
            "0.reply": ("Yes.", "One moment.\n\nYes."),
        },
    ),
    Case(
        "one phase, and a move",
        playbook(
            stage("front", twoPhaseExecution=False),
            stage("back"),
            rules=[rule("go", "front", decision(), "back")],
        ),
        [said("Go", moves("c1", "back"), "Here.")],
        difference="a-move-is-always-answered",
        differs={
            "0.reply": ("", "Here."),
        },
    ),
    Case(
        "a long text before a call",
        DESK,
        [said("Red?", asks(tool("c1", "look", what="red"), text=LONG), "Yes.")],
        tools=FOUND,
        difference="long-text-is-shown",
        differs={
            "0.reply": ("Yes.", LONG + "\n\nYes."),
        },
    ),
    Case(
        "nothing, in a stage without tools",
        playbook(stage("front")),
        [said("Hi", "", "Hello.")],
        difference="silence-without-tools",
        differs={
            "0.reply": ("Hello.", ""),
        },
    ),
]

REQUESTS = [
    Case(
        "a model of its own",
        playbook(stage("front", llmConfig={"model": "claude-haiku-4-5"})),
        [said("Hi", "Hello.")],
        look_for=["claude-haiku-4-5"],
        difference="model-of-a-stage",
        differs={
            "0.found": ([], ["claude-haiku-4-5"]),
        },
    ),
    Case(
        "the stage before",
        playbook(stage("front"), stage("back"), rules=[rule("word", "front", keyword("back"), "back")]),
        [said("Hi", "Go back."), said("Hm", "ok")],
        look_for=["You are at desk front.", "You are at desk back."],
        difference="earlier-prompts-stay",
        differs={
            "1.found": (["You are at desk back."], ["You are at desk front.", "You are at desk back."]),
        },
    ),
]

DIFFERING = [*MOVES, *LIMITS, *TOOLS, *REPLIES, *REQUESTS]
