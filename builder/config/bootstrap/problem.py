"""Why something could not be done, as one sentence that says what to do."""

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
    return Problem(f"Something failed while {doing} ({last_line(output)}){kept(output)}.")


def last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"


def kept(output: str) -> str:
    """Writes the output where it can be read; nothing if even that fails."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="studio-", suffix=".log", delete=False) as file:
            file.write(output)
        return f": read {Path(file.name)} for the whole output"
    except OSError:
        return ""
