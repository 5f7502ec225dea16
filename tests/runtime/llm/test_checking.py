"""`list_models` and `check`: what is wrong with a connection, in words that a person understands."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runtime.llm.base import BadRequest, ConnectionLost, NotAllowed
from runtime.llm.sdk import SdkLLM
from tests.runtime.llm.adapters import ADAPTERS, KEY, Adapter, simulator

EVERY = pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
Answer = Callable[[httpx2.Request], httpx2.Response]


def models(*ids: str) -> dict[str, Any]:
    rows = [{"id": name, "type": "model", "object": "model", "display_name": name} for name in ids]
    return {"object": "list", "data": rows, "has_more": False}


def error(status: int, kind: str, message: str = "") -> httpx2.Response:
    body = {"type": "error", "error": {"type": kind, "code": kind, "message": message or f"bad {KEY}"}}
    return httpx2.Response(status, json=body)


@asynccontextmanager
async def answered(adapter: Adapter, answer: Answer) -> AsyncIterator[SdkLLM]:
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        llm = adapter.kind(KEY, "http://provider" + adapter.path, http_client=client)
        yield llm
        await llm.aclose()


@EVERY
async def test_the_models_that_the_server_offers_are_listed(adapter: Adapter) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.path)
        return httpx2.Response(200, json=models("one", "two"))

    async with answered(adapter, answer) as llm:
        assert await llm.list_models() == ["one", "two"]
        await llm.check("two")
    assert asked == ["/v1/models", "/v1/models"], "a listed model is not asked anything"


@EVERY
async def test_a_wrong_key_is_said_to_be_one(adapter: Adapter) -> None:
    async with answered(adapter, lambda _: error(401, "authentication_error")) as llm:
        with pytest.raises(NotAllowed, match="does not accept the key") as caught:
            await llm.check("one")
    assert KEY not in str(caught.value)


@EVERY
async def test_a_model_that_is_not_listed_is_asked_and_unknown_if_it_does_not_answer(
    adapter: Adapter,
) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/models":
            return httpx2.Response(200, json=models("one"))
        return error(404, "not_found_error", "model: nine")

    async with answered(adapter, answer) as llm:
        with pytest.raises(BadRequest, match="does not know this model"):
            await llm.check("nine")


class _NoList(httpx2.AsyncBaseTransport):
    """A server that answers, but lists nothing."""

    def __init__(self, behind: httpx2.AsyncBaseTransport) -> None:
        self._behind = behind

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return error(404, "not_found_error")
        return await self._behind.handle_async_request(request)


@EVERY
async def test_a_server_without_a_list_is_asked_for_a_few_words(adapter: Adapter) -> None:
    sim = simulator()
    async with httpx2.AsyncClient(transport=_NoList(sim.transport())) as client:
        llm = adapter.kind(KEY, "http://provider" + adapter.path, http_client=client)
        await llm.check(adapter.model)
        await llm.aclose()
    [body] = sim.bodies
    assert body["model"] == adapter.model
    assert body.get("max_tokens", body.get("max_output_tokens")) == 16


@EVERY
async def test_a_server_without_a_list_and_no_model_to_ask_is_no_working_connection(adapter: Adapter) -> None:
    async with answered(adapter, lambda _: error(404, "not_found_error")) as llm:
        with pytest.raises(BadRequest, match="no list of models at this URL"):
            await llm.check(None)


@EVERY
async def test_a_page_that_is_no_list_is_said_to_be_none(adapter: Adapter) -> None:
    async with answered(adapter, lambda _: httpx2.Response(200, text="<html>hello</html>")) as llm:
        with pytest.raises(BadRequest, match="list of models"):
            await llm.check(None)


async def test_an_empty_list_may_be_no_list() -> None:
    async with answered(ADAPTERS["openai-chat"], lambda _: httpx2.Response(200, json={"data": None})) as llm:
        assert await llm.list_models() == []


@EVERY
async def test_an_address_that_is_none_is_said_to_be_none(adapter: Adapter) -> None:
    llm = adapter.kind(KEY, "http://h:port")
    with pytest.raises(ConnectionLost, match="address") as caught:
        await llm.check("m")
    assert not caught.value.retryable


@EVERY
async def test_a_server_that_is_not_there_is_said_to_be_unreachable(adapter: Adapter) -> None:
    llm = adapter.kind(KEY, "http://127.0.0.1:9" + adapter.path)
    with pytest.raises(ConnectionLost, match="cannot be reached"):
        await llm.check(None)
    await llm.aclose()


@EVERY
async def test_a_certificate_that_nobody_signed_is_named_as_the_cause(
    adapter: Adapter, tmp_path: Path
) -> None:
    async with tls_server(tmp_path) as url:
        llm = adapter.kind(KEY, url + adapter.path)
        with pytest.raises(ConnectionLost, match=r"certificate cannot be trusted \(TLS\): self") as caught:
            await llm.check(None)
        await llm.aclose()
    assert not caught.value.retryable, "trying again does not make it trusted"


@asynccontextmanager
async def tls_server(folder: Path) -> AsyncIterator[str]:
    """A server on this machine whose certificate it signed itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    began = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(began)
        .not_valid_after(began + datetime.timedelta(days=36500))
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
