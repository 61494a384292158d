"""A terminal on a branch over a WebSocket: confined, and its changes are saved, discarded or set aside."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.support.api_server import House

pytestmark = pytest.mark.req("B-02", "X-06")


@contextmanager
def terminal(house: House, repo: str, branch: str = "main", key: str = "") -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {key}"} if key else house.bearer
    address = f"ws://127.0.0.1:{house.port}/api/repositories/{repo}/terminal?branch={branch}"
    with connect(address, additional_headers=headers, proxy=None, max_queue=None) as socket:
        yield socket


def typed(socket: ClientConnection, line: str) -> None:
    socket.send(f"{line}\r".encode())


def shown(socket: ClientConnection, words: str) -> str:
    """Output until it has these words."""
    seen = ""
    while words not in seen:
        try:
            piece = socket.recv(timeout=8)
        except TimeoutError:
            raise AssertionError(seen) from None
        assert isinstance(piece, bytes), piece
        seen += piece.decode("utf-8", "replace")
    return seen


def told(socket: ClientConnection) -> dict[str, Any]:
    """The next message that is not output."""
    while isinstance(piece := socket.recv(timeout=20), bytes):
        pass
    result: dict[str, Any] = json.loads(piece)
    return result


def text(client: httpx.Client, repo: str, path: str, branch: str) -> httpx.Response:
    return client.get(f"/api/repositories/{repo}/files/{path}", params={"branch": branch})


def test_what_a_shell_changed_is_saved_as_one_commit(client: httpx.Client, house: House) -> None:
    repo = house.repository({"a.txt": "one\n"})
    with terminal(house, repo) as socket:
        shown(socket, "main $ ")
        socket.send(json.dumps({"resize": [33, 101]}))
        typed(socket, "cat a.txt; stty size; echo two > b.txt; echo $((40 + 2))")
        seen = shown(socket, "\r\n42")
        assert "one\r\n33 101" in seen
        typed(socket, "exit")
        ended = told(socket)["ended"]
        assert (ended["exit_code"], ended["changes"]) == (0, [{"path": "b.txt", "change": "added"}])
        assert text(client, repo, "b.txt", "main").status_code == 404
        socket.send(json.dumps({"save": "add b by hand"}))
        commit = told(socket)["saved"]
    assert text(client, repo, "b.txt", "main").text == "two\n"
    log = client.get(f"/api/repositories/{repo}/commits/{commit}").json()
    assert "add b by hand" in json.dumps(log)


def test_discarded_changes_are_gone_and_undecided_ones_are_set_aside(client: httpx.Client, house: House) -> None:
    repo = house.repository({"a.txt": "one\n"})
    with terminal(house, repo) as socket:
        typed(socket, "rm a.txt; exit")
        assert told(socket)["ended"]["changed"] == 1
        socket.send(json.dumps({"discard": True}))
        assert told(socket) == {"discarded": True}
    assert text(client, repo, "a.txt", "main").status_code == 200
    with terminal(house, repo) as socket:
        typed(socket, "echo kept > c.txt; echo do''ne")
        shown(socket, "done")
    for _ in range(100):
        names = [each["name"] for each in client.get(f"/api/repositories/{repo}/branches").json()["items"]]
        if len(names) > 1:
            break
        time.sleep(0.1)
    (aside,) = (name for name in names if name.startswith("main-terminal-"))
    assert text(client, repo, "c.txt", aside).text == "kept\n"
    assert text(client, repo, "c.txt", "main").status_code == 404


def test_a_shell_sees_no_home_no_network_and_no_other_directory(house: House) -> None:
    repo = house.repository({"a.txt": "one\n"})
    outside = house.place / "outside.txt"
    outside.write_text("secret words")
    with terminal(house, repo) as socket:
        typed(socket, f"cat {outside}; ls /root /home; cat /proc/net/route | wc -l; touch /usr/x; id -u; echo en''d")
        seen = shown(socket, "end\r\n")
    assert "secret words" not in seen
    assert "No such file" in seen
    assert "Read-only file system" in seen
    assert "1000\r\n" in seen


def test_the_shell_ends_with_its_connection(house: House) -> None:
    repo = house.repository({"a.txt": "one\n"})
    mark = "7654.321"
    with terminal(house, repo) as socket:
        typed(socket, f"sleep {mark} & sleep {mark} & echo go''ing")
        shown(socket, "going")
    for _ in range(100):
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        if f"sleep {mark}\n" not in listed:
            return
        time.sleep(0.1)
    raise AssertionError("the shell outlives its connection")


def test_a_terminal_needs_the_scope_run_and_a_branch(house: House) -> None:
    repo = house.repository({"a.txt": "one\n"})
    with terminal(house, repo, "gone") as socket:
        assert told(socket)["problem"]["code"] == "branch_missing"
    with house.client() as client:
        reader = house.user("rea", ("read", "write"))
        client.put(f"/api/repositories/{repo}/shares/rea", json={"right": "write"})
    with terminal(house, repo, key=reader) as socket:
        assert told(socket)["problem"]["code"] == "scope_missing"
    with pytest.raises(Exception, match=r"40[13]"), terminal(house, repo, key="no-such-key"):
        pass


def test_a_message_that_means_nothing_is_refused_and_a_huge_one_ends_it(house: House) -> None:
    repo = house.repository({"a.txt": "one\n"})
    with terminal(house, repo) as socket:
        for wrong in ("[", '{"save": "too early"}', '{"resize": [0, 5]}', '{"resize": ["a", 5]}'):
            socket.send(wrong)
            assert told(socket)["problem"]["code"] in ("message_invalid", "invalid_input")
        socket.send(b"x" * 70_000)
        with pytest.raises(ConnectionClosed):
            shown(socket, "nothing of the kind")
