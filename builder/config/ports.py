"""Which port to listen on."""

import socket

PORTS_TO_TRY = 50


class NoFreePort(Exception):
    """Nothing could be listened on; the text says what to do."""


def free_port(host: str, wanted: int, *, exact: bool) -> int:
    """`wanted`, or the next free one after it unless `exact`; 0 is any. Raises NoFreePort."""
    if not 0 <= wanted <= 65535:
        raise NoFreePort(f"{wanted} is no port: choose one from 0 (any free one) to 65535 with `--port`.")
    candidates = [wanted] if exact or wanted == 0 else range(wanted, min(wanted + PORTS_TO_TRY, 65536))
    for port in candidates:
        found = try_port(host, port)
        if found is not None:
            return found
    raise NoFreePort(
        f"Port {wanted} of {host} is taken by another program: stop that one or choose another with `--port`."
        if exact
        else f"No port from {wanted} on is free at {host}: choose one with `--port`."
    )


def try_port(host: str, port: int) -> int | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except (OSError, OverflowError):
            return None
        return int(probe.getsockname()[1])
