"""`manage.py diff A B`: what differs between two playbooks, as their author thinks of them."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Final

from django.core.management.base import BaseCommand

from builder.changes import compare
from builder.changes.wording import as_text
from builder.management.documents import from_word
from builder.management.terminal import speak_utf8
from runtime.playbook import Playbook

DIFFERENT: Final = 1


class Command(BaseCommand):
    help = "Compares two playbooks: files, ids of saved ones (their drafts), or versions of them (ID@3)."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("before", metavar="A")
        parser.add_argument("after", metavar="B")
        parser.add_argument("--json", action="store_true", help="the difference as one JSON object")
        parser.add_argument("--exit-code", action="store_true", help="exit with 1 if anything differs")

    def handle(self, *args: Any, before: str, after: str, **options: Any) -> None:
        speak_utf8()
        found = compare(*(Playbook.model_validate(from_word(word)) for word in (before, after)))
        if options["json"]:
            self.stdout.write(json.dumps(found.model_dump(mode="json"), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(as_text(found), ending="")
        if options["exit_code"] and not found.same:
            sys.exit(DIFFERENT)
