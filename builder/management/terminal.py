"""What commands that write much to the terminal have in common."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn


def speak_utf8() -> None:
    """Output is UTF-8 whatever the terminal's language: replies and JSON have any character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def leave_quietly() -> NoReturn:
    """Ends when whoever read the output has enough of it (`| head`): no traceback, nothing went wrong."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
