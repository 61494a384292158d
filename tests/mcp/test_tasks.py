"""Long calls over MCP: a task where the client declared them, a handle to wait on elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.app.access.identity import LOCAL, share
from forge.mcp import jobs
from forge.mcp.jobs import Jobs, TooManyJobs
from forge.mcp.toolsets import workspace
from tests.conftest import Git, MakeRepo
from tests.support.api_server import House, opened
from tests.support.mcp_client import draft_in, in_process
from tests.support.mcp_wire import TASKS, asked

pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-http")]
SLEEP = "printf begun > begun.txt; sleep 2; printf done > done.txt"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


class Caller:
    """A client that declares tasks, or not."""

    def __init__(self, house: House, key: str, capabilities: dict[str, Any]) -> None:
        self.url = f"{house.url}/mcp"
        self.key = key
        self.capabilities = capabilities

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        _, answer = asked(self.url, method, params, capabilities=self.capabilities, key=self.key)
        return answer

    def run(self, command: str, at: str = "agent/a") -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", name="forge_run", arguments={"at": at, "command": command})[
            "result"
        ]
        return result

    def until_over(self, task: str) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found: dict[str, Any] = self.ask("tasks/get", taskId=task)["result"]
            if found["status"] not in ("working", "input_required"):
                return found
            time.sleep(0.2)
        raise AssertionError("the task did not end")


@pytest.fixture
def caller(house: House) -> Caller:
    key, id_ = house.user("ada"), house.repository()
    share(house.shop, LOCAL, "repository", id_, "ada", right="write")
    return Caller(house, key, TASKS)


def test_a_long_command_is_a_task_and_a_short_one_is_not(caller: Caller, house: House, git: Git) -> None:
    short = caller.run("echo hello")
    assert short["resultType"] == "complete"
    assert "hello" in short["content"][0]["text"]
    begun = caller.run(SLEEP)
    assert (begun["resultType"], begun["status"]) == ("task", "working")
    assert caller.ask("tasks/get", taskId=begun["taskId"])["result"]["status"] == "working"
    done = caller.until_over(begun["taskId"])
    assert (done["status"], done["result"]["isError"]) == ("completed", False)
    draft = draft_in(done["result"]["content"][0]["text"])
    committed = caller.ask("tools/call", name="forge_commit", arguments={"draft": draft, "message": "run it"})
    assert "Committed" in committed["result"]["content"][0]["text"]
    assert git(house.place / "repository-1", "show", "agent/a:done.txt") == "done"


def test_a_cancelled_task_ends_its_command_and_keeps_nothing(caller: Caller, house: House, git: Git) -> None:
    begun = caller.run("sleep 50; printf x > x.txt")
    at = time.monotonic()
    assert caller.ask("tasks/cancel", taskId=begun["taskId"])["result"]["resultType"] == "complete"
    assert caller.until_over(begun["taskId"])["status"] == "cancelled"
    assert time.monotonic() - at < 10
    assert git(house.place / "repository-1", "for-each-ref", "refs/forge/drafts") == ""


def test_who_did_not_declare_tasks_waits_and_reads_no_task(caller: Caller, house: House) -> None:
    task = caller.run(SLEEP)["taskId"]
    plain = Caller(house, caller.key, {})
    assert "done.txt" in plain.run(SLEEP)["content"][0]["text"]
    for method in ("tasks/get", "tasks/cancel"):
        refused = plain.ask(method, taskId=task)["error"]
        assert refused["code"] == -32021
        assert refused["data"]["requiredCapabilities"] == TASKS
    caller.until_over(task)


def test_a_task_of_another_person_or_another_key_does_not_exist(caller: Caller, house: House) -> None:
    task = caller.run(SLEEP)["taskId"]
    eve = Caller(house, house.user("eve"), TASKS)
    for method in ("tasks/get", "tasks/cancel"):
        there, nowhere = eve.ask(method, taskId=task), eve.ask(method, taskId="0" * 32)
        assert there["error"]["code"] == -32602
        assert there == nowhere
    assert caller.until_over(task)["status"] == "completed"


@pytest.mark.asyncio
async def test_elsewhere_a_long_run_answers_with_a_handle(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_PATIENCE", 0.5)
    async with in_process(make_repo()) as agent:
        told = await agent.call("forge_run", at="agent/a", command=SLEEP)
        assert "Still running" in told
        handle = told.partition("`run` ")[2].split()[0]
        monkeypatch.setattr(workspace, "_PATIENCE", 60.0)
        assert "done.txt (added)" in await agent.call("forge_run", run=handle)
        assert "done.txt (added)" in await agent.call("forge_run", run=handle)
        assert "There is no such call" in await agent.refused("forge_run", run="run~" + "0" * 32)
        assert "Name the branch" in await agent.refused("forge_run")


@pytest.mark.asyncio
async def test_jobs_are_limited_for_one_caller_and_forgotten_when_they_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(_: jobs.Job) -> str:
        return "done"

    kept = Jobs()
    made = [kept.begin("ada", work) for _ in range(100)]
    with pytest.raises(TooManyJobs):
        kept.begin("ada", work)
    assert await kept.begin("bob", work).settled(5)
    monkeypatch.setattr(jobs, "KEPT", 0.0)
    kept.begin("ada", work)
    with pytest.raises(jobs.JobMissing):
        kept.find("ada", made[0].id)
