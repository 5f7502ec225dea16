"""`python -m tests.simulator --port 0`: serves the simulated providers and prints their address."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress

from tests.simulator.server import serving
from tests.simulator.simulator import Simulator


async def serve(port: int, host: str) -> None:
    """Until it is stopped."""
    async with serving(Simulator(), port, host) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Reads the options and serves."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(options.port, options.host))


if __name__ == "__main__":
    main()
