"""Output as it comes, ending a command from outside, sockets of the caller as local ports, files in the home."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge.errors import InvalidInput
from forge.sandbox import CommandResult, Limits, bubblewrap, run
from tests.sandbox.conftest import Trace

pytestmark = pytest.mark.req("X-06")
Python = Callable[..., CommandResult]

_ASK = """
import socket
s = socket.create_connection(('127.0.0.1', {port}), 5)
s.sendall(b'{word}'); s.shutdown(socket.SHUT_WR)
answer = b''
while piece := s.recv(65536): answer += piece
print(answer.decode())
"""


class Echo:
    """Answers each connection with what it heard, in capitals."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.heard: list[bytes] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(8)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            with self._socket.accept()[0] as connection:
                data = b""
                while piece := connection.recv(65536):
                    data += piece
                if data == b"stop":
                    return
                self.heard.append(data)
                connection.sendall(data.upper())

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(self.path))
            last.sendall(b"stop")
        self._thread.join()
        self._socket.close()


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Echo]:
    echo = Echo(tmp_path / "echo.sock")
    yield echo
    echo.close()


@pytest.fixture
def unconfined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "available", lambda: bubblewrap.Availability(None, "", works=False, reason="gone"))


# -- output as it comes


def test_output_is_heard_while_the_command_still_runs(box: Path) -> None:
    heard: list[tuple[str, bytes]] = []

    def hear(stream: str, data: bytes) -> None:
        heard.append((stream, data))
        if b"go" in data:
            (box / "answer").touch()

    script = "echo go; echo why >&2; while [ ! -e answer ]; do sleep 0.02; done; echo done"
    result = run(["sh", "-c", script], box, Limits(seconds=20), on_output=hear)
    assert result.ok
    assert b"".join(data for stream, data in heard if stream == "stdout") == result.stdout == b"go\ndone\n"
    assert b"".join(data for stream, data in heard if stream == "stderr") == result.stderr == b"why\n"


def test_all_of_the_output_is_heard_even_where_only_its_end_is_kept(box: Path) -> None:
    heard = bytearray()
    result = run(
        ["sh", "-c", "head -c 300000 /dev/zero"], box, Limits(output_bytes=1000), on_output=lambda _, d: heard.extend(d)
    )
    assert len(heard) == 300000
    assert len(result.stdout) < 1100


def test_a_listener_that_fails_ends_the_command(box: Path, trace: Trace) -> None:
    def fail(stream: str, data: bytes) -> None:
        raise LookupError("the screen is gone")

    with pytest.raises(LookupError):
        run(trace.command("while :; do echo x; sleep 0.01; done"), box, env=trace.env, on_output=fail)
    assert trace.processes() == []


# -- ending it from outside


@pytest.mark.parametrize("confined", [True, False], ids=["confined", "plain"])
def test_cancelling_ends_the_whole_tree_at_once(
    box: Path, trace: Trace, confined: bool, request: pytest.FixtureRequest
) -> None:
    if not confined:
        request.getfixturevalue("unconfined")
    cancel = threading.Event()
    script = "trap '' TERM INT HUP; for i in 1 2 3; do setsid sleep 60 & done; echo up; while :; do sleep 0.05; done"
    asked: list[float] = []

    def hear(stream: str, data: bytes) -> None:
        def set_later() -> None:
            asked.append(time.monotonic())
            cancel.set()

        threading.Timer(0.1, set_later).start()

    result = run(trace.command(script), box, env=trace.env, plain=True, on_output=hear, cancel=cancel)
    ended = time.monotonic()
    assert trace.processes() == []
    assert result.cancelled
    assert not result.ok
    assert not result.timed_out
    assert result.limited == ()
    assert result.stdout == b"up\n"
    assert ended - asked[0] < 0.5


def test_a_run_cancelled_before_it_starts_does_nothing(box: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    assert run(["touch", "made"], box, cancel=cancel).cancelled
    assert list(box.iterdir()) == []


def test_a_command_that_ends_by_itself_is_not_cancelled(box: Path) -> None:
    assert not run(["true"], box, cancel=threading.Event()).cancelled


@pytest.mark.asyncio
async def test_a_command_can_be_awaited_and_cancelled(box: Path, trace: Trace) -> None:
    cancel = threading.Event()
    running = asyncio.create_task(asyncio.to_thread(run, trace.command("sleep 60"), box, env=trace.env, cancel=cancel))
    await asyncio.sleep(0.2)
    cancel.set()
    assert (await asyncio.wait_for(running, 5)).cancelled


# -- sockets as ports


def test_a_socket_of_the_caller_is_a_local_port_inside(echo: Echo, python: Python) -> None:
    result = python(_ASK.format(port=4567, word="hello"), sockets={4567: echo.path})
    assert result.stdout == b"HELLO\n", result.stderr_text
    assert echo.heard == [b"hello"]


def test_large_answers_pass_whole_and_many_connections_at_once(echo: Echo, python: Python) -> None:
    source = """
import socket, threading
def ask(letter, found):
    s = socket.create_connection(('127.0.0.1', 4567), 10)
    threading.Thread(target=lambda: (s.sendall(letter * 1_000_000), s.shutdown(socket.SHUT_WR))).start()
    got = b''
    while piece := s.recv(65536): got += piece
    found.append(got == letter.upper() * 1_000_000)
found = []
threads = [threading.Thread(target=ask, args=(bytes([97 + i]), found)) for i in range(5)]
for t in threads: t.start()
for t in threads: t.join()
print(found)
"""
    assert python(source, sockets={4567: echo.path}).stdout == b"[True, True, True, True, True]\n"


def test_with_a_socket_there_is_still_no_network(echo: Echo, python: Python) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        source = f"""
import socket
for place in (('127.0.0.1', {port}), ('192.0.2.1', 80), ('127.0.0.1', 4568)):
    try: socket.create_connection(place, 2)
    except OSError: print('refused')
"""
        assert python(source, sockets={4567: echo.path}).stdout == b"refused\n" * 3


def test_exit_code_input_and_output_pass_the_ports_by(box: Path, echo: Echo) -> None:
    result = run(["sh", "-c", "cat; exit 7"], box, stdin=b"words", sockets={4567: echo.path})
    assert (result.exit_code, result.stdout) == (7, b"words")
    missing = run(["no-such-program"], box, sockets={4567: echo.path})
    assert missing.exit_code == 127
    assert b"no-such-program" in missing.stderr


def test_nothing_of_the_ports_outlives_the_command(box: Path, echo: Echo, trace: Trace) -> None:
    started = time.monotonic()
    assert run(trace.command("true"), box, env=trace.env, sockets={4567: echo.path}).ok
    assert trace.processes() == []
    assert time.monotonic() - started < 5


def test_plain_commands_reach_sockets_too(
    box: Path, echo: Echo, interpreter: tuple[str, Path], unconfined: None
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = [interpreter[0], "-I", "-c", _ASK.format(port=port, word="plain")]
    assert run(command, box, plain=True, sockets={port: echo.path}).stdout == b"PLAIN\n"


@pytest.mark.parametrize("port", [0, 80, 70000])
def test_ports_that_cannot_be_opened_are_refused(box: Path, echo: Echo, port: int) -> None:
    with pytest.raises(InvalidInput):
        run(["true"], box, sockets={port: echo.path})


def test_a_path_that_is_no_socket_is_refused(box: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="not a socket"):
        run(["true"], box, sockets={4567: tmp_path / "file"})


def test_network_and_sockets_exclude_each_other(box: Path, echo: Echo) -> None:
    with pytest.raises(InvalidInput, match="network"):
        run(["true"], box, network=True, sockets={4567: echo.path})


# -- files in the home


@pytest.mark.parametrize("confined", [True, False], ids=["confined", "plain"])
def test_files_are_put_into_the_private_home(box: Path, confined: bool, request: pytest.FixtureRequest) -> None:
    if not confined:
        request.getfixturevalue("unconfined")
    files = {".tool/auth.json": b"secret", "plain": b"word"}
    script = 'cat "$HOME/.tool/auth.json" "$HOME/plain"; echo more >>"$HOME/.tool/auth.json"; ls -A "$HOME"'
    result = run(["sh", "-c", script], box, plain=True, home=files)
    assert result.stdout == b"secretword.tool\nplain\n", result.stderr_text
    assert list(box.iterdir()) == []


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../out", "a/../../out", "a//b", "nul\0"])
def test_home_files_stay_below_the_home(box: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        run(["true"], box, home={name: b""})
