"""Why something could not be done, as one sentence that says what to do."""

import re
import tempfile
from pathlib import Path


class Problem(Exception):
    """Ends the command; its text is all the person sees."""


DISK_FULL = ("no space left on device", "enospc", "disk quota exceeded")
NO_NETWORK = (
    "name resolution",
    "name or service not known",
    "dns error",
    "newconnectionerror",
    "network is unreachable",
    "failed to fetch",
    "error sending request",
    "client error (connect)",
    "connection refused",
    "connect timeout",
    "enotfound",
    "eai_again",
    "econnrefused",
    "etimedout",
    "err_socket_timeout",
    "tunnel error",
    "proxyerror",
)
NOT_WRITABLE = ("permission denied", "read-only file system", "eacces", "erofs")

DISK_FULL_TEXT = "The disk is full: free about 1 GB and run the command again."


def explain(output: str, doing: str) -> Problem:
    """From what a failed tool wrote to what the person can do. Unknown causes keep the output in a file."""
    text = output.lower()
    if any(sign in text for sign in DISK_FULL):
        return Problem(DISK_FULL_TEXT)
    if any(sign in text for sign in NO_NETWORK):
        return Problem(
            f"The package registry could not be reached while {doing}: connect to the network "
            "(or set your mirror for pip and npm) and run the command again."
        )
    if any(sign in text for sign in NOT_WRITABLE):
        return Problem(
            f"A file could not be written while {doing}: make this folder and your caches writable."
        )
    return Problem(f"Something failed while {doing} ({telling_line(output)}){kept(output)}.")


COLOURS = re.compile(r"\x1b\[[\d;]*m")
NOISE = re.compile(r"at |errors: \[|[│╭╰├─┬·]|\d+ │|npm error A complete log of this run|\W*$")
"""Stack traces, drawings around quoted source, brackets that close them, where a log is."""
CODED = re.compile(r"\[[^\]\s]+(?: [^\]\s]+)?\] \S")
"""How the build tool begins an error: `[UNRESOLVED_IMPORT] Could not resolve …`."""
PLACE = re.compile(r"╭─\[ (\S+:\d+:\d+) \]")


def telling_line(output: str) -> str:
    """The last error that a tool named by its code, with its place in the source; else its last line that
    says something."""
    lines = [line.strip() for line in COLOURS.sub("", output).splitlines()]
    coded = [number for number, line in enumerate(lines) if CODED.match(line)]
    if coded:
        place = next(filter(None, map(PLACE.search, lines[coded[-1] + 1 : coded[-1] + 3])), None)
        return lines[coded[-1]][:300] + (f", {place[1]}" if place else "")
    telling = [line for line in lines if not NOISE.match(line)]
    return telling[-1][:300] if telling else "no output"


def kept(output: str) -> str:
    """Writes the output where it can be read; nothing if even that fails."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="studio-", suffix=".log", delete=False) as file:
            file.write(COLOURS.sub("", output))
        return f": read {Path(file.name)} for the whole output"
    except OSError:
        return ""
