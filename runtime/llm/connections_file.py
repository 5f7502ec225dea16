"""`connections.toml`: the operator's file of connections, read into entries and problems.

Nothing raises for what the file says: what can be used is used, the rest is named with its line. No problem
quotes a value, which may be a key.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

FILE_NAME: Final = "connections.toml"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
"""A connection's name is what a stage's `provider` says; a slash parts it from the model in menus."""
RESERVED: Final = frozenset({"rehearsal"})
KEY: Final = re.compile(r"[!-~]+")
_NO_ADDRESS: Final = re.compile(r"[\s\x00-\x1f\x7f]")

Api = Literal["anthropic", "responses", "chat"]
"""Anthropic Messages, OpenAI Responses, or Chat Completions as compatible servers speak it."""


def usable_url(url: str) -> str:
    """The address without a slash at its end. Raises ValueError for what no request can be sent to, and for
    one with a name, a password or a query in it: those are secrets, or would get in the way of the key."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise ValueError("an address has a host, and a port from 1 to 65535 or none") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address begins with http:// or https:// and names a host")
    if port == 0 or _NO_ADDRESS.search(url.strip()) or not _is_host(parts.netloc, parts.hostname):
        raise ValueError("an address has no spaces, and a host and a port that a request can be sent to")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("an address has no name, password, `?` or `#`; a secret goes into the key")
    return url.strip().rstrip("/")


def _is_host(netloc: str, host: str) -> bool:
    """Whether what stands in brackets, if anything does, is an IPv6 address."""
    try:
        return "[" not in netloc or IPv6Address(host).version == 6
    except ValueError:
        return False


def usable_key(key: str) -> str:
    """The key without space around it. Raises ValueError, without its text, for what no header can carry."""
    if not KEY.fullmatch(key.strip()):
        raise ValueError("a key is one word of plain characters; this has others, or none")
    return key.strip()


def _usable_secret(key: SecretStr) -> SecretStr:
    return SecretStr(usable_key(key.get_secret_value()))


Url = Annotated[str, AfterValidator(usable_url)]
Key = Annotated[SecretStr, AfterValidator(_usable_secret)]


class Entry(BaseModel):
    """One table `[connections.NAME]`; what is None was not said."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    api: Api | None = None
    url: Url | None = None
    model: str | None = Field(default=None, min_length=1)
    """The model of a stage that names only the connection."""
    key: Key | None = None
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The environment variable that holds the key."""
    window: int | None = Field(default=None, ge=1024)
    """Tokens that the server's models can read, where the table of models does not know it."""
    tools: bool | None = None
    """False: its models cannot call tools; transitions are then asked for as a constrained choice."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What cannot be used of the file. `line` counts from 1; None: it is about the whole file."""

    line: int | None
    place: str
    """`connections.local.url`; empty for the whole file."""
    message: str

    def __str__(self) -> str:
        where = ", ".join(part for part in (f"line {self.line}" if self.line else "", self.place) if part)
        return f"{where}: {self.message}" if where else self.message


@dataclass(frozen=True, slots=True)
class ConnectionsFile:
    """What the file says, as far as it can be used."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    default: str | None = None
    """The connection of a playbook that names none."""
    problems: tuple[FileProblem, ...] = ()
    path: Path | None = None
    found: bool = False


NO_FILE: Final = ConnectionsFile()


def read_connections_file(path: Path) -> ConnectionsFile:
    """The file at that place; without one: no entries and no problems."""
    try:
        read = parse_connections(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return ConnectionsFile(path=path)
    except UnicodeDecodeError:
        return _unreadable(path, "The file is no text in UTF-8.")
    except OSError as error:
        return _unreadable(path, f"The file cannot be read: {error.strerror or type(error).__name__}.")
    problems = (*read.problems, *_seen_by_others(path, read))
    return ConnectionsFile(read.entries, read.default, problems, path, found=True)


def _unreadable(path: Path, message: str) -> ConnectionsFile:
    return ConnectionsFile(problems=(FileProblem(None, "", message),), path=path, found=True)


def _seen_by_others(path: Path, read: ConnectionsFile) -> Iterator[FileProblem]:
    """A key in a file that other people of this machine can read is no secret."""
    holds_key = any(entry.key is not None for entry in read.entries.values())
    if os.name == "posix" and holds_key and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield FileProblem(
            None, "", "The file holds a key, and others on this machine can read it: `chmod 600` it."
        )


def parse_connections(text: str) -> ConnectionsFile:
    """Reads the file's text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return ConnectionsFile(problems=(_no_toml(str(error), text),))
    except (RecursionError, ValueError):  # what tomllib does not look out for: depth, numbers without end
        return ConnectionsFile(problems=(_TOO_MUCH,))
    problems: list[FileProblem] = []
    tables = data.pop("connections", {})
    default = data.pop("default", None)
    problems += [
        FileProblem(
            line_of(text, name), name, "is unknown here: the file has `default` and `[connections.NAME]`"
        )
        for name in data
    ]
    entries = dict(_entries(tables, text, problems))
    if default is not None and not isinstance(default, str):
        problems.append(FileProblem(line_of(text, "default"), "default", "must be a connection's name"))
        default = None
    return ConnectionsFile(entries, default, tuple(problems))


def _entries(tables: Any, text: str, problems: list[FileProblem]) -> Iterator[tuple[str, Entry]]:
    """The entries that can be used; what is wrong with the others is added to `problems`."""
    if not isinstance(tables, dict):
        problems.append(FileProblem(line_of(text, "connections"), "connections", "must be tables"))
        return
    for name, table in tables.items():
        found = list(_problems_of(name, table, text))
        problems += found
        if not found:
            yield name, Entry.model_validate(table)


def _problems_of(name: str, table: Any, text: str) -> Iterator[FileProblem]:
    place, line = f"connections.{name}", line_of(text, "connections", name)
    if not NAME.fullmatch(name) or name.lower() in RESERVED:
        yield FileProblem(
            line, place, "cannot be a name: letters, digits, `_`, `-` and `.`, at most 40, not `rehearsal`"
        )
        return
    if not isinstance(table, dict):
        yield FileProblem(line, place, f"must be a table: `[connections.{name}]`")
        return
    try:
        entry = Entry.model_validate(table)
    except ValidationError as error:
        for item in error.errors(include_input=False, include_url=False, include_context=False):
            key = str(item["loc"][0]) if item["loc"] else ""
            yield FileProblem(line_of(text, "connections", name, key) or line, f"{place}.{key}", _words(item))
        return
    if entry.key is not None and entry.key_env is not None:
        yield FileProblem(
            line_of(text, "connections", name, "key_env") or line,
            place,
            "has `key` and `key_env`: one is enough",
        )


def _words(item: Any) -> str:
    """pydantic's own words where they say it, without the value."""
    if item["type"] == "extra_forbidden":
        return f"is unknown: a connection has {', '.join(f'`{known}`' for known in Entry.model_fields)}"
    if item["type"] == "string_pattern_mismatch":
        return "must be the name of an environment variable"
    return str(item["msg"]).removeprefix("Value error, ")


_AT: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


def _no_toml(message: str, text: str) -> FileProblem:
    at = _AT.search(message)
    line = int(at[1]) if at and at[1] else len(text.splitlines()) or 1
    return FileProblem(line, "", f"This is no TOML: {_AT.sub('', message)}. Nothing of the file is used.")


_TOO_MUCH: Final = FileProblem(
    None, "", "It is nested too deep, or has a number that is too long. Nothing of the file is used."
)
_HEADER: Final = re.compile(r"^\s*\[\[?([^\]=]*)\]")
_KEY: Final = re.compile(r"^\s*([^=#\[]+?)\s*=")
_PART: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s.\"']+)")


def line_of(text: str, *path: str) -> int | None:
    """The first line that speaks of that place, by its table or its key. None: not found, because TOML has
    many ways to write it."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = here = _parts(header[1])
        elif key := _KEY.match(line):
            here = (*table, *_parts(key[1]))
        else:
            continue
        if here[: len(path)] == path:
            return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple("".join(found) for found in _PART.findall(dotted))
