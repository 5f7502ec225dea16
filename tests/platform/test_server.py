"""The real server: one link, one process per data folder, an orderly end."""

import asyncio
import http.client
import re
import resource
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
import websockets
from websockets.typing import Origin

from builder.config.ports import NoFreePort, free_port
from tests.support.studio import StudioServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    server = StudioServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()


def status_and_place(opener: urllib.request.OpenerDirector, url: str) -> tuple[int, str]:
    try:
        with opener.open(url, timeout=10) as answer:
            return answer.status, answer.url
    except urllib.error.HTTPError as error:
        return error.code, error.url


def a_browser() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))


def test_exactly_one_link_is_printed_and_it_is_on_this_machine_only(server: StudioServer) -> None:
    links = re.findall(r"http://\S+", server.log.read_text())
    assert len(links) == 1
    assert links[0].startswith("http://127.0.0.1:")


def test_the_printed_link_signs_in_once(server: StudioServer) -> None:
    link = server.new_link()
    assert link.startswith(f"{server.address}/enter/")
    status, place = status_and_place(a_browser(), link)
    assert (status in (200, 500), place) == (
        True,
        f"{server.address}/",
    )  # 500: the frontend is not built here
    assert status_and_place(a_browser(), link)[0] == 410


def test_a_second_server_on_the_same_data_folder_is_refused_with_a_sentence(server: StudioServer) -> None:
    done = server.manage("serve", "--port", "0")
    assert done.returncode == 1
    assert "already runs with the data folder" in done.stderr
    assert server.address in done.stderr
    assert "Traceback" not in done.stderr


def test_the_secret_key_and_the_links_are_for_the_owner_only(server: StudioServer) -> None:
    assert (server.data / "secret-key").stat().st_mode & 0o077 == 0
    assert (server.data / "sign-in").stat().st_mode & 0o077 == 0


def test_a_websocket_of_another_site_is_refused(server: StudioServer) -> None:
    async def connect() -> None:
        await websockets.connect(
            server.address.replace("http", "ws") + "/ws/sessions/x/", origin=Origin("https://evil.example")
        )

    with pytest.raises(websockets.InvalidStatus):
        asyncio.run(connect())


def test_an_unknown_host_costs_the_log_one_line(server: StudioServer) -> None:
    before = server.log.read_text()
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=5)
    connection.request("GET", "/health", headers={"Host": "studio.example"})
    answer = connection.getresponse()
    assert (answer.status, b"STUDIO_ALLOWED_HOSTS" in answer.read()) == (400, True)
    (line,) = server.log.read_text().removeprefix(before).splitlines()
    assert "studio.example" in line
    assert "STUDIO_ALLOWED_HOSTS" in line


def test_the_next_free_port_is_used_when_none_was_asked_for() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port, exact=False) < port + 50
        with pytest.raises(NoFreePort):
            free_port("127.0.0.1", port, exact=True)


def test_a_taken_port_that_was_asked_for_is_a_sentence(tmp_path: Path) -> None:
    server = StudioServer(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = server.manage("serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "is taken by another program" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
def test_a_number_that_is_no_port_is_told_as_one(port: int) -> None:
    for exact in (True, False):
        with pytest.raises(NoFreePort, match="is no port"):
            free_port("127.0.0.1", port, exact=exact)


def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    server = StudioServer(tmp_path)
    server.data.mkdir()
    (server.data / "studio.sqlite3").write_bytes(b"no database at all " * 50)
    done = server.manage("serve", "--port", "0")
    assert done.returncode == 1
    assert "file is not a database" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_data_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    server = StudioServer(tmp_path, STUDIO_DATA_DIR=str(tmp_path / "file" / "data"))
    done = server.manage("serve", "--port", "0")
    assert done.returncode == 1
    assert "cannot be written to" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_does_not_answer_is_a_sentence(tmp_path: Path) -> None:
    server = StudioServer(
        tmp_path, STUDIO_DATABASE_URL="postgresql://nobody@127.0.0.1:9/studio?connect_timeout=2"
    )
    done = server.manage("serve", "--port", "0")
    assert done.returncode == 1
    assert "The database studio cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("STUDIO_DATABASE_URL", "mysql://localhost/studio", "use postgresql://"),
        ("STUDIO_WORKER_THREADS", "many", "STUDIO_WORKER_THREADS: Input should be a valid integer"),
    ],
)
def test_a_setting_that_cannot_be_used_is_a_sentence(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    done = StudioServer(tmp_path, **{name: value}).manage("serve")
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_link_without_a_server_says_how_to_start_one(tmp_path: Path) -> None:
    done = StudioServer(tmp_path).manage("link")
    assert done.returncode == 1
    assert "manage.py up" in done.stderr


def test_open_sockets_are_told_to_come_back_and_their_consumers_hear_of_it(tmp_path: Path) -> None:
    server = StudioServer(tmp_path)
    server.start()
    note = tmp_path / "disconnected"

    async def stay_until_closed() -> int | None:
        origin = Origin(server.address)
        async with websockets.connect(
            origin.replace("http", "ws") + "/ws/test/echo/", origin=origin
        ) as socket:
            await socket.send(str(note))
            assert await socket.recv() == str(note)
            stopping = asyncio.create_task(asyncio.to_thread(server.stop))
            await socket.wait_closed()
            assert await stopping == 0
            return socket.close_code

    assert asyncio.run(stay_until_closed()) == 1012
    assert note.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_in_order_and_keeps_what_it_had(tmp_path: Path, number: signal.Signals) -> None:
    server = StudioServer(tmp_path)
    server.start()
    first = server.address
    idle = http.client.HTTPConnection(first.removeprefix("http://"))
    idle.request("GET", "/health")
    idle.getresponse().read()

    start = time.monotonic()
    assert server.stop(number) == 0
    assert time.monotonic() - start < 10  # a second, where nothing else runs
    assert "Traceback" not in server.log_tail()
    assert server.log_tail().splitlines()[-1] == "Stopped. Everything is saved."

    server.start()
    assert server.address == first
    server.stop()


def test_a_restart_costs_less_than_four_seconds_of_computing(tmp_path: Path) -> None:
    server = StudioServer(tmp_path)
    server.start()
    server.stop()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    server.start()
    server.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 4
