"""A Chromium for the browser tests: named, found, or installed."""

import os
import shutil
from pathlib import Path

from builder.config.bootstrap import frontend, node
from builder.config.bootstrap.problem import Problem
from builder.config.bootstrap.shell import BUILD, attempt, run_quietly, say

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
OWN = BUILD / "browser"
NPM_PACKAGE = "@sparticuz/chromium@153.0.0"
UNPACK = """
import chromium from '@sparticuz/chromium';
process.stdout.write(await chromium.executablePath());
"""


def find() -> dict[str, str] | None:
    """What the browser tests read from the environment: STUDIO_BROWSER, STUDIO_BROWSER_LIBS if needed."""
    named = os.environ.get("STUDIO_BROWSER")
    if named:
        if not Path(named).is_file():
            raise Problem(f"STUDIO_BROWSER names {named}, which is no file: set it to a Chromium program.")
        return {"STUDIO_BROWSER": named}
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return {"STUDIO_BROWSER": path}
    return unpacked()


def ensure() -> dict[str, str]:
    """Finds a browser or installs one. Raises Problem: without a browser nothing was verified."""
    return find() or from_apt() or from_npm()


def from_apt() -> dict[str, str] | None:
    """Debian's Chromium, where we may install it."""
    if os.name == "nt" or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    say("Installing Chromium with apt-get ...")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    attempt(["apt-get", "update", "-qq"], env=quiet)
    code, _ = attempt(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], env=quiet)
    return find() if code == 0 else None


def from_npm() -> dict[str, str]:
    """A Chromium that unpacks itself; it brings the few system libraries it needs."""
    say("Fetching Chromium from the npm registry ...")
    tool = node.ensure()
    env = {**frontend.NPM, "PATH": tool.path, "TMPDIR": str(OWN)}
    doing = "fetching a browser for the tests (or install Chromium, or name one with STUDIO_BROWSER)"
    OWN.mkdir(parents=True, exist_ok=True)
    (OWN / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    (OWN / "unpack.js").write_text(UNPACK, encoding="utf-8")
    run_quietly([*tool.npm, "install", "--no-save", NPM_PACKAGE], doing=doing, folder=OWN, env=env)
    run_quietly([tool.node, "unpack.js"], doing=doing, folder=OWN, env=env)
    unpack_libraries(tool)
    found = unpacked()
    if found is None:
        raise Problem("No browser could be installed: install Chromium or name one with STUDIO_BROWSER.")
    return found


def unpack_libraries(tool: node.Node) -> None:
    """The archive of nspr, nss and expat for systems that lack them."""
    archive = OWN / "node_modules" / "@sparticuz" / "chromium" / "bin" / "al2023.tar.br"
    script = (
        "const z=require('zlib'),f=require('fs');"
        f"f.writeFileSync('libraries.tar',z.brotliDecompressSync(f.readFileSync({str(archive)!r})))"
    )
    (OWN / "libraries.cjs").write_text(script, encoding="utf-8")
    doing = "unpacking the browser's libraries"
    run_quietly([tool.node, "libraries.cjs"], doing=doing, folder=OWN, env={"PATH": tool.path})
    shutil.unpack_archive(OWN / "libraries.tar", OWN / "libraries", "tar", filter="data")


def unpacked() -> dict[str, str] | None:
    program = OWN / "chromium"
    if not program.is_file():
        return None
    libraries = [str(folder) for folder in (OWN / "libraries", OWN / "libraries" / "lib") if folder.exists()]
    return {"STUDIO_BROWSER": str(program), "STUDIO_BROWSER_LIBS": os.pathsep.join(libraries)}
