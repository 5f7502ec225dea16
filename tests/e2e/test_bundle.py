"""What a browser has to fetch before the workbench can be used."""

import gzip
import json
from typing import Any

from builder.config.bootstrap.frontend import collected

LIMIT_KB = 350
# Fetched when somebody opens them, not before.
LATER = {
    "src/ui/CodeEditor.tsx",
    "src/app/gallery/ImportDialog.tsx",
    "src/app/workbench/ExportDialog.tsx",
    "src/app/workbench/MergeDialog.tsx",
    "src/app/workbench/VersionsDialog.tsx",
}


def files_of_the_workbench(manifest: dict[str, Any]) -> set[str]:
    """The entry with everything it leads to, scripts and styles, but for what comes later."""
    found: set[str] = set()
    waiting = [name for name, chunk in manifest.items() if chunk.get("isEntry")]
    seen = LATER | set(waiting)
    while waiting:
        chunk = manifest[waiting.pop()]
        found |= {chunk["file"], *chunk.get("css", [])}
        leads_to = {*chunk.get("imports", []), *chunk.get("dynamicImports", [])} - seen
        seen |= leads_to
        waiting += leads_to
    return found


def test_the_workbench_is_under_its_limit() -> None:
    app = collected() / "app"
    manifest = json.loads((app / "manifest.json").read_text("utf-8"))
    assert set(manifest) >= LATER
    files = files_of_the_workbench(manifest)
    assert any("orkbench" in name for name in files)
    size = sum(len(gzip.compress((app / name).read_bytes())) for name in files) / 1000
    print(f"workbench: {size:.0f} kB gzipped in {len(files)} files")
    assert size < LIMIT_KB
