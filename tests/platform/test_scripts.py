"""The developer's helpers in `scripts/`, as far as they need no compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import llama_server


def test_the_local_server_listens_on_this_machine_only_and_takes_further_options(tmp_path: Path) -> None:
    options = llama_server.parsed(
        [str(tmp_path / "m.gguf"), "--port", "9", "--jobs", "2", "--", "--cache-ram", "0"]
    )
    command = llama_server.command_line(Path("llama-server"), options)
    assert command[1:7] == ["-m", str(tmp_path / "m.gguf"), "--host", "127.0.0.1", "--port", "9"]
    assert command[-2:] == ["--cache-ram", "0"]
    assert str(llama_server.TEMPLATE) in command
    own = llama_server.parsed(["m.gguf", "--own-template"])
    assert "--chat-template-file" not in llama_server.command_line(Path("llama-server"), own)


def test_a_file_that_is_not_there_is_said_before_anything_is_built() -> None:
    with pytest.raises(SystemExit, match=r"no GGUF file at nowhere\.gguf"):
        llama_server.main(["nowhere.gguf"])
