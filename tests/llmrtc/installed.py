"""The package that is compared with, installed by npm into the build folder; never with its scripts run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, run
from typing import Any

from builder.config.bootstrap import frontend, locks, node, stamps
from builder.config.bootstrap.problem import Problem
from builder.config.bootstrap.shell import BUILD, run_quietly

HERE = Path(__file__).parent
FOLDER = BUILD / "llmrtc"
FILES = ("package.json", "package-lock.json", ".npmrc")


class Unavailable(Exception):
    """The comparison cannot be made here; the message says why."""


@dataclass(frozen=True)
class Peer:
    """LLMRTC, ready to run."""

    node: str
    folder: Path

    def run(self, script: Path, *arguments: str, given: str = "") -> str:
        """What a script printed that gets the package's folder and the other arguments. Raises
        CalledProcessError, with what it wrote to its error output, if it failed."""
        done = run(
            [self.node, str(script), str(self.folder), *arguments],
            input=given,
            stdout=PIPE,
            encoding="utf-8",
            check=True,
        )
        return done.stdout

    def play(self, cases: Sequence[Any]) -> list[list[dict[str, Any]]]:
        """What LLMRTC did in each turn of each case."""
        results: list[list[dict[str, Any]]] = json.loads(
            self.run(HERE / "run.mjs", given=json.dumps(list(cases)))
        )
        return results


def ensure() -> Peer:
    """The package of the lock file; installed once. Raises Unavailable without Node or without a registry."""
    tool = node.of_the_machine() or (node.of_the_registry() if node.OWN.exists() else None)
    if tool is None:
        raise Unavailable(f"LLMRTC runs on Node {node.OLDEST} with npm, and neither is here.")
    wanted = {"lock": stamps.hash_of([HERE / name for name in FILES], HERE)}
    stamp = FOLDER / "stamp.json"
    with locks.alone(BUILD / "llmrtc.lock"):
        if stamps.read(stamp) != wanted:
            _install(tool)
            stamps.write(stamp, wanted)
    return Peer(tool.node, FOLDER)


def _install(tool: node.Node) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name in FILES:
        shutil.copy(HERE / name, FOLDER / name)
    try:
        run_quietly(
            [*tool.npm, "ci", "--ignore-scripts"],
            doing="installing LLMRTC",
            folder=FOLDER,
            env={**frontend.NPM, "PATH": tool.path},
        )
    except Problem as problem:
        raise Unavailable(f"LLMRTC could not be installed: {problem}") from problem
