"""Cuts the test run off from the outside: a forgotten double fails at once and spends no money."""

import ipaddress
import socket
from typing import Any

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo


class OutsideNetwork(RuntimeError):
    """A test tried to reach another machine. Give it a double, or a server on this one."""


def is_here(host: Any) -> bool:
    """Whether the name or address means this machine."""
    if host in (None, "", "localhost", b"localhost"):
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    try:
        address = ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def check(family: int, address: Any) -> None:
    internet = family in (socket.AF_INET, socket.AF_INET6)
    if internet and not is_here(address[0]):
        raise OutsideNetwork(f"A test tried to connect to {address[0]}")


def connect(self: socket.socket, address: Any) -> None:
    check(self.family, address)
    _connect(self, address)


def connect_ex(self: socket.socket, address: Any) -> int:
    check(self.family, address)
    return _connect_ex(self, address)


def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    if not is_here(host):
        raise OutsideNetwork(f"A test tried to look up {host!r}")
    return _getaddrinfo(host, *args, **kwargs)


def block() -> None:
    """For the rest of this process."""
    socket.socket.connect = connect  # type: ignore[method-assign,assignment]
    socket.socket.connect_ex = connect_ex  # type: ignore[method-assign,assignment]
    socket.getaddrinfo = getaddrinfo
