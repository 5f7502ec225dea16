"""Conversations about the window that every model must carry in the same way: artifacts, raw stages, agents,
compaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runtime.conversation.artifacts import hash_of, text_of
from tests.conformance.conversation import Conversation
from tests.conformance.conversations import moves, said
from tests.conformance.speakers import BIG, SMALL
from tests.runtime.desk import DECISION, STOCK, playbook, rule, says, stage
from tests.runtime.runner.play import error

PAGES: Final = [
    {"page": number, "text": f"Page {number}: the light burned all night."} for number in range(20)
]
READ: Final[dict[str, Any]] = {
    "name": "read",
    "description": "Fetches a source",
    "parameters": {"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]},
    "implementation": {
        "type": "mock",
        "responses": [{"when": "arguments.ref == 'log'", "result": PAGES}, {"error": "There is none." * 50}],
    },
}
COUNT: Final[dict[str, Any]] = {
    "name": "count",
    "description": "Counts the pages of a source",
    "parameters": {
        "type": "object",
        "properties": {"source": {"type": "array", "items": {"type": "object"}}},
    },
    "implementation": {"type": "expression", "expression": "arguments.source.size()"},
}
LOG: Final = f"a_{hash_of('list', text_of(PAGES))[:8]}"
"""What the engine calls the pages, by their content."""


def calls(*made: tuple[str, str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A message that asks for these: id, name, arguments."""
    return {"tool_calls": [{"id": one, "name": name, "args": args} for one, name, args in made], **more}


def library(*extra: dict[str, Any], **more: Any) -> Any:
    """A desk that calls a stage which reads."""
    rules = [
        rule("t-find", "desk", "find", DECISION, mode="call"),
        rule("t-found", "find", None, DECISION, mode="return"),
        *extra,
    ]
    return playbook([stage("desk", tools=[COUNT]), stage("find", tools=[READ, COUNT])], rules, **more)


def with_raw(mode: str) -> Any:
    """A stage whose prompt is sent verbatim to the small model, called or gone to."""
    raw = stage("title", kind="raw", llmConfig={"model": SMALL})
    rules = [
        rule("t-title", "desk", "title", says("title", source="user"), mode=mode),
        rule("t-back", "title", "desk", {"type": "max_turns", "count": 1}),
    ]
    return playbook([stage("desk", tools=[STOCK]), raw], rules if mode == "goto" else rules[:1])


CALL: Final = moves("agent:Checker", data={"claim": "It burned.", "source": f"${LOG}"})


def checked(**more: Any) -> Conversation:
    """The library's reader has a claim checked by an agent on the small model, which is given a source."""
    check = rule("t-check", "desk", "agent:Checker", DECISION, mode="call")
    caller = library(check, agents=[{"name": "Checker", "playbook": "checker"}])
    return Conversation(caller, agents={"checker": checker()}, **more)


def checker() -> Any:
    """An agent of one stage with a tool of its own."""
    check = stage("check", tools=[COUNT], llmConfig={"model": SMALL})
    return playbook([check], [rule("t-checked", "check", None, DECISION, mode="return")], id="checker")


FOUND: Final = [
    moves("find", data={"question": "Did it burn?"}),
    calls(("c1", "read", {"ref": "log"})),
    moves("return", "m2", summary="The log has 20 pages.", data={"source": f"${LOG}"}),
    {"text": "It did, says the log."},
]
PARAGRAPH: Final = "This reply is long, so that the window fills up. " * 12

WINDOWS: Final[Mapping[str, Conversation]] = {
    "a long result, in the window of the frame that asked for it": Conversation(
        library(), [*FOUND, {"text": "You are welcome."}], said("did it burn?", "thanks")
    ),
    "an artifact that is loaded by name, twice": Conversation(
        library(),
        [
            *FOUND,
            calls(("c2", "LoadArtifact", {"name": LOG})),
            calls(("c3", "LoadArtifact", {"name": LOG})),
            {"text": "It says: page 0."},
        ],
        said("did it burn?", "show me"),
    ),
    "a part of an artifact, and one that there is not": Conversation(
        library(),
        [
            *FOUND,
            calls(
                ("c2", "LoadArtifact", {"name": LOG, "offset": 10, "length": 40}),
                ("c3", "LoadArtifact", {"name": "nothing"}),
            ),
            {"text": "It says: page."},
        ],
        said("did it burn?", "show me"),
    ),
    "an artifact by reference": Conversation(
        library(),
        [*FOUND, calls(("c2", "count", {"source": f"${LOG}"})), {"text": "Twenty."}],
        said("did it burn?", "how many pages?"),
    ),
    "an artifact that the model saves": Conversation(
        library(),
        [
            *FOUND,
            calls(("c2", "SaveArtifact", {"name": "notes", "summary": "What we have.", "value": ["one", 2]})),
            {"text": "Saved."},
            calls(("c3", "LoadArtifact", {"name": "notes"})),
            {"text": "One and two."},
        ],
        said("did it burn?", "note it", "read it"),
    ),
    "a long error, which is no artifact": Conversation(
        library(),
        [FOUND[0], calls(("c1", "read", {"ref": "map"})), FOUND[2], {"text": "Nothing there."}],
        said("did it burn?"),
    ),
    "thinking around artifacts and a return": Conversation(
        library(),
        [
            {**FOUND[0], "thinking": "Look it up."},
            {**FOUND[1], "thinking": "The log."},
            {**FOUND[2], "thinking": "Enough."},
            {**FOUND[3], "thinking": "Say it."},
            {"text": "Gladly."},
        ],
        said("did it burn?", "thanks"),
    ),
    "a raw stage": Conversation(
        with_raw("goto"),
        [{"text": "Hello."}, {"text": "The Light"}, {"text": "Bye."}],
        said("hi", "a title please", "bye"),
    ),
    "a raw stage that is called": Conversation(
        with_raw("call"),
        [{"text": "Hello."}, {"text": "The Light"}, {"text": "I call it: The Light."}, {"text": "Bye."}],
        said("hi", "a title please", "bye"),
    ),
    "an agent that is given an artifact and returns": checked(
        outputs=[
            *FOUND,
            CALL,
            calls(("k1", "count", {"source": f"${LOG}"})),
            calls(("k2", "LoadArtifact", {"name": LOG})),
            moves("return", "k3", summary="It stands on page 0.", data={"verdict": "stands there"}),
            {"text": "Checked: it stands there."},
            {"text": "Bye."},
        ],
        steps=said("did it burn?", "check it", "bye"),
    ),
    "an agent that speaks with the user before it returns": checked(
        outputs=[
            *FOUND,
            CALL,
            {"text": "Which page do you doubt?", "thinking": "Ask."},
            moves("return", "k3", data={"verdict": "stands there"}),
            {"text": "It stands there."},
        ],
        steps=said("did it burn?", "check it", "the first"),
    ),
    "an agent that fails": checked(
        outputs=[*FOUND, CALL, error(401, "authentication_error"), {"text": "The checker is out."}],
        steps=said("did it burn?", "check it"),
    ),
}  # fmt: skip

BUDGET: Final = 1_800
TIGHT: Final = {"budgetTokens": BUDGET, "keepRecent": 200}
COMPACTED: Final[Mapping[str, Conversation]] = {
    "old turns": Conversation(
        playbook([stage("desk", llmConfig={"model": BIG})], context=TIGHT),
        [{"text": f"{number}. {PARAGRAPH}"} for number in range(12)],
        said(*(f"message {number}" for number in range(12))),
    ),
    "tool results, with thinking": Conversation(
        playbook(
            [stage("desk", tools=[STOCK])],
            context={**TIGHT, "artifactThreshold": 5_000},
        ),
        [
            output
            for number in range(14)
            for output in (
                {**calls((f"c{number}", "stock", {"kind": f"city {number}"})), "thinking": f"Look. {number}"},
                {"text": f"{number}. {PARAGRAPH}", "thinking": f"Say it. {number}"},
            )
        ],
        said(*(f"city {number}?" for number in range(14))),
    ),
}  # fmt: skip
"""Conversations that pass the budget on every model, by what goes."""
