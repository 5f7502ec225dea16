"""The real server as a subprocess: started by its own launcher, killed and restarted by tests."""

import http.client
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0
STOP_SECONDS = 40.0
LINK = re.compile(r"(http://\S+)/enter/\S+")


class StudioServer:
    """One studio with a data folder of its own. `address` and `link` are those of the running process."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.env = env
        self.address = ""
        self.link = ""
        self.process: subprocess.Popen[bytes] | None = None

    def manage(self, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Another command of the same studio, as a person would type it."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command,
            cwd=CHECKOUT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("STUDIO_")},
            "STUDIO_DATA_DIR": str(self.data),
            "STUDIO_BOOTSTRAP": "off",
            "DJANGO_SETTINGS_MODULE": "tests.support.server_settings",
            "PYTHONUNBUFFERED": "1",
            **self.env,
        }

    def start(self, port: int | None = None) -> None:
        """Returns once it answers. A second start uses the port of the first, so that pages find it again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        chosen = port if port is not None else int(self.address.rpartition(":")[2] or 0)
        self.log.write_bytes(b"")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(chosen)],
                cwd=CHECKOUT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                raise AssertionError(f"The server ended as it started:\n{self.log_tail()}")
            found = LINK.search(self.log.read_text("utf-8", errors="replace"))
            if found:
                self.link, self.address = found[0], found[1]
                if self.status("/health") == 200:
                    return
            time.sleep(0.05)
        raise AssertionError(f"The server did not answer in {START_SECONDS} s:\n{self.log_tail()}")

    def status(self, path: str) -> int:
        """The status of a GET; 0 when nobody answers."""
        host = self.address.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """The exit code. `signal.SIGKILL` is the crash."""
        if self.process is None:
            return 0
        self.process.send_signal(number)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"The server did not stop in {STOP_SECONDS} s:\n{self.log_tail()}") from None
        self.process = None
        return code

    def new_link(self) -> str:
        """A fresh sign-in link, from the command that a person would use."""
        done = self.manage("link")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """What the database says, read beside the server."""
        connection = sqlite3.connect(f"file:{self.data / 'studio.sqlite3'}?mode=ro", uri=True, timeout=20)
        connection.row_factory = sqlite3.Row
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def log_tail(self, characters: int = 4000) -> str:
        return self.log.read_text("utf-8", errors="replace")[-characters:]
