"""Rules of the house that no tool checks for us."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE = [
    *(f"runtime/{name}" for name in ("playbook", "conversation", "engine", "context", "inspector")),
    *(f"builder/{name}" for name in ("validation", "transfer", "changes")),
]
CLOCKS = {"now", "utcnow", "today"}
LONGEST_FILE = 500


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def calls(file: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("folder", PURE)
def test_what_decides_never_asks_for_the_time(folder: str) -> None:
    asked = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for file in (ROOT / folder).rglob("*.py")
        for call in calls(file)
        if isinstance(call.func, ast.Attribute) and call.func.attr in CLOCKS
    ]
    assert asked == []


def test_nothing_is_evaluated_as_code() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for file in tracked("builder/*.py", "runtime/*.py")
        for call in calls(file)
        if isinstance(call.func, ast.Name) and call.func.id in {"eval", "exec", "compile", "__import__"}
    ]
    assert found == []


def test_no_file_grows_beyond_five_hundred_lines() -> None:
    files = tracked("*.py", "*.ts", "*.tsx")
    long = {
        str(file.relative_to(ROOT))
        for file in files
        if "migrations" not in file.parts
        and ".gen." not in file.name
        and len(file.read_text("utf-8").splitlines()) > LONGEST_FILE
    }
    assert long == set()


def test_the_profile_says_how_many_examples_a_property_tries() -> None:
    """A number of its own would hold in the nightly run too (tests/support/examples.py has a share of it)."""
    counting = {
        str(file.relative_to(ROOT))
        for file in tracked("tests/*.py")
        for call in calls(file)
        if any(keyword.arg == "max_examples" for keyword in call.keywords)
    }
    assert counting == {"tests/conftest.py", "tests/support/examples.py"}


def test_the_locks_name_hashes_and_no_host() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        text = lock.read_text("utf-8")
        assert "://" not in text, lock.name
        assert "--index" not in text, lock.name
        assert text.count("==") > 0
        assert all("--hash=sha256:" in entry for entry in entries(text)), lock.name


def entries(lock: str) -> list[str]:
    """Each pinned package with its lines of hashes."""
    return lock.replace("\\\n", " ").splitlines()


def test_the_frontend_lock_names_no_host() -> None:
    assert '"resolved"' not in (ROOT / "frontend" / "package-lock.json").read_text("utf-8")


def test_the_bootstrap_needs_nothing_but_the_standard_library() -> None:
    program = "import builder.config.bootstrap.commands, builder.config.bootstrap.verify"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_manage_py_can_be_read_by_an_old_python() -> None:
    source = (ROOT / "manage.py").read_text("utf-8")
    ast.parse(source, feature_version=(3, 6))
    assert "3.11" in source


def test_starting_the_site_loads_no_vendor_package() -> None:
    """They take seconds; the adapters import them when a model is first called."""
    program = (
        "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup();"
        "import builder.config.urls, sys;"
        "assert not {'anthropic', 'openai'} & set(sys.modules), 'a vendor package was imported'"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
