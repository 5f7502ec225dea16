"""The README's first command, as it is typed: it starts the product and ends it on Ctrl+C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.support.studio import CHECKOUT

LINK = re.compile(r"http://127\.0\.0\.1:\d+/enter/\S+")
SECONDS = 100


def test_up_prints_one_link_that_signs_in_and_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    log = tmp_path / "up.log"
    python = Path(sys.base_prefix) / "bin" / "python3"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("STUDIO_", "DJANGO_"))}
    with log.open("wb") as out:
        running = subprocess.Popen(
            [str(python), "manage.py", "up", "--data", str(tmp_path / "data"), "--port", "0"],
            cwd=CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        link = wait_for_link(log, running)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(link, timeout=20) as page:
            assert '<div id="root">' in page.read().decode()
        assert len(LINK.findall(log.read_text())) == 1
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
    finally:
        if running.poll() is None:
            running.kill()
    assert "Traceback" not in log.read_text()
    assert log.read_text().splitlines()[-1] == "Stopped. Everything is saved."


def wait_for_link(log: Path, running: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = LINK.search(log.read_text())
        if found:
            return found[0]
        assert running.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(f"No link in {SECONDS} s:\n{log.read_text()}")
