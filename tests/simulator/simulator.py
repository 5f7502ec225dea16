"""The simulated providers: one ASGI app that answers as Anthropic and OpenAI do and refuses what they do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from runtime.conversation.messages import Usage
from tests.simulator.answers import Answering, Api, Dropped, Event, HttpRequest, Prepared, Refusal
from tests.simulator.anthropic.api import AnthropicApi
from tests.simulator.asgi import (
    ClientLeft,
    HttpAnswer,
    Receive,
    Scope,
    Send,
    read_request,
    send_answer,
)
from tests.simulator.clock import Clock, RealClock
from tests.simulator.openai.chat import ChatApi
from tests.simulator.openai.responses import ResponsesApi
from tests.simulator.profiles import Profiles
from tests.simulator.records import Exchange
from tests.simulator.script import Chooser, Fault, Output, Reply, Script, output_of
from tests.simulator.shaping import shape
from tests.simulator.sse import play
from tests.simulator.transport import SimulatorTransport

SECRETS: Final = frozenset({"authorization", "x-api-key"})


class Simulator:
    """All simulated providers behind one address: the Anthropic SDK's base URL is that address, the OpenAI
    SDK's is `ADDRESS/v1`. `exchanges` has every request that came in."""

    def __init__(self, *, clock: Clock | None = None, seed: int = 0) -> None:
        self.clock: Clock = clock or RealClock()
        self.seed = seed
        self.profiles = Profiles()
        self.plan = Script()
        self.exchanges: list[Exchange] = []
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._apis: dict[str, Api] = {
            "/v1/messages": AnthropicApi(self.profiles),
            "/v1/responses": ResponsesApi(self.profiles),
            "/v1/chat/completions": ChatApi(self.profiles),
        }

    # -- what tests set -------------------------------------------------------------------------------------

    def script(self, *outputs: Output | Mapping[str, Any]) -> None:
        """Puts what is answered next at the end of the queue: replies, faults, or outputs as replay scripts
        have them. With an empty queue the answer is `ok`."""
        self.plan.add(o if isinstance(o, Reply | Fault) else output_of(o) for o in outputs)

    def faults(self, *faults: Fault | None) -> None:
        """What goes wrong with the next requests, one each; None for one that goes well."""
        self.plan.add_faults(faults)

    def choose(self, chooser: Chooser) -> None:
        """Asks this function, when the queue is empty, with the request's body."""
        self.plan.choosers.append(chooser)

    def transport(self) -> SimulatorTransport:
        """The way in without a port: for `httpx2.AsyncClient(transport=…)`."""
        return SimulatorTransport(self)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all requests that asked a model, in order."""
        return [exchange.body for exchange in self.exchanges]

    # -- HTTP -----------------------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI app."""
        if scope["type"] != "http":
            return
        self._running += 1
        self._idle.clear()
        try:
            with suppress(ClientLeft):
                await self._serve(await read_request(scope, receive), receive, send)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def idle(self) -> None:
        """Returns once no request is being answered any more."""
        await self._idle.wait()

    async def _serve(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        api = self._apis.get(request.path)
        if api is None or request.method != "POST":
            missing = {"error": {"type": "not_found_error", "message": "Not found"}}
            await send_answer(HttpAnswer(404, missing), receive, send)
            return
        exchange = self._record(api, request)
        try:
            await send_answer(await self._answer(api, request, exchange), receive, send)
        except ClientLeft:
            exchange.disconnected = True

    def _record(self, api: Api, request: HttpRequest) -> Exchange:
        headers = {name: value for name, value in request.headers.items() if name not in SECRETS}
        exchange = Exchange(
            len(self.exchanges) + 1, self.clock.now(), api.name, request.path, headers=headers
        )
        self.exchanges.append(exchange)
        return exchange

    async def _answer(self, api: Api, request: HttpRequest, exchange: Exchange) -> HttpAnswer:
        try:
            prepared = api.prepare(request)
            exchange.body, exchange.account = prepared.body, prepared.account
            return await self._reply(api, prepared, exchange)
        except Refusal as refusal:
            exchange.status, exchange.rule, exchange.error = refusal.status, refusal.rule, refusal.message
            return HttpAnswer(refusal.status, api.error(refusal, exchange.number), headers=refusal.headers)

    async def _reply(self, api: Api, prepared: Prepared, exchange: Exchange) -> HttpAnswer:
        fault = self.plan.next_fault()
        output: Output = fault if fault is not None and fault.answers else self.plan.next(prepared.body)
        fault = output if isinstance(output, Fault) else fault or output.fault
        if fault is not None:
            await self._delay(fault)
        reply = Reply(fault=fault) if isinstance(output, Fault) else _with_fault(output, fault)
        answering = self._answering(prepared, reply, exchange)
        exchange.status, exchange.began_at = 200, self.clock.now()
        exchange.usage = answering.usage
        if prepared.stream:
            return HttpAnswer(stream=self._stream(api, answering, exchange))
        return self._whole(api, answering, exchange)

    async def _delay(self, fault: Fault) -> None:
        if fault.delay_s:
            await self.clock.sleep(fault.delay_s)
        if fault.then == "drop":
            raise Dropped
        if fault.answers:
            raise planned(fault)

    def _answering(self, prepared: Prepared, reply: Reply, exchange: Exchange) -> Answering:
        shaped = shape(
            reply,
            prepared.model,
            limit=prepared.output_limit,
            limit_stop=prepared.limit_stop,
            stop_sequences=prepared.stop_sequences,
            seed=self.seed + exchange.number,
        )
        usage = Usage(fresh=prepared.input_tokens, output=shaped.tokens)
        return Answering(prepared, shaped, usage, exchange.number, self.clock.now().timestamp())

    async def _stream(self, api: Api, answering: Answering, exchange: Exchange) -> AsyncIterator[bytes]:
        def sent(event: Event) -> None:
            exchange.sent.append(event.data)

        async for data in play(api.events(answering), answering.reply.reply, api, self.clock, sent, planned):
            yield data
        fault = answering.reply.reply.fault
        exchange.complete = not (fault and fault.then)

    def _whole(self, api: Api, answering: Answering, exchange: Exchange) -> HttpAnswer:
        fault = answering.reply.reply.fault
        if fault is not None and fault.then == "error":
            raise planned(fault)
        if fault is not None and fault.then:
            raise Dropped
        whole = api.whole(answering)
        exchange.sent.append(whole)
        exchange.complete = True
        return HttpAnswer(body=whole)


def _with_fault(reply: Reply, fault: Fault | None) -> Reply:
    return replace(reply, fault=fault) if fault is not None else reply


def planned(fault: Fault) -> Refusal:
    """The refusal that a fault plan asks for."""
    message = fault.message or "This failure was planned."
    return Refusal(
        "fault", fault.status or 500, message, kind=fault.type, code=fault.type or None, headers=fault.headers
    )
