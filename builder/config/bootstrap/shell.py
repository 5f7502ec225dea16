"""Running other programs quietly, and saying what goes on in a line each."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from builder.config.bootstrap.problem import explain

CHECKOUT = Path(__file__).resolve().parents[3]
BUILD = CHECKOUT / "build"
"""Everything made here but the environment; ignored by git, safe to delete."""


def say(line: str) -> None:
    """Progress goes to standard error: standard output belongs to the command."""
    print(line, file=sys.stderr, flush=True)


def run_quietly(
    command: Sequence[str | Path],
    *,
    doing: str,
    folder: Path = CHECKOUT,
    env: Mapping[str, str] | None = None,
) -> str:
    """The program's output. Raises Problem when it fails; the person sees nothing of its output otherwise."""
    code, output = attempt(command, folder=folder, env=env)
    if code != 0:
        raise explain(output, doing)
    return output


def attempt(
    command: Sequence[str | Path], *, folder: Path = CHECKOUT, env: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Exit code and output of a program, both streams together."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout
