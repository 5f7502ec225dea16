"""`manage.py link`: a new sign-in link for the studio that runs."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from builder.config import data_folder, sign_in


class Command(BaseCommand):
    help = "Prints a new one-time sign-in link."
    requires_system_checks: list[str] = []  # type: ignore[assignment,unused-ignore]

    def handle(self, *args: Any, **options: Any) -> None:
        folder = settings.STUDIO.data_dir
        address = data_folder.running_address(folder)
        if address is None or (settings.STUDIO.embedded and not data_folder.server_is_running(folder)):
            raise CommandError(
                f"No studio runs with the data folder {folder}: start it with `python3 manage.py up`, "
                "which prints a link, or name its folder with `--data DIR`."
            )
        self.stdout.write(f"{address}/enter/{sign_in.make_link_token()}")
