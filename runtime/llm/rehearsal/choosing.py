"""Whether to call a tool, to ask for a transition, or to speak; by fixed rules, in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from runtime.llm.rehearsal.finding import FREE_TEXT, known_value, values_in
from runtime.llm.rehearsal.lines import Call
from runtime.llm.rehearsal.view import View
from runtime.llm.rehearsal.words import content_words, is_yes, overlap
from runtime.playbook.engine_tools import TRANSITION_TOOL

FOUND_WEIGHT: Final = 3
"""A value found in the message counts as much as this many words in common."""
EARLIER: Final = 3
"""Earlier messages that a stage which was just entered looks at."""
PARALLEL: Final = 3
"""Calls made at once for several values of one parameter."""


@dataclass(frozen=True, slots=True)
class Option:
    """A tool that could be called, how well it fits, and the arguments of each call."""

    name: str
    score: int
    calls: tuple[Mapping[str, Any], ...]


def choose_calls(view: View) -> list[Call]:
    """The calls to make now; none means: speak."""
    if not view.may_call or not view.user or view.here:
        return []
    for text in _texts(view):
        calls = _best_calls(replace(view, user=text))
        if calls:
            return calls
    agreed = _agreed(view)
    if agreed is not None:
        return [agreed]
    target = choose_target(view)
    return [target] if target is not None else []


def _texts(view: View) -> Sequence[str]:
    """The message; in a stage that was entered while it was answered, the newest ones before it too."""
    just_entered = bool(view.turn) and not view.replies_here
    return (view.user, *view.earlier[:EARLIER]) if just_entered else (view.user,)


def _best_calls(view: View) -> list[Call]:
    found = (_option(name, tool, view) for name, tool in view.tools.items())
    options = [option for option in found if option is not None]
    if not options:
        return []
    best = max(options, key=lambda option: option.score)
    return [Call(best.name, arguments) for arguments in best.calls]


def _option(name: str, tool: Mapping[str, Any], view: View) -> Option | None:
    """A tool fits if every required parameter has a value and the message speaks of it."""
    arguments, found = find_arguments(tool, view)
    missing = [parameter for parameter in _required(tool) if parameter not in arguments]
    score = FOUND_WEIGHT * len(found) + overlap(view.user, f"{_spaced(name)} {tool['description']}")
    if missing or score == 0 or (not found and not _required(tool) and _properties(tool) and score < 2):
        return None
    calls = _spread(arguments, found)
    done = [dict(result.arguments) for result in view.turn if result.tool == name]
    calls = tuple(call for call in calls if dict(call) not in done)
    return Option(name, score, calls) if calls else None


def find_arguments(tool: Mapping[str, Any], view: View) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Arguments for a tool, and those of them whose values stand in the message itself.

    Order: the message, then, for required ones only, what is known already, then a default. Free text is the
    message as it is.
    """
    arguments: dict[str, Any] = {}
    found: dict[str, list[Any]] = {}
    taken: set[str] = set()
    for name, schema in _properties(tool).items():
        values = [value for value in values_in(view.user, name, schema) if str(value) not in taken]
        if values:
            found[name] = values
            arguments[name] = values[0]
            taken.add(str(values[0]))
        elif name in _required(tool):
            value = _fallback(name, schema, view)
            if value is not None:
                arguments[name] = value
    return arguments, found


def _fallback(name: str, schema: Mapping[str, Any], view: View) -> Any:
    if name.lower() in FREE_TEXT:
        return view.user
    if isinstance(schema.get("enum"), list):
        return schema.get("default", _enum_by_description(schema, view))
    known = known_value(name, view)
    return known if known is not None else schema.get("default")


def _enum_by_description(schema: Mapping[str, Any], view: View) -> Any:
    """`high: something broken …` in the description chooses `high` for a message with such words; else the
    first value, if the description speaks of any."""
    words = content_words(view.user)
    for part in str(schema.get("description", "")).split(";"):
        value, colon, when = part.partition(":")
        if colon and value.strip() in schema["enum"] and words & content_words(when):
            return value.strip()
    return schema["enum"][0] if schema.get("description") else None


def _spread(arguments: Mapping[str, Any], found: Mapping[str, list[Any]]) -> tuple[Mapping[str, Any], ...]:
    """Several values for one parameter become parallel calls."""
    many = next((name for name, values in found.items() if len(values) > 1), None)
    if many is None:
        return (arguments,)
    return tuple({**arguments, many: value} for value in found[many][:PARALLEL])


def _agreed(view: View) -> Call | None:
    """After a plain yes: the tool that was not called yet and whose parameters the last result fills."""
    last = view.past[-1] if view.past else None
    if not is_yes(view.user) or last is None or not last.success or not isinstance(last.value, Mapping):
        return None
    used = {result.tool for result in view.past}
    for name, tool in view.tools.items():
        arguments = {parameter: last.value.get(parameter) for parameter in _required(tool)}
        if name not in used and arguments and None not in arguments.values():
            return Call(name, arguments)
    return None


def choose_target(view: View) -> Call | None:
    """The transition whose description the message matches best; not twice in a row."""
    failed = any(result.tool == TRANSITION_TOOL and not result.success for result in view.turn)
    if view.moved or failed or not view.stage.targets:
        return None
    for text in _texts(view):
        scores = [(_match(text, description), target) for target, description in view.stage.targets]
        best, target = max(scores, key=lambda scored: scored[0])
        if best > 0:
            return Call(TRANSITION_TOOL, {"targetStage": target, "reason": _reason(text)})
    return None


def _match(text: str, description: str) -> int:
    return overlap(text, description) + _formats(text, description)


def _formats(text: str, description: str) -> int:
    """An e-mail address in the message is what a description means by `e-mail address`; a number likewise."""
    words = content_words(description)
    return sum(
        FOUND_WEIGHT
        for name in ("email", "phone", "order number")
        if content_words(name) <= words and values_in(text, name, {"type": "string"})
    )


def _reason(text: str) -> str:
    return "The user said: " + (text if len(text) <= 80 else text[:79] + "…")


def _properties(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = tool["parameters"].get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(tool: Mapping[str, Any]) -> tuple[str, ...]:
    required = tool["parameters"].get("required")
    return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()


def missing_parameters(tool: Mapping[str, Any], view: View) -> list[tuple[str, str]]:
    """The required parameters nobody has given yet, each with its description."""
    arguments, _ = find_arguments(tool, view)
    properties = _properties(tool)
    return [
        (name, str(properties.get(name, {}).get("description", "")))
        for name in _required(tool)
        if name not in arguments
    ]


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")
