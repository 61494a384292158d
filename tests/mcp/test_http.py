"""MCP at a server: keys and their scopes, other people's projects, hosts and origins, both protocol generations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forge.app.access.identity import LOCAL, audited, share
from forge.app.projects.project_access import create_project
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_server, draft_in

pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-http")]
_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_an_agent_with_a_key_commits_to_a_branch_in_every_generation(house: House, mode: str) -> None:
    key, id_ = house.user("ada"), house.repository()
    share(house.shop, LOCAL, "repository", id_, "ada", right="write")
    async with at_server(house.url, key, mode=mode) as agent:
        text = await agent.call("forge_write", at=f"{id_}:agent/a", path="a.txt", content="x\n")
        assert "agent/a" in await agent.call("forge_commit", draft=draft_in(text), message="add a")
        assert "agent/a" in await agent.call("forge_list")
    deeds = {deed.action: deed for deed in audited(house.shop, LOCAL)}
    assert {"mcp.forge_write", "mcp.forge_commit", "draft.commit"} <= set(deeds)
    assert deeds["mcp.forge_write"].key is not None


@pytest.mark.asyncio
async def test_what_is_not_shared_ends_like_what_does_not_exist(house: House) -> None:
    secret, key = house.repository(), house.user("eve")
    async with at_server(house.url, key, "?toolsets=all") as agent:
        for at in (f"{secret}:main", f"draft~{secret}.00000000"):
            there = await agent.refused("forge_read", path="README.md", at=at)
            nowhere = await agent.refused("forge_read", path="README.md", at=at.replace(secret, "0" * 12))
            assert there.replace(secret, "ID") == nowhere.replace("0" * 12, "ID")
        there = await agent.refused("forge_get_project", project="20261116-4f2a")
        assert "There is no project" in there
        assert "no project" in await agent.call("forge_list_projects")


@pytest.mark.asyncio
async def test_a_draft_of_another_person_does_not_exist(house: House) -> None:
    id_, ada, bob = house.repository(), house.user("ada"), house.user("bob")
    for name in ("ada", "bob"):
        share(house.shop, LOCAL, "repository", id_, name, right="write")
    async with at_server(house.url, ada) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="a.txt", content="secret words\n"))
    async with at_server(house.url, bob) as agent:
        assert "There is no draft" in await agent.refused("forge_read", at=draft, path="a.txt")
        assert "There is no draft" in await agent.refused("forge_commit", draft=draft, message="mine now")
        assert draft not in await agent.call("forge_list")


def test_without_a_key_the_answer_says_where_to_learn_how_to_come_in(house: House) -> None:
    with house.client(key="") as client:
        for method in ("GET", "POST", "DELETE"):
            refused = client.request(method, "/mcp", headers=_HEADERS)
            assert refused.status_code == 401
            challenge = refused.headers["www-authenticate"]
            assert challenge.startswith("Bearer ")
            metadata = challenge.partition('resource_metadata="')[2].rstrip('"')
        assert metadata == f"{house.url}/.well-known/oauth-protected-resource/mcp"
        known = client.get(metadata).json()
        assert known["resource"] == f"{house.url}/mcp"
        assert known["scopes_supported"] == ["read", "write", "run"]
    with house.client(key="fk_" + "x" * 43) as client:
        refused = client.post("/mcp", headers=_HEADERS, json={})
        assert refused.status_code == 401
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]


def test_a_cookie_of_a_person_opens_nothing_for_an_agent(house: House) -> None:
    with house.client(key="") as client:
        assert client.get("/", params={"token": house.token()}).status_code in (200, 303, 404)
        assert client.get("/api/repositories").status_code == 200
        refused = client.post("/mcp", headers={**_HEADERS, "Origin": house.url}, json={})
        assert refused.status_code == 401


def test_a_key_without_the_scope_of_a_tool_gets_403_and_the_scope(house: House) -> None:
    reader = house.user("reader", ("read",))
    with house.client(reader) as client:
        refused = client.post("/mcp", headers=_HEADERS, json={**_CALL, "params": {"name": "forge_write"}})
        assert refused.status_code == 403
        assert 'error="insufficient_scope", scope="write"' in refused.headers["www-authenticate"]
        assert "forge key new --scope write" in refused.json()["error"]["message"]


@pytest.mark.asyncio
async def test_a_key_for_one_project_reaches_nothing_else(house: House) -> None:
    repository, other = house.repository(), house.repository()
    mine = house.call(create_project(house.shop, LOCAL, "Garden", repository_id=repository))
    theirs = house.call(create_project(house.shop, LOCAL, "Secret"))
    house.user("ada")
    for id_ in (mine.id, theirs.id):
        share(house.shop, LOCAL, "project", id_, "ada", right="write")
    for id_ in (repository, other):
        share(house.shop, LOCAL, "repository", id_, "ada", right="write")
    with house.client() as client:
        order = {"user": "ada", "project": mine.id}
        made = client.post("/api/keys", json=order).json()
        assert made["key"]["project"] == mine.id
        assert client.post("/api/keys", json={**order, "scopes": ["read", "admin"]}).status_code == 422
        assert client.post("/api/keys", json={**order, "project": "20260101-0000"}).status_code == 404
    async with at_server(house.url, made["text"], "?toolsets=all") as agent:
        listed = await agent.call("forge_list_projects")
        assert mine.id in listed
        assert theirs.id not in listed
        assert mine.id in await agent.call("forge_get_project_context")
        assert "README.md" in await agent.call("forge_list")
        there = await agent.refused("forge_get_project", project=theirs.id)
        assert there.replace(theirs.id, "ID") == (await agent.refused("forge_get_project", project="ID"))
        assert "no repository" in await agent.refused("forge_read", path="README.md", at=f"{other}:main")
    with house.client(made["text"]) as client:
        assert client.get(f"/api/projects/{mine.id}").status_code == 200
        assert client.get(f"/api/repositories/{repository}/branches").status_code == 200
        for address in ("projects", f"projects/{theirs.id}", f"repositories/{other}", "settings", "keys", "models"):
            refused = client.get(f"/api/{address}")
            assert (refused.status_code, refused.json()["code"]) == (403, "key_limited"), address
        shared = client.put(f"/api/projects/{mine.id}/shares/ben", json={"right": "read"})
        assert (shared.status_code, shared.json()["code"]) == (403, "key_limited")


def test_foreign_hosts_and_origins_are_refused(house: House) -> None:
    key = house.user("ada")
    with house.client(key) as client:
        assert client.post("/mcp", headers={**_HEADERS, "Host": "evil.example"}, json={}).status_code == 421
        assert client.post("/mcp", headers={**_HEADERS, "Origin": "http://evil.example"}, json={}).status_code == 403


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{" * 5000, b'{"method": 7}', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_request_is_refused_in_both_generations(house: House, body: bytes) -> None:
    with house.client(house.user("ada")) as client:
        for version in ("2025-11-25", "2026-07-28", "1999-01-01"):
            headers = {**_HEADERS, "MCP-Protocol-Version": version}
            answer: httpx.Response = client.post("/mcp", headers=headers, content=body)
            assert 400 <= answer.status_code < 500
