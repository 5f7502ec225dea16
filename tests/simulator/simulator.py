"""The simulated providers: one ASGI app that answers as Anthropic and OpenAI do and refuses what they do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from math import ceil
from typing import Any, Final

from runtime.context.cache_model import Billing
from runtime.conversation.messages import Usage
from tests.simulator.answers import Answering, Api, Dropped, Event, HttpRequest, Prepared, Refusal, read_json
from tests.simulator.anthropic.api import AnthropicApi
from tests.simulator.asgi import ClientLeft, HttpAnswer, Receive, Scope, Send, read_request, send_answer
from tests.simulator.billing import Ledger, Rates, cost
from tests.simulator.clock import Clock, RealClock
from tests.simulator.control import PREFIX, control
from tests.simulator.faulty import planned
from tests.simulator.listing import PATH as MODELS_PATH
from tests.simulator.listing import models_answer
from tests.simulator.openai.chat import ChatApi
from tests.simulator.openai.responses import ResponsesApi
from tests.simulator.profiles import Profiles
from tests.simulator.records import Exchange
from tests.simulator.script import Chooser, Fault, Output, Reply, Script, output_of
from tests.simulator.shaping import shape
from tests.simulator.sse import play
from tests.simulator.transport import SimulatorTransport

SECRETS: Final = frozenset({"authorization", "x-api-key"})
COUNTERS: Final = ("/count_tokens", "/input_tokens")


class Simulator:
    """All simulated providers behind one address: the Anthropic SDK's base URL is that address, the OpenAI
    SDK's is `ADDRESS/v1`. `exchanges` has every request that came in."""

    def __init__(self, *, clock: Clock | None = None, seed: int = 0) -> None:
        self.clock: Clock = clock or RealClock()
        self.seed = seed
        self.profiles = Profiles()
        self.rates = Rates()
        self.ledger = Ledger()
        self.plan = Script()
        self.exchanges: list[Exchange] = []
        self._came = asyncio.Event()
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        messages, responses = AnthropicApi(self.profiles), ResponsesApi(self.profiles)
        self._apis: dict[str, Api] = {
            "/v1/messages": messages,
            "/v1/messages/count_tokens": messages,
            "/v1/responses": responses,
            "/v1/responses/input_tokens": responses,
            "/v1/chat/completions": ChatApi(self.profiles),
        }

    # -- what tests set -------------------------------------------------------------------------------------

    def script(self, *outputs: Output | Mapping[str, Any]) -> None:
        """Puts what is answered next at the end of the queue: replies, faults, or outputs as replay scripts
        have them. With an empty queue the answer is `ok`."""
        self.plan.add([o if isinstance(o, Reply | Fault) else output_of(o) for o in outputs])

    def faults(self, *faults: Fault | None) -> None:
        """What goes wrong with the next requests, one each; None for one that goes well."""
        self.plan.add_faults(faults)

    def choose(self, chooser: Chooser) -> None:
        """Asks this function, when the queue is empty, with the request's body."""
        self.plan.choosers.append(chooser)

    def reset(self) -> None:
        """Forgets scripts, faults, records and caches; settings stay."""
        self.plan.clear()
        self.exchanges.clear()
        self.ledger.clear()

    def transport(self) -> SimulatorTransport:
        """The way in without a port: for `httpx2.AsyncClient(transport=…)`."""
        return SimulatorTransport(self)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all requests that asked a model, in order."""
        return [exchange.body for exchange in self.exchanges]

    @property
    def disconnects(self) -> int:
        """How many clients left before they had their answer."""
        return sum(exchange.disconnected for exchange in self.exchanges)

    async def idle(self) -> None:
        """Returns once no request is being answered any more."""
        await self._idle.wait()

    async def received(self, count: int) -> None:
        """Returns once that many requests came in, also if none of them is answered yet."""
        while len(self.exchanges) < count:
            await self._came.wait()

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

    async def _serve(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        api = self._apis.get(request.path) if request.method == "POST" else None
        if api is None:
            await send_answer(self._aside(request), receive, send)
            return
        exchange = self._record(api, request)
        try:
            answer = await self._answer(api, request, exchange)
            headers = {api.id_header: f"req_sim{exchange.number:06d}", **answer.headers}
            await send_answer(replace(answer, headers=headers), receive, send)
        except ClientLeft:
            exchange.disconnected = True

    def _aside(self, request: HttpRequest) -> HttpAnswer:
        """What asks no model."""
        if request.path.startswith(PREFIX):
            return control(self, request)
        if request.method == "GET" and request.path.startswith(MODELS_PATH):
            return HttpAnswer(*models_answer(request, self.profiles))
        return HttpAnswer(404, {"error": {"type": "not_found_error", "message": "Not found"}})

    def _record(self, api: Api, request: HttpRequest) -> Exchange:
        headers = {name: value for name, value in request.headers.items() if name not in SECRETS}
        number = len(self.exchanges) + 1
        exchange = Exchange(number, self.clock.now(), api.name, request.path, headers=headers)
        self.exchanges.append(exchange)
        self._came.set()
        self._came = asyncio.Event()
        return exchange

    # -- one request ----------------------------------------------------------------------------------------

    async def _answer(self, api: Api, request: HttpRequest, exchange: Exchange) -> HttpAnswer:
        exchange.body = _body_of(request)
        try:
            prepared = api.prepare(request)
            exchange.account = prepared.account
            if request.path.endswith(COUNTERS):
                return self._counted(api, prepared, exchange)
            return await self._reply(api, prepared, exchange)
        except Refusal as refusal:
            exchange.status, exchange.rule, exchange.error = refusal.status, refusal.rule, refusal.message
            return HttpAnswer(refusal.status, api.error(refusal, exchange.number), headers=refusal.headers)

    def _counted(self, api: Api, prepared: Prepared, exchange: Exchange) -> HttpAnswer:
        exchange.status, exchange.complete = 200, True
        return HttpAnswer(body=api.counted(prepared))

    async def _reply(self, api: Api, prepared: Prepared, exchange: Exchange) -> HttpAnswer:
        reply = self._chosen(api, prepared)
        fault = reply.fault
        if fault is not None and (fault.answers or fault.then == "drop"):
            await self._fail(fault)
        billing = self._take(api, prepared, exchange)
        if fault is not None and fault.delay_s:
            await self.clock.sleep(fault.delay_s)
        answering = self._answering(prepared, reply, billing, exchange)
        if prepared.stream:
            exchange.status = 200
            return HttpAnswer(stream=self._stream(api, answering, billing, exchange))
        self._begin(answering, billing, exchange)
        return self._whole(api, answering, exchange)

    def _chosen(self, api: Api, prepared: Prepared) -> Reply:
        """What is answered, with the fault that hits it. A planned status uses up no scripted output."""
        fault = self.plan.next_fault()
        if fault is not None and (fault.answers or fault.then == "drop"):
            return Reply(fault=fault)
        if prepared.only_caches:
            return Reply(stop=api.prewarmed_stop, fault=fault)
        output = self.plan.next(prepared.body)
        if isinstance(output, Fault):
            return Reply(fault=output)
        quirks = output.quirks | self.profiles.quirks.get(prepared.model.id, frozenset())
        return replace(output, fault=fault or output.fault, quirks=quirks)

    async def _fail(self, fault: Fault) -> None:
        if fault.delay_s:
            await self.clock.sleep(fault.delay_s)
        if fault.then == "drop":
            raise Dropped
        raise planned(fault)

    def _take(self, api: Api, prepared: Prepared, exchange: Exchange) -> Billing:
        """Takes the request, if the rate allows it: what it reads and writes is settled now."""
        billing = self.ledger.quote(prepared, exchange.at)
        tokens = billing.tokens
        counted = tokens.fresh + tokens.write5m + tokens.write1h + (tokens.read if api.counts_reads else 0)
        wait = self.rates.wait_s(prepared, counted, exchange.at)
        if wait:
            headers = {"retry-after": str(ceil(wait))}
            message = "This request would exceed the rate limit of your account."
            raise Refusal(api.rate_rule, 429, message, headers=headers)
        self.ledger.take(prepared, billing)
        return billing

    def _answering(self, prepared: Prepared, reply: Reply, billing: Billing, exchange: Exchange) -> Answering:
        shaped = shape(
            reply,
            prepared.model,
            limit=prepared.output_limit,
            limit_stop=prepared.limit_stop,
            stop_sequences=prepared.stop_sequences,
            seed=self.seed + exchange.number,
        )
        usage = Usage(**billing.tokens.model_dump(by_alias=False), output=shaped.tokens)
        return Answering(prepared, shaped, usage, exchange.number, self.clock.now().timestamp())

    def _begin(self, answering: Answering, billing: Billing, exchange: Exchange) -> None:
        """The answer begins: it is billed, and others can read what it wrote."""
        exchange.began_at = self.clock.now()
        exchange.status, exchange.usage = 200, answering.usage
        exchange.cost = cost(answering.usage, answering.request)
        self.ledger.begin(answering.request, billing, exchange.began_at)
        self.rates.produced(answering.request, answering.usage.output, exchange.began_at)

    async def _stream(
        self, api: Api, answering: Answering, billing: Billing, exchange: Exchange
    ) -> AsyncIterator[bytes]:
        def sent(event: Event) -> None:
            exchange.sent.append(event.data)

        self._begin(answering, billing, exchange)
        reply = answering.reply.reply
        async for data in play(api.events(answering), reply, api, self.clock, sent, planned):
            yield data
        exchange.complete = not (reply.fault and reply.fault.then)

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


def _body_of(request: HttpRequest) -> dict[str, Any]:
    """The body for the record; empty if it cannot be read."""
    try:
        return read_json(request.body)
    except ValueError:
        return {}
