"""Which command needs what, before it can run: the packages, the built frontend, a browser."""

import argparse
import os
import sys
from pathlib import Path

from builder.config.bootstrap import environment, frontend
from builder.config.bootstrap.problem import Problem, explain

OVERVIEW = """\
Playbook Studio

  python3 manage.py up [--port N] [--data DIR]   install, build, start, print a sign-in link
  python3 manage.py link [--data DIR]            print a new sign-in link for the running studio
  python3 manage.py verify [--fast]              run all checks and tests (--fast: without browser tests)
  python3 manage.py build                        build the frontend and collect static files
  python3 manage.py validate FILE... [--json]    check playbook files
  python3 manage.py export --file FILE           write a playbook file in its canonical form, or for others
  python3 manage.py import FILE [--save]         show what a file holds; save it as a new playbook
  python3 manage.py diff A B                     compare two playbooks: files, ids, versions (ID@3)
  python3 manage.py chat FILE                    talk to a playbook in the terminal
  python3 manage.py replay PLAYBOOK SCRIPT       play a script through the engine
  python3 manage.py generate [--check]           write the generated schema and types
"""

# These take `--data DIR`; it is read here because the settings need it before Django starts.
WITH_DATA = {"up", "serve", "link", "migrate"}


def run(arguments: list[str]) -> None:
    """Everything `manage.py` does."""
    try:
        dispatch(arguments)
    except Problem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        if environment.inside():
            raise
        sys.exit(str(explain(str(error), "preparing the environment")))


def dispatch(arguments: list[str]) -> None:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(OVERVIEW, end="")
        return
    command = arguments[0]
    if command in WITH_DATA:
        arguments = take_data_folder(arguments)
    if command == "up":
        parse_up(arguments[1:])
    if os.environ.get("STUDIO_BOOTSTRAP") != "off":  # containers bring the packages with them
        environment.ensure(environment.wanted_set(command))
        if not environment.inside():
            environment.enter(arguments)
    run_inside(command, arguments)


def run_inside(command: str, arguments: list[str]) -> None:
    if command == "verify":
        from builder.config.bootstrap.verify import verify

        sys.exit(verify(fast="--fast" in arguments))
    if command in ("up", "build"):
        frontend.ensure_built()
    if command == "up":
        arguments = ["serve", *arguments[1:]]
    if command != "build":
        django(arguments)


def django(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "builder.config.settings")
    from django.conf import settings
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018  (loads them)
    except ValueError as error:
        raise Problem(f"A setting of this environment cannot be used: {wrong_setting(error)}") from error

    execute_from_command_line(["manage.py", *arguments])


def wrong_setting(error: ValueError) -> str:
    """In a line: our own errors are sentences, those of pydantic lists."""
    listed = getattr(error, "errors", None)
    if listed is None:
        return str(error)
    return "; ".join(f"STUDIO_{str(item['loc'][0]).upper()}: {item['msg']}" for item in listed())


def take_data_folder(arguments: list[str]) -> list[str]:
    """Moves `--data DIR` into the environment, from where the settings read it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data")
    found, rest = parser.parse_known_args(arguments)
    if found.data is not None:
        os.environ["STUDIO_DATA_DIR"] = str(Path(found.data).expanduser().resolve())
    return rest


def port(text: str) -> int:
    """A port's number; 0 is any free one."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port: choose one from 1 to 65535.")
    return number


def parse_up(arguments: list[str]) -> None:
    """Refuses a wrong option before minutes are spent on installing."""
    parser = argparse.ArgumentParser(
        prog="manage.py up",
        description="Installs, builds and starts everything, and prints one sign-in link.",
    )
    parser.add_argument("--port", type=port, help="port (default 8000 or the next free one)")
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1: this machine only)")
    parser.add_argument(
        "--data", help="folder for the database and the rest (default: your user data folder)"
    )
    parser.parse_args(arguments)
