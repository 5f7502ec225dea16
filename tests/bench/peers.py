"""The other engines of the bench, fetched into `build/`: LLMRTC with npm, LangGraph with uv or pip."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path
from typing import Any

from builder.config.bootstrap.shell import BUILD, attempt
from tests.llmrtc import installed

HERE = Path(__file__).parent
LANGGRAPH = "langgraph==1.2.12"
ENVIRONMENT = BUILD / "bench-langgraph"


def llmrtc_times(playbook: dict[str, Any], outputs: list[list[dict[str, Any]]], turns: int) -> list[float]:
    """Milliseconds of each turn. Raises RuntimeError, with the reason, where it cannot be had."""
    try:
        peer = installed.ensure()
    except installed.Unavailable as reason:
        raise RuntimeError(str(reason)) from reason
    given = json.dumps({"playbook": playbook, "outputs": outputs})
    times: list[float] = json.loads(peer.run(HERE / "llmrtc.mjs", str(turns), given=given))["times"]
    return times


def langgraph_times(outputs: list[list[dict[str, Any]]], turns: int) -> list[float]:
    """Milliseconds of each turn. Raises RuntimeError, with the reason, where it cannot be had."""
    python = _environment()
    done = subprocess.run(
        [str(python), str(HERE / "langgraph_loop.py"), str(turns)],
        input=json.dumps(outputs),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    times: list[float] = json.loads(done.stdout)["times"]
    return times


def _environment() -> Path:
    """The scratch environment's Python; made on first use, and no part of ours."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / LANGGRAPH
    if not stamp.exists():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        code, output = attempt([python, "-m", "pip", "install", "--quiet", LANGGRAPH])
        if code != 0:
            raise RuntimeError(f"{LANGGRAPH} could not be installed: {output.strip().splitlines()[-1]}")
        stamp.touch()
    return python
