"""What every client pays for before its first call: the list of tools and the instructions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forge.context.tokens import of_text
from forge.mcp.server import INSTRUCTIONS
from forge.mcp.toolsets import TOOLSETS, ToolsetUnknown, chosen
from tests.conftest import MakeRepo
from tests.support.mcp_client import at_machine, in_process

pytestmark = pytest.mark.req("B-13")
MEASURED = {"default": 1506, "all": 3763}
"""Tokens of `tools/list`; a change that adds more than a twentieth changes these numbers on purpose."""


async def _listed(repo: Path, *names: str) -> str:
    async with in_process(repo, *names) as agent:
        found = await agent.client.list_tools()
        tools = found.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
        return json.dumps(tools, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.asyncio
async def test_the_default_set_is_small(make_repo: MakeRepo) -> None:
    listed = await _listed(make_repo())
    names = [each["name"] for each in json.loads(listed)]
    assert len(names) <= 12
    assert {"forge_get_summary", "forge_get_contract"} <= set(names)
    assert of_text(listed) <= min(2000, MEASURED["default"] * 1.05)
    assert of_text(INSTRUCTIONS) <= 150
    assert of_text(await _listed(make_repo(name="other"), "all")) <= min(8000, MEASURED["all"] * 1.05)


@pytest.mark.asyncio
async def test_every_tool_has_annotations_a_short_description_and_nothing_else(make_repo: MakeRepo) -> None:
    for tool in json.loads(await _listed(make_repo(), "all")):
        assert set(tool) == {"name", "description", "inputSchema", "annotations"}, tool["name"]
        assert set(tool["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint"}
        assert len(tool["description"]) <= 200
        assert tool["inputSchema"]["additionalProperties"] is False


@pytest.mark.asyncio
async def test_the_list_is_the_same_bytes_at_a_hundred_starts(make_repo: MakeRepo) -> None:
    repo = make_repo()
    assert len({await _listed(repo, "all") for _ in range(100)}) == 1


def test_the_list_is_the_same_bytes_in_every_process(make_repo: MakeRepo) -> None:
    """A process hashes text with another seed each time; nothing of that shows on the wire."""
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    repo, lines = make_repo(), "".join(f"{json.dumps(each)}\n" for each in asked)
    command = [Path(sys.executable).parent / "forge", "-C", repo, "mcp", "--toolset", "all"]
    seen = set()
    for seed in ("0", "1", "42"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(lines)
            process.stdin.flush()
            seen.add([process.stdout.readline() for _ in range(2)][1])
            process.stdin.close()
    (only,) = seen
    assert len(json.loads(only)["result"]["tools"]) == len(chosen(["all"]))


def test_sets_are_chosen_by_name_in_a_fixed_order() -> None:
    one, other = chosen(["memory", "workspace"]), chosen(["workspace", "memory"])
    assert one == other
    assert {tool.name for tool in chosen(["all"])} == {tool.name for tools in TOOLSETS.values() for tool in tools}
    with pytest.raises(ToolsetUnknown):
        chosen(["nothing"])


def test_no_tool_decides_for_the_person() -> None:
    decisions = ("confirm", "approve", "override", "terminate", "answer", "resume")
    for tool in chosen(["all"]):
        assert not any(word in tool.name for word in decisions)


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_forge_mcp_speaks_both_generations_over_stdio(make_repo: MakeRepo, mode: str) -> None:
    env = {name: value for name, value in os.environ.items() if name.startswith(("HOME", "PATH", "XDG_", "GIT_"))}
    async with at_machine(make_repo({"a.txt": "hello\n"}), env=env, mode=mode) as agent:
        assert len((await agent.client.list_tools()).tools) == len(chosen([]))
        assert "hello" in await agent.call("forge_read", path="a.txt")


def test_stdout_has_only_the_protocol_and_the_process_ends_with_its_client(make_repo: MakeRepo) -> None:
    forge = Path(sys.executable).parent / "forge"
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "forge_list", "arguments": {}}},
    ]
    lines = "".join(f"{json.dumps(each)}\n" for each in asked) + "not json\n"
    with subprocess.Popen(
        [forge, "-C", make_repo({"a": "b"}), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read().count("\n") <= 1
        assert process.wait(10) == 0
    assert {each["id"] for each in answers} == {1, 2}


_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "pytest", "version": "1"},
}
