"""Turns through the whole application: engine, database, models and programs, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from forge.agents.turn import TurnRequest
from forge.app.process.workshop import open_workshop
from forge.app.sessions.conversation import conversation, sessions_of
from forge.app.sessions.messages import WORKFLOW, end_of, follow, run_of, send_message
from forge.events import TextStreamed
from forge.git import Repository
from forge.sessions.turns import TurnStatus
from forge.settings import load
from forge.tools.builtin import NAMES
from tests.conftest import MakeRepo
from tests.support.postgres import Server, postgres
from tests.support.stand_in import Reply, StandIn, anthropic

__all__ = ["postgres"]

REPLIES = [
    Reply(("I ", "will."), calls=(("write_file", {"path": "b.txt", "content": "new\n"}),), cache_read=50),
    Reply(("Done.", "\n\nCommit: Add b.txt")),
]
Environ = Callable[..., dict[str, str]]


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    return Repository.open(make_repo({"a.txt": "hello\n"}))


@pytest.fixture
def environ(tmp_path: Path) -> Environ:
    def make(config: str = "") -> dict[str, str]:
        (tmp_path / "config.yaml").write_text(config)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "FORGE_DATA_DIR": str(tmp_path / "data"),
            "FORGE_CONFIG": str(tmp_path / "config.yaml"),
        }

    return make


async def _turn(repo: Repository, environ: dict[str, str]) -> list[str]:
    async with StandIn(anthropic, REPLIES) as server:
        environ |= {"ANTHROPIC_API_KEY": "sk-ant-test-key-of-nobody", "ANTHROPIC_BASE_URL": server.url}
        async with open_workshop(load(environ), environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "add b.txt")
            heard = [event async for event in follow(shop, sent)]
            end = await end_of(shop, sent.run)
            spent = shop.costs.total(branch="ai/x")
    assert (end.status, end.files) == (TurnStatus.DONE, ("b.txt",))
    assert end.usage.requests == spent.requests == 2
    assert end.usage.cost
    assert spent.cost == pytest.approx(end.usage.cost)
    assert "".join(e.text for e in heard if isinstance(e, TextStreamed)) == "I will.Done.\n\nCommit: Add b.txt"
    assert repo.commit(str(end.commit)).subject == "Add b.txt"
    return [type(event).__name__ for event in heard if not isinstance(event, TextStreamed)]


@pytest.mark.req("G-06", "G-17", "X-05")
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_turn_with_a_provider(
    repo: Repository, environ: Environ, database: str, request: pytest.FixtureRequest
) -> None:
    given = environ()
    if database == "postgresql":
        server: Server = request.getfixturevalue("postgres")
        given["FORGE_DATABASE"] = server.new_database()
    told = asyncio.run(_turn(repo, given))
    assert told == ["TurnStarted", "ModelAnswered", "ToolStarted", "ToolEnded", "ModelAnswered", "TurnCommitted"]


def a_program(tmp_path: Path, text: str) -> str:
    """Settings with an agent `mine` that runs this shell script."""
    program = tmp_path / "bin" / "mine"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}")
    program.chmod(0o755)
    return f"agents:\n  mine:\n    command: [{program}]\n    readonly: [{program.parent}]\n"


@pytest.mark.req("P-14", "G-06")
def test_a_turn_with_a_program(repo: Repository, environ: Environ, tmp_path: Path) -> None:
    script = """prompt=$(cat)
case "$prompt" in *"The conversation so far"*) echo "I remember." ;; esac
echo "by a program" > made.txt
printf 'Made it.\\n\\nCommit: Make it with a program\\n'
"""
    given = environ(a_program(tmp_path, script))

    async def turns() -> list[str]:
        said = []
        async with open_workshop(load(given), given) as shop:
            for text in ("make it", "once more"):
                sent = await send_message(shop, repo, "ai/x", text, agent="mine")
                end = await end_of(shop, sent.run)
                assert end.status is TurnStatus.DONE, end.reason
                said.append(end.text)
        return said

    assert asyncio.run(turns()) == ["Made it.", "I remember.\nMade it."]
    assert repo.commit_vfs("ai/x").read_file("made.txt") == "by a program\n"
    found = conversation(sessions_of(repo, load(given)), "ai/x")
    assert [moment.turn.model for moment in found.moments] == ["mine", "mine"]
    assert repo.commit(str(found.moments[-1].commit)).subject == "Make it with a program"


@pytest.mark.req("P-14", "G-06")
def test_a_program_that_fails_twice_changes_nothing_and_the_message_is_kept(
    repo: Repository, environ: Environ, tmp_path: Path
) -> None:
    given = environ(a_program(tmp_path, "echo half > half.txt\necho 'no luck today' >&2\nexit 3\n"))

    async def turn() -> None:
        async with open_workshop(load(given), given) as shop:
            sent = await send_message(shop, repo, "ai/x", "try", agent="mine")
            end = await end_of(shop, sent.run)
        assert end.status is TurnStatus.FAILED
        assert "no luck today" in end.reason

    asyncio.run(turn())
    assert not repo.commit_vfs("ai/x").file_exists("half.txt")
    (moment,) = conversation(sessions_of(repo, load(given)), "ai/x").moments
    assert moment.turn.asked == "try"


@pytest.mark.req("G-13")
def test_what_a_person_sets_for_the_context_reaches_the_model(repo: Repository, environ: Environ) -> None:
    files = repo.workspace("main")
    files.write_file("AGENTS.md", "a rule of this repository\n" * 400)
    files.write_file("hidden/secret_plan.py", "def plan(): ...\n")
    files.commit("more files")

    def sent(config: str) -> str:
        async def turn() -> str:
            async with StandIn(anthropic, [Reply(("Yes.",))]) as server:
                given = environ(config)
                given |= {"ANTHROPIC_API_KEY": "sk-ant-test-key-of-nobody", "ANTHROPIC_BASE_URL": server.url}
                async with open_workshop(load(given), given) as shop:
                    told = await send_message(shop, repo, f"ai/{len(repo.branches())}", "hello")
                    await end_of(shop, told.run)
                return server.requests[0].body.decode()

        return asyncio.run(turn())

    usual, chosen = sent(""), sent('context:\n  exclude: ["hidden/**"]\n  file_tokens: 200\n')
    assert "secret_plan.py" in usual
    assert "secret_plan.py" not in chosen
    assert usual.count("a rule of this repository") > 5 * chosen.count("a rule of this repository") > 0


@pytest.mark.req("X-04")
def test_a_turn_that_an_older_release_began_goes_on_without_a_profile(repo: Repository, environ: Environ) -> None:
    given = environ()
    request = TurnRequest("0badcafe0bad", "ai/x", "add b.txt", "Ada <ada@example.org>", 1_700_000_000.0, "")

    async def turn() -> dict[str, Any]:
        async with StandIn(anthropic, REPLIES) as server:
            given.update(ANTHROPIC_API_KEY="sk-ant-test-key-of-nobody", ANTHROPIC_BASE_URL=server.url)
            async with open_workshop(load(given), given) as shop:
                repo.create_branch("ai/x", "HEAD")
                asked = {**asdict(request), "model": "anthropic:claude-sonnet-5", "instructions": "Build it so."}
                arguments = {"repository": str(repo.git_dir), "agent": None, **asked}
                run = await shop.engine.start_run(WORKFLOW, arguments, run_id=run_of(request.mark))
                assert (await run.result())["status"] == "done"
        return server.requests[0].json

    sent = asyncio.run(turn())
    assert "Build it so." in str(sent["system"])
    names = {tool["name"] for tool in sent["tools"]}
    assert {"write_file", "run_command", "use_skill"} <= names
    assert "ask_user" not in names


@pytest.mark.req("G-07")
def test_a_turn_has_the_tools_of_its_profile_and_no_others(repo: Repository, environ: Environ) -> None:
    given = environ()

    async def turn() -> list[list[str]]:
        async with StandIn(anthropic, [Reply(("Yes.",)), Reply(("Yes.",))]) as server:
            given.update(ANTHROPIC_API_KEY="sk-ant-test-key-of-nobody", ANTHROPIC_BASE_URL=server.url)
            async with open_workshop(load(given), given) as shop:
                for branch, asks in (("ai/x", True), ("ai/y", False)):
                    sent = await send_message(shop, repo, branch, "hello", asks=asks)
                    await end_of(shop, sent.run)
        return [sorted(tool["name"] for tool in request.json["tools"]) for request in server.requests]

    asked, alone = asyncio.run(turn())
    assert set(asked) == {*NAMES, "use_skill"} - {"need_decision"}
    assert set(asked) - set(alone) == {"ask_user"}
