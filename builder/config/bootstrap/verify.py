"""`manage.py verify`: every check and test, a table of what they took, what failed, pytest's summary last."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from builder.config.bootstrap import browser, frontend
from builder.config.bootstrap.environment import program, python
from builder.config.bootstrap.problem import Problem
from builder.config.bootstrap.shell import CHECKOUT, attempt, say

Check = Callable[[], tuple[bool, str]]


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    seconds: float


def verify(*, fast: bool) -> int:
    """The exit code: 0 when everything passed. A failed step does not keep the later ones from running."""
    outcomes = [perform(name, check) for name, check in static_checks()]
    outcomes += [perform(name, check) for name, check in frontend_checks()]
    browser_env: dict[str, str] = {}
    if not fast:
        outcomes.append(perform("browser", lambda: find_browser(browser_env)))
    start = time.monotonic()
    code, last = run_pytest(fast=fast, env=browser_env)
    outcomes.append(Outcome("tests (pytest)", code == 0, time.monotonic() - start))
    say(table(outcomes))
    failed = failures(outcomes)
    if failed:
        print(failed, flush=True)
    print(last, flush=True)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def static_checks() -> list[tuple[str, Check]]:
    manage = [str(python()), str(CHECKOUT / "manage.py")]
    return [
        ("format (ruff)", tool("ruff", "format", "--check", ".")),
        ("lint (ruff)", tool("ruff", "check", ".")),
        ("types (mypy)", tool("mypy")),
        ("import contracts", tool("lint-imports")),
        ("migrations", command([*manage, "makemigrations", "--check", "--dry-run"])),
    ]


def frontend_checks() -> list[tuple[str, Check]]:
    """In this order: the generated types need the packages, the browser tests need the build."""
    return [
        ("frontend packages", packages),
        ("generated files", generated),
        ("frontend checks", lambda: npm_script("check")),
        ("frontend tests", lambda: npm_script("test")),
        ("frontend build", build),
    ]


def find_browser(env: dict[str, str]) -> tuple[bool, str]:
    """Puts what the browser tests need into `env`."""
    env.update(browser.ensure())
    return True, ""


def tool(name: str, *arguments: str) -> Check:
    return command([str(program(name)), *arguments])


def command(parts: list[str], env: Mapping[str, str] | None = None) -> Check:
    def check() -> tuple[bool, str]:
        code, output = attempt(parts, env=env)
        return code == 0, output

    return check


def packages() -> tuple[bool, str]:
    frontend.ensure_packages(dev=True)
    return True, ""


def build() -> tuple[bool, str]:
    frontend.ensure_built()
    return True, ""


def generated() -> tuple[bool, str]:
    """Runs under a PATH where the generator of the TypeScript types finds its node."""
    path = frontend.ensure_packages(dev=True).path
    return command([str(python()), str(CHECKOUT / "manage.py"), "generate", "--check"], {"PATH": path})()


def npm_script(name: str) -> tuple[bool, str]:
    node = frontend.ensure_packages(dev=True)
    env = {**frontend.NPM, "PATH": node.path, "CI": "true"}
    code, output = attempt([*node.npm, "run", name], folder=frontend.FRONTEND, env=env)
    return code == 0, output


def perform(name: str, check: Check) -> Outcome:
    """Runs one step; what it wrote is shown only when it failed."""
    start = time.monotonic()
    try:
        passed, output = check()
    except Problem as problem:
        passed, output = False, str(problem)
    seconds = time.monotonic() - start
    say(f"{'ok    ' if passed else 'FAILED'} {name} ({seconds:.1f} s)")
    if not passed:
        say(output)
    return Outcome(name, passed, seconds)


def run_pytest(*, fast: bool, env: Mapping[str, str]) -> tuple[int, str]:
    """One run for unit and browser tests, shown as it goes; its exit code and its last line."""
    arguments = ["-n", "2"]
    if fast:
        arguments += ["-m", "not e2e"]
    running = subprocess.Popen(
        [str(program("pytest")), *arguments],
        cwd=CHECKOUT,
        env={**os.environ, **env, "STUDIO_VERIFY": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    last = ""
    assert running.stdout is not None
    for line in running.stdout:
        if line.strip():
            if last:
                print(last, flush=True)
            last = line.rstrip()
    return running.wait(), last


def table(outcomes: list[Outcome]) -> str:
    width = max(len(outcome.name) for outcome in outcomes)
    rows = [
        f"  {outcome.name:<{width}}  {'passed' if outcome.passed else 'FAILED'}  {outcome.seconds:7.1f} s"
        for outcome in outcomes
    ]
    total = sum(outcome.seconds for outcome in outcomes)
    return "\n".join(["", *rows, f"  {'all':<{width}}          {total:7.1f} s", ""])


def failures(outcomes: list[Outcome]) -> str:
    """One line with the names of the failed steps; empty when all passed."""
    names = [outcome.name for outcome in outcomes if not outcome.passed]
    if not names:
        return ""
    return f"{len(names)} {'step' if len(names) == 1 else 'steps'} FAILED: {', '.join(names)}"
