"""The run is cut off from other machines, and only from them."""

import asyncio
import socket
import threading

import pytest

from tests.no_network import OutsideNetwork


@pytest.mark.parametrize("host", ["api.anthropic.com", "example.org"])
def test_another_machines_name_is_not_looked_up(host: str) -> None:
    with pytest.raises(OutsideNetwork, match=host):
        socket.create_connection((host, 443), timeout=1)


def test_another_machines_address_is_not_connected_to() -> None:
    with socket.socket() as connection, pytest.raises(OutsideNetwork, match=r"192\.0\.2\.1"):
        connection.connect(("192.0.2.1", 80))


async def test_neither_is_it_from_an_event_loop() -> None:
    with pytest.raises(OutsideNetwork):
        await asyncio.open_connection("192.0.2.1", 80)


def test_this_machine_is_reached() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        accepting = threading.Thread(target=server.accept, daemon=True)
        accepting.start()
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
        accepting.join(5)
