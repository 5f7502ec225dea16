"""`manage.py serve`: the server itself. `manage.py up` builds what it needs and then runs this."""

import os
import sys
from argparse import ArgumentParser
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from builder.config import data_folder, migrating, sign_in
from builder.config.bootstrap import locks
from builder.config.bootstrap.frontend import IN_USE

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
        # Twisted's reactor is chosen at the first import: it stays out of every other command.
        from builder.config.launcher import Launcher, NoFreePort, free_port

        folder = settings.STUDIO.data_dir
        lock = data_folder.ServerLock(folder)
        host, port = options["host"], options["port"]
        try:
            data_folder.prepare(folder)
            if settings.STUDIO.embedded:
                lock.acquire()
            port = free_port(host, DEFAULT_PORT if port is None else port, exact=port is not None)
            migrating.migrate()
        except (data_folder.DataFolderProblem, NoFreePort, migrating.DatabaseProblem) as problem:
            raise CommandError(str(problem)) from problem
        static_files = hold_static_files()
        address = f"http://{browser_name(host)}:{port}"
        sign_in.forget_links()
        data_folder.write_address(folder, address)
        launcher = Launcher(settings.STUDIO, host=host, port=port, ready=lambda: self.announce(address))
        orderly = launcher.run()
        data_folder.remove_address(folder)
        static_files.close()
        lock.release()
        if launcher.busy:
            # Its row stays `running`, and the next start takes it up; its thread could take hours.
            os._exit(0 if orderly else 1)
        sys.exit(0 if orderly else 1)

    def announce(self, address: str) -> None:
        self.stdout.write(f"Playbook Studio is ready: {address}/enter/{sign_in.make_link_token()}")
        self.stderr.write("The link signs you in once. Stop with Ctrl+C.")
        self.stdout.flush()


def hold_static_files() -> IO[str]:
    """Keeps the files that this server was started with from being tidied away, until it is closed."""
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    file = (settings.STATIC_ROOT / IN_USE).open("a+")
    locks.lock(file, shared=True)
    return file


def browser_name(host: str) -> str:
    """What to type for an address to listen on."""
    if host in ("0.0.0.0", "::"):  # noqa: S104  (compared, not bound)
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
