"""Commands beside a server: it does their work, and what happens when it cannot, may not, or dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from forge.app.process.server_lock import ServerMissing, found_server
from tests.cli.beside import Beside, beside, until
from tests.conftest import Git
from tests.support.provider import KEY, MODEL, Asked, Provider, message, working
from tests.support.repositories import repository
from tests.support.scripted_projects import OPEN

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "X-04")]
DONE = "Write the notes of first1"


@pytest.fixture
def provider() -> Iterator[Provider]:
    def slowly(asked: Asked) -> Any:
        return working(asked, pause=0.1, command_seconds=0.1)

    with Provider(slowly) as made:
        yield made


@pytest.fixture
def there(tmp_path: Path, provider: Provider) -> Iterator[Beside]:
    with beside(tmp_path, provider.environ) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path, "ai/x")


CHAT = ("chat", "-b", "ai/x", "-m", message("first1"))


def test_a_turn_is_done_by_the_server_and_seen_live_where_it_was_asked_for(
    there: Beside, repo: Path, provider: Provider, git: Git
) -> None:
    server = there.serve()
    done = there.run(*CHAT, "--stream-json", cwd=repo)
    assert (done.code, done.err) == (0, "")
    assert set(there.runs().values()) == {server.pid}
    lines = [json.loads(line) for line in done.out.splitlines()]
    kinds = [line["type"] for line in lines]
    first = kinds.index("ModelAnswered")
    streamed = "".join(line["text"] for line in lines[:first] if line["type"] == "TextStreamed")
    assert streamed.startswith("I will write"), "pieces come before the answer is whole"
    assert (kinds[-1], lines[-1]["commit"]) == ("result", git(repo, "rev-parse", "ai/x"))
    assert set(provider.counts.values()) == {1}
    assert server.alive


def test_direct_commands_do_their_work_themselves_beside_the_server(there: Beside, repo: Path, git: Git) -> None:
    server = there.serve()
    own = [
        there.start("chat", "-b", "ai/x", "-m", message("first1"), "--direct", cwd=repo),
        there.start("chat", "-b", "ai/y", "-m", message("other2"), cwd=repo, environ={"FORGE_DIRECT": "1"}),
    ]
    assert [each.ended().code for each in own] == [0, 0]
    assert sorted(there.runs().values()) == sorted(each.pid for each in own)
    assert server.pid not in there.runs().values()
    assert git(repo, "log", "-1", "--format=%s", "ai/x") == DONE


@pytest.mark.req("P-12")
def test_a_project_goes_all_the_way_in_the_server(there: Beside, tmp_path: Path) -> None:
    server = there.serve()
    (tmp_path / "idea.txt").write_text(OPEN)
    done = there.run("run", "idea.txt", "--agent", "builtin", "--auto-confirm", "--json")
    assert (done.code, done.document["label"].partition(" · ")[0]) == (4, "Outline ready"), done.err
    kinds = {run.partition("-")[0] for run in there.runs()}
    assert kinds == {"distil", "specify", "deliver"}
    assert set(there.runs().values()) == {server.pid}


def test_a_command_goes_on_with_its_turn_when_the_server_is_killed(
    there: Beside, repo: Path, provider: Provider, git: Git
) -> None:
    server = there.serve()
    command = there.start(*CHAT, cwd=repo)
    until(lambda: provider.answered[("first1", 1)])
    server.signal(signal.SIGKILL)
    done = command.ended()
    assert done.code == 0, done.err
    assert f"the server (process {server.pid}) has ended; this command continues its work" in done.err
    assert set(there.runs().values()) == {command.pid}
    assert git(repo, "log", "-1", "--format=%s", "ai/x") == DONE
    assert git(repo, "rev-list", "--count", "main..ai/x") == "1"
    assert not provider.paid_again


def test_a_server_that_is_started_again_goes_on_where_the_command_has_gone_too(
    there: Beside, repo: Path, provider: Provider, git: Git
) -> None:
    first = there.serve()
    command = there.start(*CHAT, cwd=repo)
    until(lambda: provider.answered[("first1", 1)])
    command.signal(signal.SIGKILL)
    first.signal(signal.SIGKILL)
    first.ended()
    second = there.serve()
    until(lambda: git(repo, "log", "-1", "--format=%s", "ai/x") == DONE)
    assert set(there.runs().values()) == {second.pid}
    assert not provider.paid_again


def test_an_interrupt_ends_the_turn_in_the_server(there: Beside, repo: Path, provider: Provider, git: Git) -> None:
    server = there.serve()
    command = there.start(*CHAT, cwd=repo)
    command.until_told("I will ")
    command.signal(signal.SIGINT)
    done = command.ended()
    assert done.code == 130, done.err
    assert "Cancelling …" in done.err
    assert "Stopped (cancelled)" in done.out
    assert git(repo, "diff", "--name-only", "main", "ai/x", "--", "notes") == ""
    assert set(there.runs().values()) == {server.pid}
    assert there.run("session", "show", "-b", "ai/x", "--json", cwd=repo).document["turns"][0]["status"] == "cancelled"
    assert ("first1", 2) not in provider.counts
    assert server.alive


def test_who_stops_watching_a_project_leaves_it_to_the_server(
    there: Beside, tmp_path: Path, provider: Provider
) -> None:
    server = there.serve()
    (tmp_path / "idea.txt").write_text(f"task slow1: {OPEN}\n")
    command = there.start("run", "idea.txt", "--agent", MODEL, "--json")
    until(lambda: provider.asked)
    command.signal(signal.SIGINT)
    done = command.ended()
    assert done.code == 130
    assert f"The server (process {server.pid}) continues the work." in done.err
    assert set(there.runs().values()) == {server.pid}


def test_a_command_continues_its_project_when_the_server_is_killed(
    there: Beside, tmp_path: Path, provider: Provider
) -> None:
    server = there.serve()
    (tmp_path / "idea.txt").write_text(f"task slow1: {OPEN}\n")
    command = there.start("run", "idea.txt", "--agent", MODEL, "--json")
    until(lambda: provider.asked)
    server.signal(signal.SIGKILL)
    done = command.ended()
    assert f"the server (process {server.pid}) has ended; this command continues its work" in done.err
    assert done.code in (1, 3, 4), "the recorded provider gives no intent; the run came to its end here"
    assert set(there.runs().values()) == {command.pid}


def test_a_project_that_the_server_does_not_have_is_worked_on_by_the_command(there: Beside, tmp_path: Path) -> None:
    server = there.serve()
    made = there.run("project", "new", "one", "--agent", "builtin", "--json").document
    shutil.copytree(made["directory"], f"{made['directory']}-copy")
    elsewhere = {"FORGE_WORKSPACE": str(tmp_path / "another")}
    for name, environ in (("one-copy", {}), ("two", elsewhere)):
        if environ:
            there.run("project", "new", name, "--agent", "builtin", environ=environ)
        said = there.run("project", "say", name, "-m", OPEN, environ=environ)
        assert said.code == 0, said.err
        command = there.start("project", "distill", name, "--json", environ=environ)
        assert command.ended().document["phase"] == "human_review"
        assert set(there.runs().values()) - {server.pid} >= {command.pid}
    shown = there.run("project", "status", "one", "--json").document
    assert shown["phase"] == "brain_dump"
    assert server.alive


@pytest.mark.req("G-10")
def test_a_branch_that_the_server_works_on_for_a_command_is_busy_for_all(
    there: Beside, repo: Path, provider: Provider
) -> None:
    there.serve()
    command = there.start(*CHAT, cwd=repo)
    until(lambda: provider.asked)
    assert there.run("chat", "-b", "ai/x", "-m", "me too", "--json", cwd=repo).error == "branch_busy"
    told = there.told()
    with httpx.Client(
        base_url=f"http://127.0.0.1:{told['port']}",
        headers={"Authorization": f"Bearer {told['secret']}"},
        trust_env=False,
    ) as client:
        id_ = client.post("/api/repositories", json={"path": str(repo)}).json()["id"]
        address = f"/api/repositories/{id_}/session/messages"
        answer = client.post(address, params={"branch": "ai/x"}, json={"text": "and me"})
    assert (answer.status_code, answer.json()["code"]) == (409, "branch_busy")
    assert command.ended().code == 0


@pytest.mark.req("X-06")
def test_what_the_server_would_do_otherwise_is_told_and_a_missing_key_ends_it_before_it_begins(
    there: Beside, repo: Path, git: Git, provider: Provider
) -> None:
    server = there.serve(environ={"ANTHROPIC_API_KEY": ""})
    before = git(repo, "for-each-ref")
    refused = there.run(*CHAT, "--json", cwd=repo)
    assert (refused.code, refused.error) == (5, "server_lacks_key")
    assert f"The server (process {server.pid}) would do this, and has no key for anthropic." in refused.err
    assert (git(repo, "for-each-ref"), provider.asked) == (before, [])
    plain = there.run("chat", "-b", "ai/x", "-m", "find 1", "--model", "builtin", cwd=repo)
    assert plain.code == 0
    assert "does this with its own settings. Not as here: keys.anthropic (not set there)." in plain.err
    assert "--direct" in plain.err
    assert there.run(*CHAT, "--direct", cwd=repo).code == 0
    shown = (there.data / "server.json").read_text()
    assert KEY not in shown


def test_a_dead_server_whose_number_another_process_has_is_no_server(there: Beside, repo: Path) -> None:
    server = there.serve()
    server.signal(signal.SIGKILL)
    server.ended()
    left = there.told()
    (there.data / "server.json").write_text(json.dumps({**left, "pid": os.getpid()}))
    command = there.start(*CHAT, cwd=repo)
    done = command.ended()
    assert (done.code, done.err) == (0, "")
    assert set(there.runs().values()) == {command.pid}
    there.serve()
    assert there.told()["secret"] != left["secret"]


class _Stranger(BaseHTTPRequestHandler):
    """Another program that has the port by now, and answers everything."""

    def do_GET(self) -> None:
        body = json.dumps({"status": "ok", "pid": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002


def test_another_program_on_the_port_of_a_dead_server_is_no_server(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), _Stranger) as stranger:
        answering = threading.Thread(target=stranger.serve_forever)
        answering.start()
        try:
            left = {"pid": os.getpid(), "host": "127.0.0.1", "port": stranger.server_port, "secret": "s"}
            (tmp_path / "server.json").write_text(json.dumps(left))
            with pytest.raises(ServerMissing):
                found_server(tmp_path)
        finally:
            stranger.shutdown()
            answering.join()
