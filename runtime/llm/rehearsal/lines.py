"""An author's lines for the rehearsal model: `stages[].metadata.rehearsal`, `[{when, say | call}]`.

Inert: a line is compared and filled in, never evaluated. The form is in docs/rehearsal.md; a line that does
not have it is passed over, so that a playbook always plays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.llm.rehearsal.view import View
from runtime.llm.rehearsal.words import has_words, is_yes

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}")
_YES: Final = "<yes>"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that is wanted. Arguments that are None are to be found in the conversation."""

    name: str
    arguments: Mapping[str, Any] | None = None


Line = str | Call


def author_line(lines: Any, view: View, *, fallback: bool, may_call: bool) -> Line | None:
    """What the first line that holds says or calls; None if none holds.

    Lines without a `when` are the `fallback`: they are asked for last, when the rules found nothing to call.
    A line whose placeholders cannot be filled does not hold, nor does a call that was already made for this
    message, or any call where none may be made.
    """
    for line in lines if isinstance(lines, list) else ():
        if not isinstance(line, Mapping) or (line.get("when") is None) != fallback:
            continue
        if fallback or _holds(line["when"], view):
            matched = _matched(line.get("when"), view)
            found = (
                _call(line["call"], view, matched) if "call" in line else _say(line.get("say"), view, matched)
            )
            if found is not None and (may_call or isinstance(found, str)):
                return found
    return None


def _holds(when: Any, view: View) -> bool:
    """Every condition of a `when` holds. An unknown condition never does."""
    if isinstance(when, (str, list)):
        return _user_said(when, view)
    if not isinstance(when, Mapping):
        return False
    return all(name in _CONDITIONS and _CONDITIONS[name](value, view) for name, value in when.items())


def _matched(when: Any, view: View) -> str:
    """The message in which the line's words were found; without such words the newest message."""
    words = when.get("earlier", when.get("user")) if isinstance(when, Mapping) else when
    said = [text for text in (view.user, *view.earlier) if text]
    found = (text for text in said if any(_matches(text, word) for word in _texts(words or [])))
    return next(found, said[0] if said else "")


def _user_said(words: Any, view: View) -> bool:
    return bool(view.user) and any(_matches(view.user, word) for word in _texts(words))


def _matches(text: str, word: str) -> bool:
    return is_yes(text) if word == _YES else has_words(text, word)


def _ever_said(words: Any, view: View) -> bool:
    said = (view.user, *view.earlier)
    return any(_matches(text, word) for text in said if text for word in _texts(words))


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [item for item in value if isinstance(item, str)]


def _after(names: Any, view: View) -> bool:
    return len(view.here) == 1 and view.here[0].success and view.here[0].tool in _texts(names)


def _failed(names: Any, view: View) -> bool:
    return bool(view.here) and not view.here[-1].success and view.here[-1].tool in _texts(names)


def _last(names: Any, view: View) -> bool:
    return bool(view.past) and view.past[-1].success and view.past[-1].tool in _texts(names)


def _last_failed(names: Any, view: View) -> bool:
    return bool(view.past) and not view.past[-1].success and view.past[-1].tool in _texts(names)


def _known(paths: Any, view: View) -> bool:
    """Every path leads to something: in the variables or, behind `data.` and `returned.`, in what the stage
    and the caller were given."""
    roots = {**view.variables, "data": view.data, "returned": view.returned}
    values = [_walk(roots, path.split(".")) for path in _texts(paths)]
    return all(value not in (None, False, "", [], {}) for value in values)


def _unknown(paths: Any, view: View) -> bool:
    return not any(_known(path, view) for path in _texts(paths))


def _nobody(value: Any, view: View) -> bool:
    return (not view.user) is bool(value)


def _first(value: Any, view: View) -> bool:
    return (view.replies_here == 0) is bool(value)


def _back(names: Any, view: View) -> bool:
    return view.back in _texts(names)


def _called(value: Any, view: View) -> bool:
    return bool(view.here) is bool(value)


_CONDITIONS: Final[Mapping[str, Callable[[Any, View], bool]]] = {
    "user": _user_said,
    "earlier": _ever_said,
    "after": _after,
    "failed": _failed,
    "last": _last,
    "lastFailed": _last_failed,
    "known": _known,
    "unknown": _unknown,
    "nobody": _nobody,
    "first": _first,
    "called": _called,
    "back": _back,
}


def _say(text: Any, view: View, matched: str) -> str | None:
    """A text, or of a list of texts the one for this reply of the visit, the last one from there on."""
    texts = _texts(text) if isinstance(text, (str, list)) else []
    return _filled(texts[min(view.replies_here, len(texts) - 1)], view, matched) if texts else None


def _filled(text: str, view: View, matched: str) -> str | None:
    missing = False

    def fill(match: re.Match[str]) -> str:
        nonlocal missing
        value = _lookup(match.group(1), view, matched)
        missing = missing or value is None
        return words_of(value)

    filled = _PLACEHOLDER.sub(fill, text)
    return None if missing else filled


def words_of(value: Any) -> str:
    """A value as words: whole numbers without a fraction, lists joined."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Mapping):
        return ", ".join(words_of(item) for item in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(words_of(item) for item in value)
    return str(value)


def _lookup(path: str, view: View, matched: str) -> Any:
    """`user`, `said`, `vars.NAME…`, `data.NAME…`, `returned.NAME…` of what was called, `loaded.FIELD…` of the
    artifact that was loaded last, `TOOL.FIELD…` of its last success, `TOOL.error` of its last failure."""
    root, *rest = path.split(".")
    if root == "user" and not rest:
        return view.user or None
    if root == "said" and not rest:
        return matched or None
    own = {"vars": view.variables, "data": view.data, "returned": view.returned, "loaded": view.loaded}
    if root in own and rest:
        return _walk(own[root], rest)
    if rest == ["error"]:
        failed = [result.value for result in view.past if result.tool == root and not result.success]
        return failed[-1] if failed else None
    given = [result.value for result in view.past if result.tool == root and result.success]
    return _walk(given[-1], rest) if given else None


def _walk(value: Any, path: Sequence[str]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _call(call: Any, view: View, matched: str) -> Call | None:
    if isinstance(call, str):
        return None if any(result.tool == call for result in view.here) else Call(call)
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        return None
    arguments: dict[str, Any] = {}
    for name, value in (call.get("arguments") or {}).items():
        filled = _argument(value, view, matched)
        if filled is None:
            return None
        arguments[name] = filled
    done = any(r.tool == call["name"] and dict(r.arguments) == arguments for r in view.turn)
    return None if done else Call(call["name"], arguments)


def _argument(value: Any, view: View, matched: str) -> Any:
    """A placeholder alone keeps its type; text with placeholders is text; an object is filled entry by entry;
    anything else is as it is. None where a placeholder cannot be filled."""
    if isinstance(value, Mapping):
        filled = {name: _argument(entry, view, matched) for name, entry in value.items()}
        return None if any(entry is None for entry in filled.values()) else filled
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    return _lookup(whole.group(1), view, matched) if whole else _filled(value, view, matched)
