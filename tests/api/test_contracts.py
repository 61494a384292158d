"""Contracts over HTTP: listed, read, saved over what was read, checked, compared, restored and pinned."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from forge.app.access.identity import LOCAL
from forge.app.projects.contracts import pin_contracts
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from tests.api.conftest import ON_BOTH
from tests.api.projects import code, made
from tests.conftest import MakeRepo
from tests.support.api_server import House

pytestmark = [pytest.mark.req("C-05"), ON_BOTH]


@pytest.fixture
def project(client: httpx.Client) -> str:
    return str(made(client)["id"])


def saved(client: httpx.Client, project: str, kind: str, content: str, etag: str | None = None) -> httpx.Response:
    return client.put(f"/api/projects/{project}/contracts/{kind}", json={"content": content, "etag": etag})


def write_all(client: httpx.Client, project: str) -> None:
    for kind in ORDER:
        assert saved(client, project, kind, template(kind), "").status_code == 200


def test_nine_cards_show_their_state(client: httpx.Client, project: str) -> None:
    address = f"/api/projects/{project}/contracts"
    empty = client.get(address).json()
    assert [each["contract_type"] for each in empty["items"]] == [kind.value for kind in ORDER]
    assert {each["state"] for each in empty["items"]} == {"missing"}
    write_all(client, project)
    seen = client.get(address).json()
    assert {each["state"] for each in seen["items"]} == {"valid"}
    first = seen["items"][0]
    assert {"contract_type", "version", "size_chars", "updated_at"} <= set(first)
    assert (first["version"], first["size_chars"]) == (1, len(template(Kind.MANIFESTO)))
    saved(client, project, "blueprint", template(Kind.BLUEPRINT).replace("- F4: ", "- F5: "))
    states = {each["contract_type"]: (each["state"], each["findings"]) for each in client.get(address).json()["items"]}
    assert (states["blueprint"], states["phases"]) == (("findings", 1), ("findings", 1))
    found = client.get(f"{address}/check").json()
    assert not found["ok"]
    assert [each["code"] for each in found["findings"]] == ["feature_undelivered", "id_unknown"]


def test_a_contract_is_read_saved_and_refused(client: httpx.Client, project: str) -> None:
    address = f"/api/projects/{project}/contracts"
    example = client.get(f"{address}/physics").json()
    assert (example["source"], example["version"], example["etag"]) == ("template", 0, "")
    done = saved(client, project, "physics", example["content"], "").json()
    assert {"content", "version", "contract_type", "project_id", "source"} <= set(done)
    assert (done["version"], done["source"], done["project_id"]) == (1, "project", project)
    assert code(saved(client, project, "physics", "openapi: [", done["etag"])) == (422, "contract_malformed")
    assert code(saved(client, project, "physics", template(Kind.PHYSICS) + "\n", "")) == (409, "contract_changed")
    assert code(saved(client, project, "poem", "x")) == (404, "contract_unknown")
    assert code(client.get(f"{address}/poem")) == (404, "contract_unknown")
    assert code(client.get(f"{address}/window/0")) == (404, "contract_missing")
    assert client.get(f"{address}/schema/physics").json()["title"] == "physics"
    assert client.get(f"{address}/schema/stack").json()["required_sections"][0] == "Languages"


def test_drafts_are_checked_and_not_saved(client: httpx.Client, project: str) -> None:
    write_all(client, project)
    address = f"/api/projects/{project}/contracts"
    draft = template(Kind.PHYSICS).replace("    Task:", "    Chore:")
    found = client.post(f"{address}/check", json={"documents": {"physics": draft}}).json()
    assert {each["code"] for each in found["findings"]} == {"entity_unknown", "shape_missing"}
    assert all(each["file"] == "physics.yaml" and each["line"] > 1 for each in found["findings"])
    assert client.get(f"{address}/check").json() == {"ok": True, "findings": []}
    assert client.get(f"{address}/check", params={"mini": True}).json()["findings"][0]["code"] == "phases_not_two"


def test_versions_are_compared_and_restored(client: httpx.Client, project: str) -> None:
    address = f"/api/projects/{project}/contracts/stack"
    saved(client, project, "stack", template(Kind.STACK), "")
    saved(client, project, "stack", template(Kind.STACK) + "\n## Tools\n\nNone.\n")
    listed = client.get(f"{address}/versions").json()["items"]
    assert [each["number"] for each in listed] == [2, 1]
    assert "+## Tools" in client.get(f"{address}/diff").json()["diff"]
    back = client.get(f"{address}/diff", params={"old": 2, "new": 1}).json()
    assert (back["old"], back["new"]) == (2, 1)
    assert "-## Tools" in back["diff"]
    whole = client.get(f"{address}/diff", params={"new": 1}).json()
    assert (whole["old"], whole["new"]) == (None, 1)
    assert client.get(address, params={"version": 1}).json()["content"] == template(Kind.STACK)
    restored = client.post(f"{address}/restore", json={"version": 1}).json()
    assert (restored["version"], restored["content"]) == (3, template(Kind.STACK))
    assert code(client.post(f"{address}/restore", json={"version": 9})) == (404, "version_missing")
    assert code(client.get(f"{address}/diff", params={"old": 9})) == (404, "version_missing")


def test_a_pinned_set_is_read_by_its_number(client: httpx.Client, house: House, project: str) -> None:
    write_all(client, project)
    held = asyncio.run(_pinned(house, project))
    saved(client, project, "ui", template(Kind.UI) + "\n## Later\n\nx\n")
    address = f"/api/projects/{project}/contracts/history/{held}"
    seen: dict[str, Any] = client.get(address).json()
    assert {each["contract_type"]: each["content"] for each in seen["contracts"]} == {k: template(k) for k in ORDER}
    few = client.get(address, params={"types": ["ui", "stack"]}).json()
    assert [each["contract_type"] for each in few["contracts"]] == ["stack", "ui"]
    card = client.get(f"/api/projects/{project}/contracts").json()
    assert card["latest_batch"] == held
    assert {each["contract_type"]: (each["version"], each["pinned_version"]) for each in card["items"]}["ui"] == (2, 1)
    assert code(client.get(f"/api/projects/{project}/contracts/history/99")) == (404, "batch_missing")


async def _pinned(house: House, project: str) -> int:
    return pin_contracts(house.shop, LOCAL, project).batch or 0


def test_the_window_and_the_summary(client: httpx.Client, project: str) -> None:
    write_all(client, project)
    address = f"/api/projects/{project}/contracts"
    seen = client.get(f"{address}/window/2").json()
    assert seen["content"].startswith("## Phase 2 — Comments")
    assert "## Phase 3 — Board" in seen["content"]
    assert code(client.get(f"{address}/window/-1")) == (404, "phase_missing")
    summary = client.get(f"{address}/summary").json()
    assert summary["layers"] == ["routers", "services", "repos", "clients"]
    assert len(summary["contracts"]) == 9


def test_a_save_is_published_and_noted(client: httpx.Client, project: str) -> None:
    saved(client, project, "manifesto", template(Kind.MANIFESTO), "")
    saved(client, project, "manifesto", template(Kind.MANIFESTO))
    told = client.get("/api/events", params={"topic": f"project:{project}"}).json()["items"]
    mine = [each["event"] for each in told if each["event"]["type"] == "ContractSaved"]
    assert [(each["contract"], each["version"], each["origin"]) for each in mine] == [("manifesto", 1, "person")]
    deeds = client.get("/api/audit").json()["items"]
    mine = [each["action"] for each in deeds if each["subject"] == f"project:{project}"]
    assert mine.count("contract.edit") == 1


@pytest.mark.req("C-18")
def test_leaks_are_found_in_a_repository(client: httpx.Client, project: str, make_repo: MakeRepo) -> None:
    repo = client.post("/api/repositories", json={"path": str(make_repo({"app.py": "x = 1\n"}))}).json()["id"]
    address = f"/api/projects/{project}/contracts/leaks"
    assert code(client.get(address)) == (404, "nothing_delivered")
    assert code(client.get(address, params={"repository": "000000000000"})) == (404, "repository_missing")
    write_all(client, project)
    clean = client.get(address, params={"repository": repo, "branch": "main"}).json()
    assert (clean["ok"], clean["total"], clean["source"], clean["branch"]) == (True, 0, "project", "main")
    assert clean["files"] > 0
    text = "x = 1\n# A handler never opens\n# a database session itself.\n# see builder_directive.md\n"
    put = client.put(f"/api/repositories/{repo}/files/app.py", params={"branch": "main"}, content=text.encode())
    assert put.status_code in (200, 201), put.text
    found = client.get(address, params={"repository": repo, "branch": "main"}).json()
    assert not found["ok"]
    assert [(each["code"], each["path"], each["line"], each["contract"]) for each in found["leaks"]] == [
        ("contract_text", "app.py", 2, "boundaries"),
        ("contract_name", "app.py", 4, "builder_directive"),
    ]
    assert code(client.get(address, params={"repository": repo, "branch": "nowhere"})) == (404, "branch_missing")
    assert code(client.get(address, params={"repository": repo, "batch": 7})) == (404, "batch_missing")
