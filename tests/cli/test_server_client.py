"""Commands as clients of a server: what they load, what they say, and how they follow what happens."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from forge.app.process.server_lock import found_server
from forge.cli.server_client import ServerClient, ServerGone, error_of
from forge.errors import Conflict, Denied, InvalidInput, NotFound, Upstream
from forge.events import Event, TurnStarted, to_json
from tests.cli.beside import Beside, beside
from tests.cli.terminals import Terminal
from tests.conftest import Git
from tests.support.repositories import repository

pytestmark = pytest.mark.req("X-02", "X-04")

ASK = {"calls": [{"name": "ask_user", "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}}]}


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path, "ai/x")


def recorded(place: Path, *answers: dict[str, Any]) -> str:
    path = place / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    return f"recorded:{path}"


@pytest.fixture
def asking(tmp_path: Path) -> tuple[str, ...]:
    return "chat", "-b", "ai/x", "-m", "a sign", "--model", recorded(tmp_path, ASK, {"text": "Good."})


def alone_and_beside(there: Beside, repo: Path, *words: str) -> tuple[tuple[int, str, str], tuple[int, str, str]]:
    alone = there.run(*words, "--direct", cwd=repo)
    served = there.run(*words, cwd=repo)
    return (alone.code, alone.out, alone.err), (served.code, served.out, served.err)


@pytest.mark.slow
def test_a_chat_beside_a_server_loads_no_engine_no_model_library_and_no_sql(
    there: Beside, repo: Path, tmp_path: Path
) -> None:
    server = there.serve()
    code = (
        "import atexit, sys; sys.argv = sys.argv[1:]; "
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr)); "
        "from forge.cli.main import main; main()"
    )
    words = ["forge", "chat", "-b", "ai/x", "-m", "hello", "--model", recorded(tmp_path, {"text": "Good."})]
    process = [sys.executable, "-c", code, *words]
    done = subprocess.run(process, cwd=repo, env=there.environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "Good." in done.stdout) == (0, True), done.stderr
    loaded = {name.partition(".")[0] for name in done.stderr.splitlines()}
    assert {"websockets", "httpx2"} <= loaded
    assert not loaded & {"dbos", "pydantic_ai", "sqlalchemy", "fastapi"}
    assert set(there.runs().values()) == {server.pid}


@pytest.mark.slow
def test_refusals_have_the_same_words_and_exit_codes_as_without_a_server(there: Beside, repo: Path) -> None:
    there.serve()
    for words, code in (
        (("chat", "-b", "main", "-m", "hi", "--model", "builtin"), 5),
        (("chat", "-b", "ai/x", "-m", "hi", "--model", "nobody:x"), 1),
        (("chat", "-b", "ai/x", "-m", "hi", "--model", "anthropic:claude-sonnet-5"), 5),
        (("chat", "-b", "ai/x", "-m", "hi", "--agent", "nobody"), 1),
        (("chat", "-b", "bad..name", "-m", "hi", "--model", "builtin"), 1),
        (("chat", "-b", "ai/x", "-m", "x" * 100_001 * 4, "--model", "builtin"), 1),
        (("session", "cancel", "-b", "ai/x"), 0),
        (("session", "cancel", "-b", "ai/none"), 1),
        (("session", "answer", "-b", "ai/x", "-m", "red"), 1),
    ):
        alone, served = alone_and_beside(there, repo, *words, "--json")
        assert served == alone
        assert served[0] == code, served


@pytest.mark.slow
@pytest.mark.req("G-11")
def test_a_question_is_asked_at_the_terminal_and_the_turn_is_cancelled_there(
    there: Beside, repo: Path, asking: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = there.serve()
    for name, value in there.environ.items():
        monkeypatch.setenv(name, value)
    with Terminal(*asking, cwd=repo) as terminal:
        shown = terminal.read_until("you › ")
        assert "2. blue" in shown
        busy = there.run("chat", "-b", "ai/x", "-m", "me too", "--model", "builtin", cwd=repo)
        assert (busy.code, "forge session cancel" in busy.err) == (1, True), busy.err
        terminal.type("2\n")
        terminal.read_until("Good.")
        assert terminal.wait() == 0
    with Terminal(*(word.replace("ai/x", "ai/y") for word in asking), cwd=repo) as terminal:
        terminal.read_until("you › ")
        ended = there.run("session", "cancel", "-b", "ai/y", "--json", cwd=repo)
        assert set(ended.document["cancelled"]) == {"turn", "who", "since", "waits_for"}
        terminal.read_until("Stopped (cancelled)")
        assert terminal.wait() == 130
    assert set(there.runs().values()) == {server.pid}


@pytest.mark.slow
@pytest.mark.req("G-11")
def test_a_question_left_open_is_answered_by_another_client(
    there: Beside, repo: Path, asking: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = there.serve()
    for name, value in there.environ.items():
        monkeypatch.setenv(name, value)
    with Terminal(*asking, cwd=repo) as terminal:
        terminal.read_until("you › ")
    ran = there.run("session", "answer", "-b", "ai/x", "-m", "1", "--json", cwd=repo)
    assert (ran.code, ran.document["text"], ran.document["stopped"]) == (0, "Good.", None), ran.err
    assert set(there.runs().values()) == {server.pid}
    turn = there.run("session", "show", "-b", "ai/x", "--turn", "1", "--json", cwd=repo).document
    assert [each["text"] for each in turn["messages"] if each["role"] == "tool"] == ["red"]


@pytest.mark.slow
def test_a_new_branch_begins_where_the_person_is_and_their_secrets_stay_here(
    there: Beside, repo: Path, tmp_path: Path, git: Git
) -> None:
    there.serve(cwd=repo)
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-b", "other", str(linked))
    git(linked, "commit", "--allow-empty", "-m", "only here")
    secret = "sk-only-of-the-command-123456"
    words = ("chat", "-b", "ai/new", "-m", f"the key is {secret}", "--model", recorded(tmp_path, {"text": "Good."}))
    done = there.run(*words, cwd=linked, environ={"MY_OWN_TOKEN": secret})
    assert done.code == 0, done.err
    assert git(repo, "rev-parse", "ai/new^") == git(linked, "rev-parse", "HEAD")
    shown = there.run("session", "show", "-b", "ai/new", "--json", cwd=repo).out
    assert "the key is" in shown
    assert secret not in shown


def test_a_problem_is_the_error_that_the_server_met() -> None:
    kinds = {
        404: NotFound,
        409: Conflict,
        412: Conflict,
        403: Denied,
        422: InvalidInput,
        413: InvalidInput,
        502: Upstream,
    }
    for status, kind in kinds.items():
        error = error_of({"status": status, "code": "some_code", "detail": "What.", "hint": "Do `forge x`."})
        assert type(error) is kind
        assert (error.code, error.message, error.hint) == ("some_code", "What.", "Do `forge x`.")


class Stand:
    """A server that tells one event for each connection and then breaks it."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    async def told(self, socket: ServerConnection) -> None:
        wanted = json.loads(await socket.recv())
        self.asked.append(wanted)
        event = to_json(TurnStarted("t", "ai/x", "builtin"))
        await socket.send(json.dumps({"topic": wanted["subscribe"], "id": wanted["after"] + 1, "event": event}))

    @staticmethod
    def healthy(_: ServerConnection, request: Request) -> Response | None:
        if request.path != "/api/health":
            return None
        body = json.dumps({"pid": os.getpid()}).encode()
        return Response(HTTPStatus.OK, "OK", Headers({"Content-Length": str(len(body))}), body)


async def followed(stand: Stand, data_dir: Path) -> AsyncIterator[tuple[int | None, Event]]:
    """What a client hears from a server that ends at its third connection."""
    async with serve(stand.told, "127.0.0.1", 0, process_request=stand.healthy) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        left = {"pid": os.getpid(), "host": "127.0.0.1", "port": port, "secret": "s"}
        (data_dir / "server.json").write_text(json.dumps(left))
        server = await asyncio.to_thread(found_server, data_dir)
        async with ServerClient(server, data_dir) as client:
            async for item in client.follow("branch:r:ai/x", 7):
                if len(stand.asked) == 3:
                    listening.close()
                yield item


def test_a_topic_is_followed_from_the_last_id_over_broken_connections_until_the_server_is_gone(tmp_path: Path) -> None:
    stand = Stand()
    heard: list[tuple[int | None, Event]] = []

    async def hear() -> None:
        async for item in followed(stand, tmp_path):
            heard.append(item)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ServerGone):
        asyncio.run(hear())
    assert [id_ for id_, _ in heard] == [8, 9, 10]
    assert [each["after"] for each in stand.asked] == [7, 8, 9]
    assert heard[0][1] == TurnStarted("t", "ai/x", "builtin")
