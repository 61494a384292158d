"""The wire rules of both protocol generations: a short form in the suite, the official suite with `--conformance`."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.mcp.toolsets import chosen
from tests.conftest import MakeRepo
from tests.support.mcp_wire import FORMS, NEWEST, asked, meta

ROOT = Path(__file__).parents[2]
FULL = pytest.mark.skipif("FORGE_TEST_CONFORMANCE" not in os.environ, reason="opt in: script/test --conformance")
pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-conformance")]
META = meta(FORMS)
SCENARIOS = {"2026-07-28": 37, "2025-11-25": 30}
"""How many server scenarios a revision requires: what `requirements/REVISION.yaml` of the suite lists as `server`."""
TASK_SCENARIOS = {"2026-07-28": 10, "2025-11-25": 0}
"""Of the tasks extension, which the suite runs beside them; it is none of 2025-11-25."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.support.conformance.fixture_server", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        _wait(port)
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the fixture server did not start")


def test_a_server_is_discovered_and_says_what_it_can(url: str) -> None:
    status, found = asked(url, "server/discover", {})
    assert status == 200
    assert NEWEST in found["result"]["supportedVersions"]
    assert {"tools", "prompts", "resources", "completions"} <= set(found["result"]["capabilities"])


@pytest.mark.parametrize(
    ("params", "headers", "code"),
    [
        ({"_meta": {}}, {}, -32602),
        ({}, {"MCP_Protocol_Version": "1999-01-01"}, -32020),
        ({}, {"Mcp_Method": "prompts/list"}, -32020),
        ({"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}},
         {"MCP_Protocol_Version": "1999-01-01"}, -32022),
    ],
)  # fmt: skip
def test_requests_that_contradict_themselves_are_refused(
    url: str, params: dict[str, Any], headers: dict[str, str], code: int
) -> None:
    status, found = asked(url, "tools/list", params, **headers)
    assert (status, found["error"]["code"]) == (400, code)


def test_a_tool_asks_the_person_and_its_state_is_sealed(url: str) -> None:
    call = {"name": "test_input_required_result_request_state", "arguments": {}}
    _, first = asked(url, "tools/call", call)
    waiting = first["result"]
    assert (waiting["resultType"], list(waiting["inputRequests"])) == ("input_required", ["confirm"])
    state = waiting["requestState"]
    assert "asked" not in state
    given = {"inputResponses": {"confirm": {"action": "accept", "content": {"ok": True}}}}
    _, done = asked(url, "tools/call", {**call, **given, "requestState": state})
    assert "state-ok" in done["result"]["content"][0]["text"]
    tampered = state[:-4] + ("AAAA" if not state.endswith("AAAA") else "BBBB")
    elsewhere = {**call, "name": "test_input_required_result_tampered_state"}
    for wrong in ({**call, "requestState": tampered}, {**elsewhere, "requestState": state}):
        _, refused = asked(url, "tools/call", {**wrong, **given})
        assert refused["error"]["code"] == -32602


def test_what_the_client_cannot_do_is_named(url: str) -> None:
    status, refused = asked(url, "tools/call", {"name": "test_missing_capability", "arguments": {}})
    assert (status, refused["error"]["code"]) == (400, -32021)
    assert refused["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_lists_and_missing_resources_have_the_fields_of_the_newest_generation(url: str) -> None:
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        result = asked(url, method, {})[1]["result"]
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")
    _, refused = asked(url, "resources/read", {"uri": "test://nothing"})
    assert (refused["error"]["code"], refused["error"]["data"]) == (-32602, {"uri": "test://nothing"})


@FULL
@pytest.mark.parametrize("revision", SCENARIOS)
def test_the_official_suite_passes(url: str, revision: str) -> None:
    command = ["conformance", "server", "--url", url, "--requirements", revision]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    summary, _, unscored = done.stdout.partition("=== SUMMARY ===")[2].partition("Not scored")
    aside = set(re.findall(r"^  [✓✗] (\S+)", unscored, re.MULTILINE))
    ends = {name: mark for mark, name in re.findall(r"^([✓✗]) (\S+):", summary, re.MULTILINE)}
    scored = {name: mark for name, mark in ends.items() if name not in aside}
    assert len(scored) == SCENARIOS[revision]
    assert [name for name, mark in scored.items() if mark != "✓"] == []
    tasks = {name: mark for name, mark in ends.items() if name.startswith("tasks-")}
    assert len(tasks) == TASK_SCENARIOS[revision]
    assert [name for name, mark in tasks.items() if mark != "✓"] == []


@FULL
def test_the_inspector_lists_and_calls_every_tool(make_repo: MakeRepo) -> None:
    repo = make_repo({"a.txt": "hello\n"})
    forge = str(Path(sys.executable).parent / "forge")
    server = [forge, "-C", str(repo), "mcp", "--toolset", "all"]

    def inspected(*words: str) -> dict[str, Any]:
        command = ["mcp-inspector", "--cli", *server, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.stdout, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    listed = [each["name"] for each in inspected("--method", "tools/list")["tools"]]
    assert listed == [tool.name for tool in chosen(["all"])]
    for name in listed:
        called = inspected("--method", "tools/call", "--tool-name", name)
        (content,) = called["content"]
        assert content["text"]
        assert "Internal error" not in content["text"]
