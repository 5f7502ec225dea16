"""What `manage.py` does before anything is installed, and what it says when that fails."""

import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from builder.config.bootstrap import browser, commands, environment, frontend, locks, node, stamps, verify
from builder.config.bootstrap.problem import Problem, explain

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bare_checkout(tmp_path: Path) -> Path:
    """Only what the bootstrap itself needs: no environment, nothing built."""
    folder = tmp_path / "checkout"
    for name in ("manage.py", *(path.name for path in ROOT.glob("requirements*.lock"))):
        folder.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(
        ROOT / "builder/config/bootstrap",
        folder / "builder/config/bootstrap",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for package in ("builder", "builder/config"):
        shutil.copy(ROOT / package / "__init__.py", folder / package / "__init__.py")
    return folder


def run_in(checkout: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """As on a machine of its own: the base interpreter, no configuration of pip or uv."""
    base = Path(sys.base_prefix) / "bin" / "python3"
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("STUDIO_", "PIP_", "UV_"))
    }
    return subprocess.run(
        [str(base if base.exists() else sys.executable), "manage.py", *arguments],
        cwd=checkout,
        env={**kept, "HOME": str(checkout.parent), "PIP_CONFIG_FILE": os.devnull, **env},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def one_sentence(text: str) -> bool:
    return "Traceback" not in text and len(text.strip().splitlines()) == 1 and text.strip().endswith(".")


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def test_without_network_the_person_is_told_to_connect(bare_checkout: Path) -> None:
    nowhere = "http://127.0.0.1:9/simple"
    done = run_in(bare_checkout, "up", PIP_INDEX_URL=nowhere, UV_DEFAULT_INDEX=nowhere)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "could not be reached" in last_line(done.stderr)
    assert "connect to the network" in last_line(done.stderr)
    assert done.stdout == ""


def test_a_broken_off_installation_is_begun_anew(
    bare_checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare_checkout / ".venv" / "bin").mkdir(parents=True)
    (bare_checkout / ".venv" / "left-over").write_text("half")
    monkeypatch.setattr(environment, "VENV", bare_checkout / ".venv")
    environment.make()
    assert not (bare_checkout / ".venv" / "left-over").exists()
    assert (bare_checkout / ".venv" / "pyvenv.cfg").exists()


def test_an_old_python_is_told_which_one_is_needed() -> None:
    program = (
        "import sys, runpy; sys.version_info = (3, 9, 2, 'final', 0); sys.argv = ['manage.py', 'up'];"
        "runpy.run_path('manage.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert one_sentence(done.stderr)
    assert "3.11 or newer and this is 3.9" in done.stderr


def test_a_python_without_venv_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Problem, match=r"sudo apt install python3\.\d+-venv"):
        environment.make()


def test_a_full_disk_is_noticed_before_anything_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**12, 10**12 - 1, 1))
    with pytest.raises(Problem, match="disk is full: free about 1 GB"):
        environment.check_disk()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("npm ERR! code ENOSPC", "disk is full"),
        ("npm ERR! code ENOTFOUND\nnpm ERR! network request failed", "could not be reached"),
        ("error: Failed to fetch: `https://x/simple/django/`", "could not be reached"),
        ("Temporary failure in name resolution", "could not be reached"),
        ("EACCES: permission denied, mkdir '/x'", "make this folder and your caches writable"),
        ("src/main.tsx: something odd\nBuild failed", "Build failed"),
    ],
)
def test_a_failed_tool_becomes_a_sentence_that_says_what_to_do(output: str, sentence: str) -> None:
    text = str(explain(output, "trying"))
    assert sentence in text
    assert one_sentence(text)


ROLLDOWN = """\
vite v8.3.8 building client environment for production...
\x1b[31m✗\x1b[0m Build failed in 12ms
error during build:
Build failed with 1 error:

\x1b[31m{message}\x1b[0m
   \x1b[38;5;246m╭\x1b[0m\x1b[38;5;246m─\x1b[0m\x1b[38;5;246m[\x1b[0m src/main.tsx:1:22 \x1b[38;5;246m]\x1b[0m
   \x1b[38;5;246m│\x1b[0m
 \x1b[38;5;246m1 │\x1b[0m import {{ nope }} from "./nowhere";
 \x1b[38;5;240m  │\x1b[0m         ╰── Module not found.
\x1b[38;5;246m───╯\x1b[0m

    at unwrapBindingResult (file:///x/node_modules/rolldown/dist/error.mjs:20:128)
    at async CAC.<anonymous> (file:///x/node_modules/vite/dist/node/cli.js:789:3) {{
  errors: [Getter/Setter]
}}
"""
COULD_NOT_RESOLVE = "[UNRESOLVED_IMPORT] Could not resolve './nowhere' in src/main.tsx"
UNEXPECTED = "[builtin:vite-transform] Unexpected token"


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (ROLLDOWN.format(message=COULD_NOT_RESOLVE), f"({COULD_NOT_RESOLVE}, src/main.tsx:1:22)"),
        (ROLLDOWN.format(message=UNEXPECTED), f"({UNEXPECTED}, src/main.tsx:1:22)"),
        ("Error: no such thing\n    at run (x.js:1:2)\n}\n", "(Error: no such thing)"),
        (
            "npm error Invalid: lock file\nnpm error A complete log of this run can be found in: /x",
            "lock file)",
        ),
        ("}\n\n", "(no output)"),
    ],
)
def test_what_is_told_of_an_unknown_failure_is_the_line_that_names_it(output: str, told: str) -> None:
    text = str(explain(output, "building the frontend"))
    assert told in text
    assert "\x1b" not in text
    log = Path(text.split("read ")[1].split(" for")[0])
    assert "\x1b" not in log.read_text()
    log.unlink()


def test_an_unknown_failure_keeps_the_whole_output_in_a_file() -> None:
    text = str(explain("first line\nlast line", "trying"))
    log = Path(text.split("read ")[1].split(" for")[0])
    assert log.read_text() == "first line\nlast line"
    log.unlink()


def test_a_wrong_option_is_refused_before_anything_is_installed(bare_checkout: Path) -> None:
    done = run_in(bare_checkout, "up", "--prot", "8000")
    assert done.returncode == 2
    assert "--prot" in done.stderr
    assert not (bare_checkout / ".venv").exists()


def test_a_number_that_is_no_port_is_refused_as_such(bare_checkout: Path) -> None:
    done = run_in(bare_checkout, "up", "--port", "99999")
    assert done.returncode == 2
    assert "99999 is no port" in done.stderr


def test_help_installs_nothing(bare_checkout: Path) -> None:
    done = run_in(bare_checkout)
    assert done.returncode == 0
    assert "manage.py up" in done.stdout
    assert not (bare_checkout / ".venv").exists()


def test_the_data_folder_reaches_the_settings_and_not_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_DATA_DIR", "/somewhere/else")
    assert commands.take_data_folder(["up", "--data", "/tmp/here", "--port", "1"]) == ["up", "--port", "1"]
    assert Path(os.environ["STUDIO_DATA_DIR"]) == Path("/tmp/here").resolve()


def test_a_database_or_broker_of_its_own_brings_the_packages_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STUDIO_DATABASE_URL", "DATABASE_URL", "STUDIO_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    assert environment.wanted_set("up") == "run"
    monkeypatch.setenv("STUDIO_DATABASE_URL", "postgresql://localhost/studio")
    assert environment.wanted_set("up") == "scale"
    assert environment.wanted_set("verify") == "dev"


def test_an_installed_environment_never_shrinks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed: list[str] = []
    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(environment, "install", installed.append)
    monkeypatch.setattr(environment, "inside", lambda: True)
    monkeypatch.setattr(environment, "python", lambda: Path(sys.executable))
    environment.ensure("run")
    environment.ensure("dev")
    environment.ensure("run")
    assert installed == ["run", "dev"]
    stamps.write(
        tmp_path / "stamp.json", {**stamps.read(tmp_path / "stamp.json"), "locks": "of an older release"}
    )
    environment.ensure("run")
    assert installed == ["run", "dev", "dev"]


def test_the_frontend_is_built_again_only_when_its_sources_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "frontend" / "src" / "main.tsx"
    source.parent.mkdir(parents=True)
    source.write_text("1")
    built = tmp_path / "static" / "app"
    builds: list[str] = []

    def fake_npm(tool: node.Node, *arguments: str, doing: str) -> str:
        built.mkdir(parents=True, exist_ok=True)
        (built / "manifest.json").write_text("{}")
        builds.append(" ".join(arguments))
        return ""

    monkeypatch.setattr(frontend, "BUILD", tmp_path / "build")
    monkeypatch.setattr(frontend, "FRONTEND", tmp_path / "frontend")
    monkeypatch.setattr(frontend, "BUILT", built)
    monkeypatch.setattr(frontend, "BUILD_STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(frontend, "ensure_packages", lambda dev: node.Node("node", ("npm",), ""))
    monkeypatch.setattr(frontend, "npm", fake_npm)
    monkeypatch.setattr(frontend, "collect", lambda: None)

    frontend.ensure_built()
    (source.parent / "main.test.tsx").write_text("a test changes no build")
    frontend.ensure_built()
    assert builds == ["run build"]
    source.write_text("2")
    frontend.ensure_built()
    assert builds == ["run build"] * 2
    (built / "manifest.json").unlink()
    frontend.ensure_built()
    assert builds == ["run build"] * 3


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Collecting for real but for Django: the command only makes the folder that it was told to."""

    def fake_collectstatic(command: list[str], *, doing: str, env: dict[str, str]) -> str:
        Path(env["STUDIO_STATIC_ROOT"]).mkdir(parents=True)
        return ""

    monkeypatch.setattr(frontend, "COLLECTIONS", tmp_path / "static")
    monkeypatch.setattr(frontend, "CURRENT", tmp_path / "static" / "current")
    monkeypatch.setattr(frontend, "run_quietly", fake_collectstatic)
    (tmp_path / "static").mkdir()
    return tmp_path / "static"


def collect(monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    monkeypatch.setattr(frontend, "name_of_collection", lambda: name)
    frontend.collect()
    return frontend.collected()


def test_a_build_leaves_the_files_of_a_running_server_alone(
    collections: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = collect(monkeypatch, "first")
    assert first == collections / "first"
    with (first / frontend.IN_USE).open("a+") as server:
        locks.lock(server, shared=True)
        for name in ("second", "third", "fourth", "fifth", "sixth"):
            collect(monkeypatch, name)
            os.utime(collections / name)
        assert first.exists()
    collect(monkeypatch, "seventh")
    assert not first.exists()
    assert frontend.collected() == collections / "seventh"
    assert len([entry for entry in collections.iterdir() if entry.is_dir()]) == frontend.KEPT + 1


def test_going_back_to_an_earlier_build_collects_nothing_again(
    collections: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = collect(monkeypatch, "first")
    collect(monkeypatch, "second")
    monkeypatch.setattr(frontend, "run_quietly", lambda *args, **kwargs: pytest.fail("collected again"))
    assert collect(monkeypatch, "first") == first


def test_an_old_node_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(node, "attempt", lambda command: (0, "v18.19.1\n"))
    assert node.of_the_machine() is None
    monkeypatch.setattr(node, "attempt", lambda command: (0, "v20.20.2\n"))
    assert node.of_the_machine() is not None


def test_a_browser_that_is_named_but_missing_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_BROWSER", "/nowhere/chromium")
    with pytest.raises(Problem, match="STUDIO_BROWSER"):
        browser.find()


def test_a_failed_step_is_shown_with_its_output_and_fails_the_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = verify.perform(
        "lint", verify.command([sys.executable, "-c", "print('E501'); raise SystemExit(1)"])
    )
    assert not outcome.passed
    shown = capsys.readouterr().err
    assert "FAILED lint" in shown
    assert "E501" in shown


def test_a_step_that_cannot_run_is_a_failed_one() -> None:
    def no_browser() -> tuple[bool, str]:
        raise Problem("No browser could be installed.")

    assert not verify.perform("browser", no_browser).passed


def verified(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *failing: str) -> list[str]:
    """What a run prints to standard output where these steps fail."""

    def step(name: str) -> tuple[str, verify.Check]:
        return name, lambda: (name not in failing, "")

    monkeypatch.setattr(verify, "static_checks", lambda: [step("format (ruff)"), step("types (mypy)")])
    monkeypatch.setattr(verify, "frontend_checks", lambda: [step("frontend tests")])
    monkeypatch.setattr(verify, "run_pytest", lambda fast, env: (0, "1228 passed in 360 s"))
    assert verify.verify(fast=True) == (1 if failing else 0)
    return capsys.readouterr().out.splitlines()


def test_failed_steps_are_named_once_more_above_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passed = "1228 passed in 360 s"
    assert verified(monkeypatch, capsys) == [passed]
    assert verified(monkeypatch, capsys, "format (ruff)") == ["1 step FAILED: format (ruff)", passed]
    both = "2 steps FAILED: format (ruff), frontend tests"
    assert verified(monkeypatch, capsys, "format (ruff)", "frontend tests") == [both, passed]


def test_what_no_lock_names_is_pinned_exactly() -> None:
    for package, separator in ((environment.UV_PACKAGE, "=="), (browser.NPM_PACKAGE, "@")):
        version = package.rpartition(separator)[2]
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), package
