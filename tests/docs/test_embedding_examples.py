"""The programs that docs/embedding.md shows, run as a reader would: without Django and without a key."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "builder" / "transfer" / "gallery" / "customer-support.json"
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs" / "embedding.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
NO_DJANGO = "import sys\nsys.modules['django'] = None\n"


def run(program: str, folder: Path, *said: str) -> str:
    file = folder / "talk.py"
    file.write_text(NO_DJANGO + program, "utf-8")
    hidden = {"DJANGO_SETTINGS_MODULE", "ANTHROPIC_API_KEY"}
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, str(file), str(GALLERY)],
        input="".join(f"{line}\n" for line in said),
        env={**env, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_shortest_program_gets_a_reply_for_each_line(tmp_path: Path) -> None:
    replies = run(PROGRAMS[0], tmp_path, "Hi", "Where is my parcel?").strip().splitlines()
    assert len([line for line in replies if line]) >= 2


def test_the_longer_program_shows_moves_and_its_own_tool(tmp_path: Path) -> None:
    shown = run(
        PROGRAMS[1],
        tmp_path,
        "Hi",
        "Where is my parcel? It is order 4471.",
        "ada@example.org",
        "Thanks, bye!",
    )
    assert "[llm_decision -> Authentication]" in shown
    assert '[find_order: {"orderNumber": "4471", "status": "on its way"}]' in shown
