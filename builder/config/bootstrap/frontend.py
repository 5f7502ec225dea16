"""The frontend's packages, its build, and the static files that are served: each when its sources changed."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from builder.config.bootstrap import locks, node, stamps
from builder.config.bootstrap.environment import python
from builder.config.bootstrap.shell import BUILD, CHECKOUT, run_quietly, say

FRONTEND = CHECKOUT / "frontend"
MODULES = FRONTEND / "node_modules"
BUILT = CHECKOUT / "static" / "app"
BUILD_STAMP = BUILD / "stamps" / "frontend.json"
COLLECTIONS = BUILD / "static"
CURRENT = COLLECTIONS / "current"
"""Names the collection that a server which starts now will serve."""
IN_USE = "in-use"
KEPT = 3
NOT_SOURCES = {"node_modules", "dist", "coverage", ".vite"}

NPM = {
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_update_notifier": "false",
    "npm_config_loglevel": "error",
    "npm_config_fetch_retries": "2",
    "npm_config_fetch_retry_mintimeout": "1000",
    "npm_config_fetch_retry_maxtimeout": "5000",
}


def ensure_built() -> None:
    """The build of the sources as they are, collected with the other static files. Raises Problem."""
    with locks.alone(BUILD / "build.lock"):
        sources = {"sources": stamps.hash_of(sources_of_build(), FRONTEND)}
        if stamps.read(BUILD_STAMP) != sources or not (BUILT / "manifest.json").exists():
            BUILD_STAMP.unlink(missing_ok=True)
            tool = ensure_packages(dev=False)
            say("Building the frontend ...")
            npm(tool, "run", "build", doing="building the frontend")
            stamps.write(BUILD_STAMP, sources)
        collect()


def sources_of_build() -> Iterator[Path]:
    """Every file of the frontend that can change what is built; its tests cannot."""
    for file in walk(FRONTEND):
        if not file.name.endswith((".test.ts", ".test.tsx")):
            yield file


def walk(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in NOT_SOURCES:
                yield from walk(entry)
        elif entry.is_file():
            yield entry


def ensure_packages(*, dev: bool) -> node.Node:
    """The packages of package-lock.json; those of the developers only when they are asked for."""
    tool = node.ensure()
    stamp = MODULES / ".studio-stamp.json"
    found = stamps.read(stamp)
    lock = stamps.hash_of([FRONTEND / "package.json", FRONTEND / "package-lock.json"], FRONTEND)
    if found.get("lock") == lock and (found.get("dev") or not dev):
        return tool
    say("Installing the frontend's packages ...")
    everything = dev or bool(found.get("dev"))
    npm(tool, "ci", *([] if everything else ["--omit=dev"]), doing="installing the frontend's packages")
    stamps.write(stamp, {"lock": lock, "dev": everything})
    return tool


def npm(tool: node.Node, *arguments: str, doing: str) -> str:
    return run_quietly([*tool.npm, *arguments], doing=doing, folder=FRONTEND, env={**NPM, "PATH": tool.path})


def collect() -> None:
    """Static files side by side and compressed, as they are served. Each build has a folder of its own:
    a server that runs goes on with the files that it started with."""
    name = name_of_collection()
    folder = COLLECTIONS / name
    if not folder.exists():
        say("Collecting static files ...")
        aside = COLLECTIONS / f"{name}.making"
        shutil.rmtree(aside, ignore_errors=True)
        command = [
            str(python()),
            str(CHECKOUT / "manage.py"),
            "collectstatic",
            "--no-input",
            "--verbosity",
            "0",
        ]
        run_quietly(command, doing="collecting the static files", env={"STUDIO_STATIC_ROOT": str(aside)})
        aside.rename(folder)
    if collected() != folder:
        CURRENT.write_text(name, encoding="ascii")
    prune()


def name_of_collection() -> str:
    """From everything that can change what is collected."""
    files = [file for file in walk(CHECKOUT / "static") if BUILT not in file.parents]
    app = str(stamps.read(BUILD_STAMP).get("sources", ""))
    packages = stamps.hash_of([CHECKOUT / "requirements.lock"], CHECKOUT)
    return hashlib.sha256(f"{stamps.hash_of(files, CHECKOUT)} {app} {packages}".encode()).hexdigest()[:16]


def collected() -> Path:
    """The collection for a server that starts now; does not exist before the first build."""
    try:
        return COLLECTIONS / CURRENT.read_text("ascii").strip()
    except OSError:
        return COLLECTIONS / "none"


def prune() -> None:
    """Removes old collections that no server holds on to."""
    folders = [entry for entry in COLLECTIONS.iterdir() if entry.is_dir() and entry != collected()]
    for folder in sorted(folders, key=lambda entry: entry.stat().st_mtime, reverse=True)[KEPT:]:
        if not locks.is_held(folder / IN_USE):
            shutil.rmtree(folder, ignore_errors=True)
