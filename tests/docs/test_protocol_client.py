"""The client that docs/protocol.md shows, run against the real server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.studio import StudioServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"
PLAYBOOK = {
    "id": "short",
    "name": "Short",
    "initialStage": "greeting",
    "stages": [
        {
            "id": "greeting",
            "name": "Greeting",
            "systemPrompt": "Greet.",
            "metadata": {"rehearsal": [{"say": "Good morning from the rehearsal."}]},
        }
    ],
}


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioServer]:
    server = StudioServer(tmp_path / "studio")
    server.start()
    yield server
    server.stop()


def test_the_shown_client_prints_the_reply(studio: StudioServer, tmp_path: Path) -> None:
    (client,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "client.py").write_text(client, "utf-8")
    (tmp_path / "playbook.json").write_text(json.dumps(PLAYBOOK), "utf-8")
    done = subprocess.run(
        [sys.executable, "client.py", studio.new_link(), "playbook.json", "Hello"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Good morning from the rehearsal." in done.stdout
