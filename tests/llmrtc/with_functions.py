"""Cases with what LLMRTC has functions and a host program for: conditions, hooks, intents."""

from __future__ import annotations

from tests.llmrtc.agreeing import FOUND, LOOK, looks, moves
from tests.llmrtc.case import Case, custom, decision, intent, keyword, playbook, rule, stage
from tests.support.replays import said

DESKS = ["You are at desk front.", "You are at desk back."]


def to_back(function: str) -> list[dict[str, object]]:
    return [rule("go", "front", custom(function), "back")]


AGREEING = [
    Case(
        "a condition counts turns",
        playbook(stage("front"), stage("back"), rules=to_back("second-turn")),
        [said("1", "a"), said("2", "b"), said("3", "c")],
    ),
    Case(
        "a condition reads the reply",
        playbook(stage("front"), stage("back"), rules=to_back("says-order")),
        [said("Order A7", "Your order?"), said("A7", "Order A7 is on its way."), said("Hm", "Order B.")],
    ),
    Case(
        "a condition reads how long a reply is",
        playbook(stage("front"), stage("back"), rules=to_back("long-reply")),
        [said("Hm", "Twenty characters, ok"[:20]), said("Hm", "Twenty characters, ok")],
    ),
    Case(
        "a condition reads what a tool was asked",
        playbook(stage("front", LOOK), stage("back"), rules=to_back("looked-for-red")),
        [said("Blue?", looks("c1", what="blue"), "No."), said("Red?", looks("c2"), "Yes."), said("Hm", "ok")],
        tools=FOUND,
    ),
    Case(
        "a condition knows its stage",
        playbook(
            stage("front"),
            stage("back"),
            stage("end"),
            rules=[
                rule("word", "front", keyword("onwards"), "back"),
                rule("own", "*", custom("in-front"), "end"),
            ],
        ),
        [said("Hm", "onwards"), said("Hm", "ok"), said("Hm", "ok")],
    ),
    Case(
        "a condition that takes its time",
        playbook(stage("front"), stage("back"), rules=to_back("later")),
        [said("Hm", "ok"), said("Hm", "ok")],
    ),
    Case(
        "a condition among other rules goes by priority",
        playbook(
            stage("front"),
            stage("low"),
            stage("high"),
            rules=[
                rule("word", "front", keyword("go"), "low"),
                rule("own", "front", custom("later"), "high", priority=1),
            ],
        ),
        [said("Hm", "go")],
    ),
    Case(
        "hooks of a move by the model",
        playbook(
            stage("front", onExit="note"),
            stage("back", onEnter="note", onExit="note"),
            rules=[rule("there", "front", decision(), "back"), rule("home", "back", keyword("bye"), "front")],
        ),
        [said("Go", moves("c1", "back"), "Here."), said("Hm", "Good bye."), said("Hm", "ok")],
    ),
    Case(
        "hooks of a rule, on a way through three stages",
        playbook(
            stage("front", onExit="note"),
            stage("back", onEnter="note-later", onExit="note-later"),
            stage("end", onEnter="note"),
            rules=[rule("on", "front", keyword("go"), "back"), rule("out", "back", keyword("end"), "end")],
        ),
        [said("Hm", "go"), said("Hm", "the end"), said("Hm", "ok")],
    ),
    Case(
        "an intent that is sure enough moves the conversation",
        playbook(stage("front"), stage("back"), rules=[rule("go", "front", intent("pay", 0.7), "back")]),
        [
            said("Hm", "ok", intents={"pay": 0.69}),
            said("Pay", "ok", intents={"pay": 0.8}),
            said("Pay", "ok", intents={}),
            said("Pay", "ok", intents={"pay": 0.7}),
            said("Hm", "ok", intents={}),
        ],
    ),
    Case(
        "of two rules about intents the one that was meant fires",
        playbook(
            stage("front"),
            stage("one"),
            stage("two"),
            rules=[
                rule("first", "front", intent("pay", 0.5), "one", priority=5),
                rule("second", "front", intent("leave", 0.5), "two"),
            ],
        ),
        [said("Bye", "ok", intents={"leave": 0.9, "pay": 0.1})],
    ),
]

DIFFERING = [
    Case(
        "a condition that fails",
        playbook(stage("front"), stage("back"), rules=to_back("fails")),
        [said("Hm", "ok"), said("Hm", "ok")],
        difference="a-failing-condition-does-not-hold",
        differs={
            "0.reply": ("", "ok"),
            "0.failed": (True, False),
            "1.reply": ("", "ok"),
            "1.failed": (True, False),
        },
    ),
    Case(
        "a condition about tools that were not called",
        playbook(stage("front", LOOK), stage("back"), rules=to_back("no-tool-called")),
        [said("Red?", looks("c1"), "Yes."), said("Hm", "ok")],
        tools=FOUND,
        difference="a-condition-sees-the-whole-turn",
        differs={
            "0.path": (["back"], []),
            "0.fired": (["go"], []),
            "0.stage": ("back", "front"),
            "1.path": ([], ["back"]),
            "1.fired": ([], ["go"]),
        },
    ),
    Case(
        "a hook of the first stage",
        playbook(stage("front", onEnter="note")),
        [said("Hm", "ok")],
        difference="the-first-stage-is-entered",
        differs={
            "0.hooks": ([], ["onEnter front"]),
        },
    ),
    Case(
        "a hook that fails on the way out",
        playbook(
            stage("front", onExit="fails"),
            stage("back", onEnter="note"),
            rules=[rule("go", "front", decision(), "back")],
        ),
        [said("Go", moves("c1", "back"), "Here.")],
        difference="a-failing-hook-loses-nothing",
        differs={
            "0.reply": ("", "Here."),
            "0.failed": (True, False),
            "0.path": ([], ["back"]),
            "0.fired": ([], ["go"]),
            "0.hooks": (["onExit front"], ["onExit front", "onEnter back"]),
            "0.stage": ("front", "back"),
        },
    ),
    Case(
        "a hook that fails on the way in",
        playbook(
            stage("front"),
            stage("back", onEnter="fails"),
            rules=[rule("go", "front", decision(), "back")],
        ),
        [said("Go", moves("c1", "back"), "Here.")],
        difference="a-failing-hook-loses-nothing",
        differs={
            "0.reply": ("", "Here."),
            "0.failed": (True, False),
            "0.path": ([], ["back"]),
            "0.fired": ([], ["go"]),
        },
    ),
    Case(
        "who answers what was meant",
        playbook(stage("front"), stage("back"), rules=[rule("go", "front", intent("pay", 0.6), "back")]),
        [said("Pay", "Which card?", intents={"pay": 0.9})],
        look_for=DESKS,
        difference="an-intent-moves-before-the-reply",
        differs={
            "0.found": (["You are at desk front."], ["You are at desk back."]),
        },
    ),
    Case(
        "an intent and a keyword with a higher priority",
        playbook(
            stage("front"),
            stage("one"),
            stage("two"),
            rules=[
                rule("word", "front", keyword("card"), "one", priority=5),
                rule("meant", "front", intent("pay", 0.6), "two"),
            ],
        ),
        [said("Pay", "Which card?", intents={"pay": 0.9})],
        difference="an-intent-moves-before-the-reply",
        differs={
            "0.path": (["one"], ["two"]),
            "0.fired": (["word"], ["meant"]),
            "0.stage": ("one", "two"),
        },
    ),
    Case(
        "an intent that was written down once",
        playbook(
            stage("front"),
            stage("back"),
            stage("end"),
            rules=[
                rule("go", "front", intent("pay", 0.6), "back"),
                rule("on", "back", intent("pay", 0.6), "end"),
            ],
        ),
        [said("Pay", "ok", intents={"pay": 0.9}), said("Hm", "ok")],
        difference="an-intent-is-of-its-message",
        differs={
            "1.path": (["end"], []),
            "1.fired": (["on"], []),
            "1.stage": ("end", "back"),
        },
    ),
    Case(
        "an intent that nobody is sure of",
        playbook(stage("front"), stage("back"), rules=[rule("go", "front", intent("pay"), "back")]),
        [said("Pay", "ok", intents={"pay": 0.3})],
        difference="an-intent-needs-confidence",
        differs={
            "0.path": (["back"], []),
            "0.fired": (["go"], []),
            "0.stage": ("back", "front"),
        },
    ),
]
