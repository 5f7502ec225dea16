"""The error of a tool that is meant for the model to read."""

from __future__ import annotations


class ToolFailed(Exception):
    """The tool answers with this error. `message` is what the model reads."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
