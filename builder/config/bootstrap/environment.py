"""The virtual environment in the checkout: made with `venv`, filled by `uv` from a hashed lock, stamped.

There are three sets, each containing the one before: run-time, with PostgreSQL and Redis, with the tools
of the developers. What is installed never shrinks to a smaller set.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from builder.config.bootstrap import stamps
from builder.config.bootstrap.problem import DISK_FULL_TEXT, Problem, explain
from builder.config.bootstrap.shell import CHECKOUT, attempt, run_quietly, say

VENV = CHECKOUT / ".venv"
STAMP = VENV / "studio-stamp.json"
LOCKS = {"run": "requirements.lock", "scale": "requirements-scale.lock", "dev": "requirements-dev.lock"}
SETS = tuple(LOCKS)
NEEDED_BYTES = 700_000_000

UV_PACKAGE = "uv==0.13.9"
"""Not in a lock: it is what reads them."""
# Short enough that a machine without network hears of it soon.
UV = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "UV_HTTP_RETRIES": "2", "UV_LINK_MODE": "copy"}


def python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def program(name: str) -> Path:
    """A program that the environment brings, like pytest."""
    return python().with_name(f"{name}.exe" if os.name == "nt" else name)


def inside() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def wanted_set(command: str) -> str:
    """Which packages a command needs; one setting for PostgreSQL or Redis brings theirs."""
    if command == "verify":
        return "dev"
    scaled = ("STUDIO_DATABASE_URL", "DATABASE_URL", "STUDIO_REDIS_URL")
    return "scale" if any(os.environ.get(name) for name in scaled) else "run"


def ensure(wanted: str) -> None:
    """Makes the environment hold at least that set, as the locks name it. Raises Problem."""
    found = stamps.read(STAMP)
    target = max(wanted, found.get("set", "run"), key=SETS.index)
    current = lock_stamp(target)
    if python().exists() and found == current:
        return
    check_disk()
    if not inside() and not (found and python().exists()):
        make()
    install(target)
    stamps.write(STAMP, current)


def lock_stamp(target: str) -> dict[str, str]:
    """The set and the hashes of all locks it stands on, and which Python it was made for."""
    locks = [CHECKOUT / LOCKS[name] for name in SETS[: SETS.index(target) + 1]]
    version = ".".join(map(str, sys.version_info[:2]))
    return {"set": target, "python": version, "locks": stamps.hash_of(locks, CHECKOUT)}


def check_disk() -> None:
    if shutil.disk_usage(CHECKOUT).free < NEEDED_BYTES:
        raise Problem(DISK_FULL_TEXT)


def make() -> None:
    """An empty environment; what a broken-off attempt left is cleared."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if importlib.util.find_spec("ensurepip") is None:
        raise Problem(
            "This Python cannot make virtual environments: install that part of it, on Debian with "
            f"`sudo apt install python{version}-venv`, and run the command again."
        )
    say("Making a Python environment in .venv ...")
    try:
        venv.EnvBuilder(with_pip=True, clear=True).create(VENV)
    except subprocess.CalledProcessError as error:
        raise explain(f"{error.output or error}", "making the Python environment") from error
    except OSError as error:
        raise explain(str(error), "making the Python environment") from error


def install(target: str) -> None:
    """`uv` takes two seconds where `pip` takes forty; without it `pip` does the same work."""
    say("Installing Python packages ...")
    lock = CHECKOUT / LOCKS[target]
    doing = "installing the Python packages"
    if have_uv():
        command: list[str | Path] = [
            program("uv"),
            "pip",
            "sync",
            "--quiet",
            "--require-hashes",
            "--python",
            python(),
            lock,
        ]
        run_quietly(command, doing=doing, env=UV)
    else:
        pip = [*pip_install(), "--require-hashes", "-r", lock]
        run_quietly(pip, doing=doing)


def have_uv() -> bool:
    if program("uv").exists():
        return True
    code, output = attempt([*pip_install(), UV_PACKAGE])
    if code == 0:
        return True
    problem = explain(output, "installing the Python packages")
    if "no matching distribution" in output.lower() and "newconnectionerror" not in output.lower():
        return False  # no uv for this platform
    raise problem


def pip_install() -> list[str | Path]:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2", "--timeout", "20"]
    return [python(), "-m", "pip", "install", *quiet]


def enter(arguments: list[str]) -> None:
    """Goes on as the environment's own Python, with the same arguments; does not come back."""
    command = [str(python()), str(CHECKOUT / "manage.py"), *arguments]
    if os.name == "nt":  # exec there would give the prompt back at once
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)
