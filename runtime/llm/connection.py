"""One connection: where a model is asked, with which key, and what keeps the key from everybody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast
from urllib.parse import urlsplit

from runtime.context.models import ModelRecord, record
from runtime.llm.base import LLM, LLMError, LLMEvent, LLMRequest
from runtime.llm.connections_file import FILE_NAME, Api, ConnectionsFile, Entry, usable_key, usable_url

HIDDEN: Final = "***"
SHORTEST_PART: Final = 4
"""Characters of a key's beginning that are hidden at the end of a text that was cut there."""
ENVIRONMENT: Final = "environment"


class ModelServer(LLM, Protocol):
    """An adapter, as a connection uses it."""

    async def list_models(self) -> list[str]:
        """The models that the server offers. Raises LLMError, also where a server has no such list."""
        ...

    async def check(self, model: str | None) -> None:
        """Raises LLMError with a sentence if the server cannot be asked, or does not have the model."""
        ...


MakeServer = Callable[[Api, str, str | None], ModelServer]
"""(api, key, address) -> the adapter; an empty key means that none is needed."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A connection that the environment alone can make."""

    api: Api
    model: str
    key_env: str
    url_env: str


VENDORS: Final[Mapping[str, Vendor]] = {
    "anthropic": Vendor("anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai": Vendor("responses", "gpt-6.2-sol", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
}


OPENAI_HOST: Final = "api.openai.com"


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """A connection as it was set up. `problem` says in a sentence why it cannot be used; empty: it can."""

    name: str
    api: Api
    url: str | None = None
    """None: the vendor's own address."""
    model: str = ""
    """The model of a stage that names only the connection; empty: such a stage cannot be answered."""
    key: str = field(default="", repr=False)
    key_source: str = ""
    """The variable or the file that has the key, or the variable that should have it."""
    sources: tuple[str, ...] = ()
    """Where it comes from: `environment`, `connections.toml`."""
    needs: str = ""
    """What is missing, to stand behind "needs"."""
    problem: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the file says of the server's models, by field of `ModelRecord`."""

    @property
    def usable(self) -> bool:
        """Whether a request can be sent; whether it is answered, a test tells."""
        return not self.problem and not self.needs

    @property
    def note(self) -> str:
        """What is missing or wrong, in a sentence; empty where nothing is."""
        return self.problem or (f"Needs {self.needs}." if self.needs else "")


def settings_of(environ: Mapping[str, str], file: ConnectionsFile) -> list[ConnectionSettings]:
    """All connections: the vendors' first, then the file's in its order. What the file says of a vendor's
    goes before the environment."""
    names = [*VENDORS, *(name for name in file.entries if name not in VENDORS)]
    return [_settings(name, environ, file.entries.get(name)) for name in names]


def _settings(name: str, environ: Mapping[str, str], given: Entry | None) -> ConnectionSettings:
    vendor, entry = VENDORS.get(name), given or Entry()
    sources: list[str] = []
    problems: list[str] = []
    url = entry.url
    if url is None and vendor is not None and environ.get(vendor.url_env, "").strip():
        sources.append(ENVIRONMENT)
        url = _checked(usable_url, environ[vendor.url_env], vendor.url_env, problems) or None
    key, key_source = _key(entry, vendor, environ, problems)
    if key and key_source != FILE_NAME:
        sources.append(ENVIRONMENT)
    if given is not None:
        sources.append(FILE_NAME)
    api = entry.api or _usual_api(vendor, url)
    if entry.tools is False and api != "chat":
        problems.append('`tools = false` is for `api = "chat"` only.')
    needs = _needs(name, entry, api, url, key)
    return ConnectionSettings(
        name=name,
        api=api,
        url=url,
        model=entry.model or _usual_model(vendor, api),
        key=key,
        key_source=key_source,
        sources=tuple(dict.fromkeys(sources)),
        needs=needs,
        problem=" ".join(problems),
        facts=entry.model_dump(include={"window", "tools"}, exclude_none=True),
    )


def _checked(check: Callable[[str], str], value: str, variable: str, problems: list[str]) -> str:
    try:
        return check(value)
    except ValueError as error:
        problems.append(f"{variable} cannot be used: {error}.")
        return ""


def _key(
    entry: Entry, vendor: Vendor | None, environ: Mapping[str, str], problems: list[str]
) -> tuple[str, str]:
    """The key and where it was found; empty if there is none."""
    if entry.key is not None:
        return entry.key.get_secret_value(), FILE_NAME
    variable = entry.key_env or (vendor.key_env if vendor else "")
    given = environ.get(variable, "").strip() if variable else ""
    return (_checked(usable_key, given, variable, problems) if given else ""), variable


def _usual_api(vendor: Vendor | None, url: str | None) -> Api:
    """OpenAI's own servers speak Responses; a server at another address is taken for a compatible one."""
    if vendor is None:
        return "chat"
    return "chat" if vendor.api == "responses" and not _is_openais(url) else vendor.api


def _is_openais(url: str | None) -> bool:
    """Its address, also when it is written out, or one of its regions: `eu.api.openai.com`."""
    host = OPENAI_HOST if url is None else urlsplit(url).hostname or ""
    return host == OPENAI_HOST or host.endswith(f".{OPENAI_HOST}")


def _usual_model(vendor: Vendor | None, api: Api) -> str:
    return vendor.model if vendor is not None and vendor.api == api else ""


def _needs(name: str, entry: Entry, api: Api, url: str | None, key: str) -> str:
    """A vendor's own servers need a key; a server at an address of its own may do without."""
    if entry.key_env and not key:
        return entry.key_env
    if key or url is not None:
        return f"`url` in {FILE_NAME}" if api == "chat" and url is None and name not in VENDORS else ""
    if name in VENDORS:
        return VENDORS[name].key_env
    return f"`url` in {FILE_NAME}" if api == "chat" else f"`key_env` or `key` in {FILE_NAME}"


def without_key(text: str, key: str) -> str:
    """The text with the key hidden, also one that was cut off at the text's end."""
    if not key:
        return text
    text = text.replace(key, HIDDEN)
    for length in range(len(key) - 1, SHORTEST_PART - 1, -1):
        for end in (key[:length], f"{key[:length]}…"):
            if text.endswith(end):
                return text.removesuffix(end) + HIDDEN
    return text


class GuardedServer:
    """An adapter whose errors cannot carry its key, whatever the server wrote into them."""

    def __init__(self, server: ModelServer, key: str, connection: str) -> None:
        self._server = server
        self._key = key
        self.connection = connection
        self.provider = server.provider

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """The adapter's stream; leaving it closes the adapter's at once."""
        with self._masked():
            async with aclosing(cast(Any, self._server.stream(request))) as events:
                async for event in events:
                    yield event

    def render(self, request: LLMRequest) -> dict[str, Any]:
        """The adapter's rendering."""
        return self._server.render(request)

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        """What the adapter leaves out."""
        return self._server.left_out(request)

    async def list_models(self) -> list[str]:
        """What the adapter lists."""
        with self._masked():
            return await self._server.list_models()

    async def check(self, model: str | None) -> None:
        """The adapter's check."""
        with self._masked():
            await self._server.check(model)

    async def aclose(self) -> None:
        """Closes the adapter's client."""
        await self._server.aclose()

    @contextmanager
    def _masked(self) -> Iterator[None]:
        try:
            yield
        except LLMError as error:
            error.message = without_key(error.message, self._key)
            error.args = (error.message,)
            # What the vendor's package raised is not passed on: its text was not looked at.
            raise error from None


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection that may answer: its settings and its adapter."""

    settings: ConnectionSettings
    llm: ModelServer

    @property
    def name(self) -> str:
        """What a stage's `provider` says."""
        return self.settings.name

    def record(self, model: str) -> ModelRecord:
        """What is known of that model on this server."""
        return record(model, self.llm.provider).model_copy(update=dict(self.settings.facts))


def connection_name(llm: LLM) -> str:
    """The name of the connection behind a model; empty for one that has none."""
    return llm.connection if isinstance(llm, GuardedServer) else ""
