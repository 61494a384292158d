"""Before anybody has signed in: requests that are too large, too slow or too many cost the server nothing."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from forge.api.access.connections import Connection, ConnectionLimits, Connections
from tests.support.api_server import House, opened
from tests.support.soak.hostile.floods import flooded

pytestmark = pytest.mark.req("X-06")
SECONDS = 0.6
PER_ADDRESS = 8
IN_ALL = 16
CONFIG = f"""\
server:
  header_seconds: {SECONDS}
  max_connections: {IN_ALL}
  max_connections_per_address: {PER_ADDRESS}
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("house"), config=CONFIG) as made:
        yield made


@contextmanager
def raw(house: House, data: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", house.port), timeout=10) as made:
        made.sendall(data)
        yield made


def head(house: House, *lines: str, target: str = "/api/health") -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{house.port}", *lines, "", ""]).encode()


def answer(given: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = []
    try:
        while part := given.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def code(given: bytes) -> tuple[int, str]:
    status = int(given.split(b" ", 2)[1])
    return status, json.loads(given.partition(b"\r\n\r\n")[2])["code"]


def is_answered(house: House) -> bool:
    with house.client() as client:
        return client.get("/api/sign-in").status_code == 200


@pytest.mark.parametrize(
    "lines",
    [
        ["X-Long: " + "a" * 70_000],
        ["Accept: */*", *(f"X-{number}: 1" for number in range(120))],
        [f"X-{number}: {'a' * 2000}" for number in range(40)],
    ],
    ids=["long", "many", "together"],
)
def test_headers_over_the_limits_are_refused(house: House, lines: list[str]) -> None:
    with raw(house, head(house, *lines)) as given:
        assert code(answer(given)) == (431, "headers_too_large")
    assert is_answered(house)


def test_an_address_over_the_limit_is_refused(house: House) -> None:
    with raw(house, head(house, target="/" + "a" * 70_000)) as given:
        assert code(answer(given)) == (431, "headers_too_large")


def test_headers_within_the_limits_are_taken(house: House) -> None:
    lines = ["Connection: close", *(f"X-{number}: {'a' * 500}" for number in range(90))]
    with raw(house, head(house, *lines)) as given:
        assert answer(given).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("beginning", ["X-Endless: ", "X-Endless", "Host: x\r\nX-Endless: "])
def test_a_header_without_an_end_is_read_no_further(house: House, beginning: str) -> None:
    with raw(house, f"GET / HTTP/1.1\r\n{beginning}".encode()) as given:
        sent = 0
        try:
            while sent < 300 << 20:
                sent += given.send(b"a" * (1 << 16))
        except ConnectionError:
            pass
        assert sent < 16 << 20, "what the kernel takes, and no more"


def test_trailers_without_an_end_are_read_no_further(house: House) -> None:
    lines = (f"{name}: {value}" for name, value in house.bearer.items())
    begun = head(house, *lines, "Transfer-Encoding: chunked", target="/api/projects").replace(b"GET", b"POST")
    with raw(house, begun + b"1\r\n[\r\n0\r\nX-Endless: ") as given:
        sent = 0
        try:
            while sent < 64 << 20:
                sent += given.send(b"a" * (1 << 16))
        except ConnectionError:
            pass
        assert sent < 16 << 20


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /api/health HTTP/1.1\r\nX-Slow: ",
        b"POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 50\r\n\r\n{",
        b"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    ],
    ids=["nothing", "header", "body", "socket"],
)
def test_a_request_that_does_not_come_to_its_end_is_given_up(house: House, begun: bytes) -> None:
    begun = begun.replace(b"%d", str(house.port).encode())
    began = time.monotonic()
    with raw(house, begun) as given:
        assert code(answer(given)) == (408, "request_too_slow")
    assert SECONDS * 0.9 < time.monotonic() - began < SECONDS + 3


def test_the_body_of_somebody_who_is_signed_in_may_take_longer(house: House) -> None:
    def slowly() -> Iterator[bytes]:
        yield b'{"name": '
        time.sleep(SECONDS * 2)
        yield b'"Slow", "agent": "builtin"}'

    with house.client() as client:
        headers = {"Content-Type": "application/json"}
        assert client.post("/api/projects", content=slowly(), headers=headers).status_code == 201


def test_a_stream_stays_open_and_counts_among_all_connections(house: House) -> None:
    address = f"ws://127.0.0.1:{house.port}/api/stream"
    with connect(address, additional_headers=house.bearer, proxy=None) as stream:
        time.sleep(SECONDS * 2)
        stream.send(json.dumps({"subscribe": "board"}))
        assert stream.recv(timeout=10)


def test_slow_connections_give_way_to_who_asks_for_something(house: House) -> None:
    with ExitStack() as held:
        slow = [held.enter_context(raw(house, b"GET / HTTP/1.1\r\nX-Slow: ")) for _ in range(PER_ADDRESS * 5)]
        for _ in range(20):
            assert is_answered(house)
        assert answer(slow[0]) == b"", "the first one gave way, without a word"


def test_clients_of_one_machine_may_connect_at_once(house: House) -> None:
    with ExitStack() as held:
        together = [held.enter_context(raw(house)) for _ in range(PER_ADDRESS + 4)]
        lines = [*(f"{name}: {value}" for name, value in house.bearer.items()), "Connection: close"]
        for each in together:
            each.sendall(head(house, *lines, target="/api/sign-in"))
        assert [answer(each).split(b" ", 2)[1] for each in together] == [b"200"] * len(together)


def test_strangers_of_one_address_who_ask_nothing_give_way_after_a_second() -> None:
    dropped: list[int] = []
    connections = Connections(ConnectionLimits(head_bytes=1, headers=1, seconds=10, connections=64, per_address=2))

    def arrive(number: int, *, ago: float = 0.0) -> None:
        made = Connection(connections, "127.0.0.1", drop=lambda: dropped.append(number), known=lambda: None)
        made.came -= ago
        assert connections.add(made)

    for number in range(4):
        arrive(number, ago=5.0 if number < 3 else 0.0)
    assert dropped == [0, 1], "the third is the second of two that may stay"
    arrive(4)
    arrive(5)
    assert dropped == [0, 1, 2], "the others have just come"
    assert len(connections) == 3


def test_a_stranger_who_has_asked_waits_for_the_server_and_gives_way_to_nobody() -> None:
    dropped: list[int] = []
    connections = Connections(ConnectionLimits(head_bytes=1, headers=1, seconds=10, connections=64, per_address=2))
    made = []
    for number in range(4):
        each = Connection(connections, "127.0.0.1", drop=partial(dropped.append, number), known=lambda: None)
        each.came -= 5.0
        each.is_waiting = number in (0, 2)
        assert connections.add(each)
        made.append(each)
    assert dropped == [1], "the first and the third wait for an answer"
    made[0].is_waiting = False
    assert connections.add(Connection(connections, "127.0.0.1", drop=lambda: None, known=lambda: None))
    assert dropped == [1, 0, 3]


def test_who_is_signed_in_gives_way_to_nobody(house: House) -> None:
    with ExitStack() as held:
        clients = [held.enter_context(house.client()) for _ in range(IN_ALL)]
        assert [client.get("/api/sign-in").status_code for client in clients] == [200] * IN_ALL
        with raw(house, head(house)) as given:
            assert code(answer(given)) == (503, "too_many_connections")
        assert [client.get("/api/sign-in").status_code for client in clients] == [200] * IN_ALL
    until = time.monotonic() + 10
    with httpx.Client(base_url=house.url, trust_env=False) as client:
        while client.get("/api/health").status_code != 200:
            assert time.monotonic() < until


@pytest.mark.slow
def test_floods_cost_neither_memory_nor_time(tmp_path: Path) -> None:
    """The short form of `script/soak hostile --part floods`; raises where a flood costs more than it may."""
    kinds = [each.kind for each in flooded(tmp_path, slow=200, header=60 << 20, seed=3)]
    assert kinds == ["quiet", "slow headers", "slow sign-ins", "silence", "endless header"]
