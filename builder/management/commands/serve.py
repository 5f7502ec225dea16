"""`manage.py serve`: the server itself. `manage.py up` builds what it needs and then runs this."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from builder.config import data_folder, migrating, sign_in
from builder.config.bootstrap import locks
from builder.config.bootstrap.frontend import IN_USE
from builder.config.ports import NoFreePort, free_port

DEFAULT_PORT = 8000


class Command(BaseCommand):
    help = "Starts the studio in one process and prints its sign-in link."
    requires_system_checks: list[str] = []  # type: ignore[assignment,unused-ignore]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
        )
        parser.add_argument(
            "--port", type=int, help=f"port (default {DEFAULT_PORT} or the next free one; 0: any)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with ExitStack() as held:
            host = options["host"]
            port = self.prepare(held, host, options["port"])
            orderly, busy = self.serve(host, port)
            if busy:
                # Its row stays `running`, and the next start takes it up; its thread could take hours.
                os._exit(0 if orderly else 1)
        sys.exit(0 if orderly else 1)

    def prepare(self, held: ExitStack, host: str, wanted: int | None) -> int:
        """The port to listen on, with the folder locked and the database ready. Raises CommandError."""
        folder = settings.STUDIO.data_dir
        try:
            data_folder.prepare(folder)
            if settings.STUDIO.embedded:
                held.enter_context(data_folder.server_lock(folder))
            port = free_port(host, DEFAULT_PORT if wanted is None else wanted, exact=wanted is not None)
            migrating.migrate()
        except (data_folder.DataFolderProblem, NoFreePort, migrating.DatabaseProblem) as problem:
            raise CommandError(str(problem)) from problem
        held.enter_context(static_files_in_use())
        return port

    def serve(self, host: str, port: int) -> tuple[bool, bool]:
        """Blocks until the end; whether it was an orderly one, and whether some job is still at it."""
        # Twisted's reactor is chosen at the first import: it stays out of every other command.
        from builder.config.launcher import Launcher

        folder = settings.STUDIO.data_dir
        address = f"http://{browser_name(host)}:{port}"
        sign_in.forget_links()
        data_folder.write_address(folder, address)
        launcher = Launcher(settings.STUDIO, host=host, port=port, ready=lambda: self.announce(address))
        orderly = launcher.run()
        data_folder.remove_address(folder)
        if orderly:
            self.tell("Stopped. Everything is saved." if launcher.all_saved else "Stopped.")
        return orderly, launcher.busy

    def announce(self, address: str) -> None:
        self.stdout.write(f"Playbook Studio is ready: {address}/enter/{sign_in.make_link_token()}")
        self.tell("The link signs you in once. Stop with Ctrl+C.")
        self.tell_of_connections()
        self.stdout.flush()

    def tell_of_connections(self) -> None:
        """What of the operator's file is not used: the studio runs without it."""
        from runtime.wiring import connections  # the models' modules stay out of the way of a quick refusal

        for problem in connections().problems:
            self.tell(f"{connections().file.path}: {problem}")

    def tell(self, line: str) -> None:
        """To the person, not to who reads the link; not in the red of errors. A terminal may be gone."""
        with suppress(OSError):
            self.stderr.write(line, str)


@contextmanager
def static_files_in_use() -> Iterator[None]:
    """Keeps the files that this server was started with from being tidied away."""
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    with (settings.STATIC_ROOT / IN_USE).open("a+") as file:
        locks.lock(file, shared=True)
        yield


def browser_name(host: str) -> str:
    """What to type for an address to listen on."""
    if host in ("0.0.0.0", "::"):  # noqa: S104  (compared, not bound)
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
