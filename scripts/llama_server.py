"""Builds llama.cpp's `llama-server` from source and starts it with a model: a developer's helper.

    python3 scripts/llama_server.py MODEL.gguf [--port 8931] [--context 8192] [--jobs 2] [--own-template]

The source is the one inside the sdist of `llama-cpp-python`, fetched with pip and checked by its hash. The
build needs cmake and a C++ compiler, takes minutes, and is kept under `build/llama`; nothing of it is a
dependency of the studio. `--build-only` starts nothing. All behind `--` goes to the server as it is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "llama"
PACKAGE = "llama-cpp-python==0.3.36"
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
TEMPLATE = Path(__file__).with_name("chat_template.jinja")
SETTINGS = (
    "CMAKE_BUILD_TYPE=Release",
    "GGML_NATIVE=ON",
    "BUILD_SHARED_LIBS=OFF",
    "LLAMA_BUILD_TESTS=OFF",
    "LLAMA_BUILD_EXAMPLES=OFF",
    "LLAMA_BUILD_APP=OFF",
    "LLAMA_USE_PREBUILT_UI=OFF",
    "LLAMA_OPENSSL=OFF",
)


def main(arguments: list[str]) -> None:
    """Builds what is missing and becomes the server."""
    options = parsed(arguments)
    if not options.build_only and (options.model is None or not options.model.is_file()):
        sys.exit(f"There is no GGUF file at {options.model}.")
    server = built(options.jobs)
    if options.build_only:
        print(server)
        return
    address = f"http://127.0.0.1:{options.port}"
    print(f"OpenAI: {address}/v1   Anthropic: {address}", flush=True)
    # Waiting threads that spin would take the time of whatever else runs on the machine.
    os.execve(server, command_line(server, options), {**os.environ, "OMP_WAIT_POLICY": "passive"})


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, help="path to a GGUF file")
    parser.add_argument("--port", type=int, default=8931)
    parser.add_argument("--context", type=int, default=8192, help="tokens")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--own-template", action="store_true", help="the model's own chat template")
    parser.add_argument("--build-only", action="store_true")
    own, more = arguments, []
    if "--" in arguments:
        place = arguments.index("--")
        own, more = arguments[:place], arguments[place + 1 :]
    return parser.parse_args(own, argparse.Namespace(more=more))


def command_line(server: Path, options: argparse.Namespace) -> list[str]:
    """How the server is started: on this machine only, one conversation at a time."""
    command = [str(server), "-m", str(options.model), "--host", "127.0.0.1", "--port", str(options.port)]
    command += ["-t", str(options.jobs), "-c", str(options.context), "-np", "1", "--jinja", "--no-ui"]
    if not options.own_template:
        command += ["--chat-template-file", str(TEMPLATE)]
    return [*command, *options.more]


def built(jobs: int) -> Path:
    """The server's path; fetches and builds it if it is not there yet."""
    server = FOLDER / "out" / "bin" / "llama-server"
    if server.is_file():
        return server
    source = unpacked(fetched()) / "vendor" / "llama.cpp"
    configure = ["cmake", "-B", str(FOLDER / "out"), "-S", str(source), *(f"-D{item}" for item in SETTINGS)]
    subprocess.run(configure, check=True)
    target = ["--target", "llama-server", "-j", str(jobs)]
    subprocess.run(["cmake", "--build", str(FOLDER / "out"), *target], check=True)
    return server


def fetched() -> Path:
    """The source package, checked by its hash."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = FOLDER / "wanted.txt"
    wanted.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    found = sorted(FOLDER.glob("llama_cpp_python-*.tar.gz"))
    if not found:
        subprocess.run(
            [*pip, "--no-binary", "llama-cpp-python", "-d", str(FOLDER), "-r", str(wanted)], check=True
        )
        found = sorted(FOLDER.glob("llama_cpp_python-*.tar.gz"))
    return found[0]


def unpacked(archive: Path) -> Path:
    """The folder with the source."""
    folder = FOLDER / archive.name.removesuffix(".tar.gz")
    if not folder.is_dir():
        with tarfile.open(archive) as tar:
            tar.extractall(FOLDER, filter="data")
    return folder


if __name__ == "__main__":
    main(sys.argv[1:])
