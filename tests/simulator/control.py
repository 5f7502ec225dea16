"""`/_sim/…`: scripts, faults, settings, time and records over HTTP, for tests in another process.

- `POST script` `[output, …]`: puts outputs (as in a replay script, or `{status: …}`) at the end of the queue.
- `POST faults` `[fault or null, …]`: plans what goes wrong with the next requests.
- `POST settings` `{keys, retired, local, off, rates}`: who may ask, which models there are, which rules are
  not checked, limits per minute.
- `POST clock` `{manual: true}` or `{advance: seconds}`: stops the clock, or moves the stopped one.
- `POST reset`: forgets scripts, faults, records and caches.
- `GET requests`: every request so far; `?from=N` only those behind the first N.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from tests.simulator.answers import HttpRequest
from tests.simulator.asgi import HttpAnswer
from tests.simulator.billing import Rates
from tests.simulator.clock import ManualClock
from tests.simulator.script import fault_of, output_of

if TYPE_CHECKING:
    from tests.simulator.simulator import Simulator

PREFIX: Final = "/_sim/"


def control(simulator: Simulator, request: HttpRequest) -> HttpAnswer:
    """Does what is asked for; 400 with words for what cannot be read."""
    command = request.path.removeprefix(PREFIX)
    if request.method == "GET" and command == "requests":
        start = int(parse_qs(request.query).get("from", ["0"])[0])
        return HttpAnswer(body=[exchange.as_json() for exchange in simulator.exchanges[start:]])
    action = ACTIONS.get(command)
    if action is None or request.method != "POST":
        return HttpAnswer(404, {"error": f"no such command: {request.method} {command}"})
    try:
        action(simulator, json.loads(request.body or b"null"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return HttpAnswer(400, {"error": f"{type(error).__name__}: {error}"})
    return HttpAnswer(body={"done": command})


def _script(simulator: Simulator, data: Any) -> None:
    simulator.script(*[fault_of(item) if "status" in item else output_of(item) for item in data])


def _faults(simulator: Simulator, data: Any) -> None:
    simulator.faults(*[None if item is None else fault_of(item) for item in data])


def _settings(simulator: Simulator, data: Any) -> None:
    if unknown := data.keys() - {"keys", "retired", "local", "off", "rates"}:
        raise ValueError(f"unknown settings {sorted(unknown)}")
    if "keys" in data:
        simulator.profiles.keys = data["keys"]
    simulator.profiles.retired |= set(data.get("retired", ()))
    for local in data.get("local", ()):
        simulator.profiles.add_local(local["id"], *local.get("quirks", ()))
    for rule in data.get("off", ()):
        simulator.profiles.switch_off(rule)
    if "rates" in data:
        simulator.rates = Rates(**data["rates"])


def _clock(simulator: Simulator, data: Any) -> None:
    if data.get("manual"):
        simulator.clock = ManualClock(simulator.clock.now(), jumps=bool(data.get("jumps", False)))
    if "advance" in data:
        if not isinstance(simulator.clock, ManualClock):
            raise ValueError("the clock runs by itself; make it manual first")
        simulator.clock.advance(float(data["advance"]))


def _reset(simulator: Simulator, data: Any) -> None:
    simulator.reset()


ACTIONS: Final[dict[str, Callable[[Simulator, Any], None]]] = {
    "script": _script,
    "faults": _faults,
    "settings": _settings,
    "clock": _clock,
    "reset": _reset,
}
