"""What the three adapters share: one client of the vendor's package per event loop, one streamed call, its
idle time and its deadline, and what a failed connection is called in words."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from runtime.context.models import ModelRecord, record
from runtime.context.segments import SegmentMaker
from runtime.context.window import ContextWindow
from runtime.llm.base import (
    BadRequest,
    ConnectionLost,
    LLMError,
    LLMEvent,
    LLMRequest,
    MessageComplete,
    TextDelta,
    UsageSoFar,
)
from runtime.llm.wire import Json, Reader, left_out
from runtime.playbook import LLMConfig

CONNECT_S: Final = 5.0
IDLE_S: Final = 60.0
"""Longest silence inside a stream. A ping ends it, so the whole call has a deadline beside it."""
PROBE_TOKENS: Final = 16
_loaded: dict[str, Any] = {}
LOST: Final = "The connection to the model was lost."
NO_ADDRESS: Final = "The address of the model's server cannot be used."
BROKE_OFF: Final = "The model's answer ended before it was complete."


class SdkLLM(ABC):
    """A model behind a vendor's package. A subclass says how a request is rendered, opened and read.

    `http_client`: an `httpx2.AsyncClient` to send with, left open for whoever made it. Retries are the
    runner's: the package's own are off.
    """

    provider: str
    package: ClassVar[str]
    default_url: ClassVar[str]

    def __init__(
        self, key: str, base_url: str | None = None, *, http_client: Any = None, idle_s: float = IDLE_S
    ) -> None:
        self._key = key
        self.url = (base_url or self.default_url).rstrip("/")
        self._http_client = http_client
        self._idle_s = idle_s
        self._facts: dict[str, Any] = {}
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    # -- what a subclass says ------------------------------------------------------------------------------

    @abstractmethod
    def render(self, request: LLMRequest) -> Json:
        """The body of the request; pure."""

    @abstractmethod
    def _reader(self, request: LLMRequest) -> Reader:
        """Reads the answer to that request."""

    @abstractmethod
    async def _open(self, client: Any, body: Json) -> Any:
        """The package's stream for that body."""

    @abstractmethod
    def _make_client(self, sdk: Any, **options: Any) -> Any:
        """The package's client."""

    @abstractmethod
    def _translated(self, error: Any) -> LLMError:
        """Ours for an answer of the provider that is an error."""

    # -- the protocol --------------------------------------------------------------------------------------

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        """Settings that this model refuses."""
        return left_out(request, self._record(request.model))

    def assume(self, facts: Mapping[str, Any]) -> None:
        """What somebody who knows the server says of its models, by field of `ModelRecord`."""
        self._facts = dict(facts)

    def _record(self, model: str) -> ModelRecord:
        return record(model, self.provider).model_copy(update=self._facts)

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Streams one reply. Raises LLMError; leaving the iterator closes the connection at once."""
        client = await self._client()
        reader, body = self._reader(request), self.render(request)
        deadline = asyncio.get_running_loop().time() + request.deadline_s
        said = None
        try:
            async with asyncio.timeout_at(deadline):
                stream = await self._open(client, body)
            async with stream as events:
                async for event in _until(events, deadline):
                    text = reader.feed(event.to_dict(warnings=False))
                    if text:
                        yield TextDelta(text)
                    if (usage := reader.usage()) != said and usage is not None:
                        said = usage
                        yield UsageSoFar(usage)
        except TimeoutError:
            raise ConnectionLost(f"The model did not answer within {request.deadline_s:.0f} s.") from None
        except Exception as error:
            if (ours := await self._ours(error)) is None:
                raise
            raise ours from None
        if not reader.finished:
            raise ConnectionLost(BROKE_OFF)
        yield MessageComplete(message=reader.message(), usage=reader.usage())

    async def aclose(self) -> None:
        """Closes the client of the running loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None and self._http_client is None:
            await client.close()

    # -- the connection ------------------------------------------------------------------------------------

    async def list_models(self) -> list[str]:
        """The ids that the server offers. Raises LLMError: BadRequest where it has no such list."""
        client = await self._client()
        try:
            page = await client.models.list()
            return [str(model.id) for model in page.data or ()]
        except AttributeError:
            raise BadRequest("The server answers, but not with a list of models: is the URL right?") from None
        except Exception as error:
            if (ours := await self._ours(error)) is None:
                raise
            raise ours from None

    async def check(self, model: str | None) -> None:
        """Whether the key and, if one is given, the model can be used. Raises LLMError with what is wrong.

        A model that the server does not list is asked for a few tokens: not every server lists all it has.
        """
        try:
            listed = await self.list_models()
        except BadRequest as error:
            if model is None:
                raise BadRequest(
                    "The server answers, but has no list of models at this URL.", status=error.status
                ) from None
            listed = []
        if model is not None and model not in listed:
            async for _ in self.stream(self._probe(model)):
                pass

    def _probe(self, model: str) -> LLMRequest:
        maker = SegmentMaker(self._record(model))
        segment = maker.make("probe", "dialogue", "user", "Say hi.")
        window = ContextWindow(
            layout="append",
            lane="",
            stage="",
            frame=None,
            segments=(segment,),
            added=1,
            tools=(),
            allowed_tools=(),
        )
        config = LLMConfig(maxTokens=PROBE_TOKENS)
        return LLMRequest(
            session="", call=0, model=model, window=window, config=config, deadline_s=self._idle_s
        )

    async def _client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            sdk, transport = await load(self.package), await load("httpx2")
            if loop not in self._clients:
                self._clients[loop] = self._connected(sdk, transport)
        return self._clients[loop]

    def _connected(self, sdk: Any, transport: Any) -> Any:
        try:
            return self._make_client(
                sdk,
                api_key=self._key or "none",
                base_url=self.url,
                max_retries=0,
                timeout=transport.Timeout(self._idle_s, connect=CONNECT_S),
                http_client=self._http_client,
            )
        except transport.InvalidURL:
            raise ConnectionLost(NO_ADDRESS, retryable=False) from None

    async def _ours(self, error: Exception) -> LLMError | None:
        """Ours for an error of the package or of its transport; None for any other. What a provider says may
        hold the key, so its own error must not be shown as a cause."""
        sdk, transport = await load(self.package), await load("httpx2")
        if isinstance(error, sdk.APIConnectionError | transport.HTTPError):
            return connection_error(error, transport)
        return self._translated(error) if isinstance(error, sdk.APIError) else None


async def load(name: str) -> Any:
    """A package, imported beside the loop: the first import of a vendor's takes seconds."""
    if name not in _loaded:
        _loaded[name] = await asyncio.to_thread(importlib.import_module, name)
    return _loaded[name]


async def _until(events: Any, deadline: float) -> AsyncIterator[Any]:
    """The events, each waited for up to the deadline at most. The time a reader takes is not counted."""
    iterator = aiter(events)
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                event = await anext(iterator)
        except StopAsyncIteration:
            return
        yield event


def words_of(error: Any) -> str:
    """What the provider itself says in an error of the package, whose own text is the raw body."""
    body = error.body
    while isinstance(body, dict):
        inner = body.get("error", body.get("message"))
        if inner is None or isinstance(inner, str):
            return inner or ""
        body = inner
    return ""


def connection_error(error: BaseException, transport: Any) -> ConnectionLost:
    """What went wrong with a connection, in words, from the chain of causes."""
    causes = list(_causes(error))
    untrusted = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if untrusted is not None or any("CERTIFICATE_VERIFY_FAILED" in str(cause) for cause in causes):
        reason = getattr(untrusted, "verify_message", "") or getattr(untrusted, "reason", "") or ""
        text = f"The server's certificate cannot be trusted (TLS): {reason}".rstrip(": ")
        return ConnectionLost(f"{text}.", retryable=False)
    if any(isinstance(cause, transport.ConnectError | transport.ConnectTimeout) for cause in causes):
        return ConnectionLost("The model's server cannot be reached.")
    if any(isinstance(cause, transport.TimeoutException) for cause in causes):
        return ConnectionLost("The model's server fell silent.")
    return ConnectionLost(LOST)


def _causes(error: BaseException | None) -> Any:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
