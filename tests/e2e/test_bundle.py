"""What a browser has to fetch before the workbench can be used."""

import gzip
import json
import re
from typing import Any

from builder.config.bootstrap.frontend import collected
from tests.support.studio import CHECKOUT

LIMIT_KB = 350
# Fetched when somebody opens it, not before.
LATER = {
    "src/ui/CodeEditor.tsx",
    "src/app/connections/ConnectionsPage.tsx",
    "src/app/gallery/ImportDialog.tsx",
    "src/app/workbench/ExportDialog.tsx",
    "src/app/workbench/MergeDialog.tsx",
    "src/app/workbench/VersionsDialog.tsx",
    "src/editor/ReportDialog.tsx",
}
ALL_STYLES = CHECKOUT / "frontend/node_modules/@mantine/core/styles.css"
A_CLASS = re.compile(r"\bm_[0-9a-f]{6,8}\b")


def files_of_the_workbench(manifest: dict[str, Any]) -> set[str]:
    """The entry with everything it leads to, scripts and styles, but for what comes later."""
    found: set[str] = set()
    waiting = [name for name, chunk in manifest.items() if chunk.get("isEntry")]
    seen = {*LATER, *waiting}
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


def test_every_component_of_the_kit_has_its_styles() -> None:
    """Only those of used components are bundled (src/ui/mantine.ts), and a missing one would look broken."""
    assets = collected() / "app/assets"
    texts = {path: path.read_text("utf-8") for path in assets.iterdir() if path.suffix in (".js", ".css")}
    used = {name for path, text in texts.items() if path.suffix == ".js" for name in A_CLASS.findall(text)}
    styled = {name for path, text in texts.items() if path.suffix == ".css" for name in A_CLASS.findall(text)}
    there_are = set(A_CLASS.findall(ALL_STYLES.read_text("utf-8")))
    assert used & there_are, "no component's classes were found in the scripts"
    assert used & there_are <= styled
