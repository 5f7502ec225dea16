"""`manage.py generate`: writes what is derived from the models; `--check` compares instead."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from builder.api.openapi import openapi_document
from builder.transfer.schema import playbook_schema
from builder.validation import codes

ROOT = Path(settings.BASE_DIR)
OPENAPI = ROOT / "frontend" / "openapi.json"
SCHEMA = ROOT / "builder" / "transfer" / "playbook.schema.json"
TYPES = ROOT / "frontend" / "src" / "api" / "schema.gen.ts"
VALIDATION_DOCS = ROOT / "docs" / "validation.md"
TABLE_BEGINS, TABLE_ENDS = "<!-- codes: written by manage.py generate -->\n", "<!-- end of codes -->"
GENERATOR = ROOT / "frontend" / "node_modules" / "openapi-typescript" / "bin" / "cli.js"


class Command(BaseCommand):
    help = "Writes the OpenAPI document, the format's schema, the frontend's types and the list of findings."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="write nothing; exit 1 if a file is out of date"
        )

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        texts = {
            OPENAPI: as_json(openapi_document()),
            SCHEMA: as_json(playbook_schema()),
            VALIDATION_DOCS: with_codes(VALIDATION_DOCS.read_text(encoding="utf-8")),
        }
        types = typescript(texts[OPENAPI])
        if types is None:
            self.stderr.write("The frontend's types need `npm ci` in frontend/ first; they were left out.")
        else:
            texts[TYPES] = types
        stale = [file for file, text in texts.items() if not up_to_date(file, text)]
        if check and stale:
            for file in stale:
                self.stderr.write(
                    f"{file.relative_to(ROOT)} is out of date: run `python3 manage.py generate`."
                )
            sys.exit(1)
        for file in stale:
            file.write_text(texts[file], encoding="utf-8")
            self.stdout.write(f"wrote {file.relative_to(ROOT)}")


def as_json(value: Any) -> str:
    """JSON as it is committed: readable, in its own order, with a last line break."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def with_codes(page: str) -> str:
    """The page with today's table of the codes that checks give."""
    before, _, rest = page.partition(TABLE_BEGINS)
    table = "\n".join(codes.table())
    return f"{before}{TABLE_BEGINS}{table}\n{TABLE_ENDS}{rest.partition(TABLE_ENDS)[2]}"


def typescript(openapi: str) -> str | None:
    """The types of that OpenAPI document; None where Node or the generator is not installed."""
    node = shutil.which("node")
    if node is None or not GENERATOR.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        source.write_text(openapi, encoding="utf-8")
        command = [node, str(GENERATOR), str(source), "-o", str(target), "--default-non-nullable", "false"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)  # noqa: S603
        return target.read_text(encoding="utf-8")


def up_to_date(file: Path, text: str) -> bool:
    """Whether the file has exactly that text."""
    return file.exists() and file.read_text(encoding="utf-8") == text
