"""What a screen shows beside the plain nouns: context and its size, whole turns, versions, keys, connectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import keyring
import pytest
from keyring.backends import null

from forge.api.shapes.sessions import TurnShape
from tests.api.keyrings import Remembering
from tests.api.projects import DUMP, at_rest, code, made
from tests.support.api_server import House
from tests.support.api_turns import turn, writes

pytestmark = pytest.mark.req("X-02")


def test_context_has_a_state_and_a_size_for_each_file_and_in_all(house: House, client: httpx.Client) -> None:
    files = {"AGENTS.md": "Be brief.\n", "long.txt": "line\n" * 1000, "part.txt": "line\n" * 1000, "out.txt": "x\n"}
    address = f"/api/repositories/{house.repository(files)}"
    client.post(f"{address}/branches", json={"name": "ai/one", "start": "main"})
    asked = {"branch": "ai/one"}
    before = client.get(f"{address}/session/context", params=asked).json()
    assert [(each["path"], each["state"], each["why"]) for each in before["files"]] == [
        ("AGENTS.md", "fully", "instructions")
    ]
    change = {"add": [{"path": "long.txt"}, {"path": "part.txt", "ranges": [[1, 10]]}]}
    after = client.patch(f"{address}/session/context", params=asked, json=change).json()
    assert {each["path"]: each["state"] for each in after["files"]} == {
        "AGENTS.md": "fully",
        "long.txt": "fully",
        "part.txt": "partly",
    }
    sizes = {each["path"]: each["tokens"] for each in after["files"]}
    assert sizes["long.txt"] >= 1000 > sizes["part.txt"] > 5
    assert after["total_tokens"] - before["total_tokens"] >= sizes["long.txt"]
    assert 0 < after["total_tokens"] < after["window"]
    assert client.get(f"{address}/session/context", params=asked).json() == after
    less = client.patch(f"{address}/session/context", params=asked, json={"remove": ["long.txt"]}).json()
    assert less["total_tokens"] < after["total_tokens"]
    assert code(client.get(f"{address}/session/context", params={"branch": "none"})) == (404, "branch_missing")


@pytest.mark.req("G-07", "G-13")
def test_instructions_are_active_files_of_the_session_and_stay_switched_off(
    house: House, client: httpx.Client, tmp_path: Path
) -> None:
    address = f"/api/repositories/{house.repository({'AGENTS.md': 'Be brief.', 'CLAUDE.md': 'Be kind.'})}"
    client.post(f"{address}/branches", json={"name": "ai/one", "start": "main"})
    asked = {"branch": "ai/one"}

    def active() -> list[str]:
        return [each["path"] for each in client.get(f"{address}/session", params=asked).json()["active_files"]]

    assert active() == ["AGENTS.md", "CLAUDE.md"]
    off = client.patch(f"{address}/session/context", params=asked, json={"remove": ["CLAUDE.md"]})
    assert [each["path"] for each in off.json()["files"]] == ["AGENTS.md"]
    assert active() == ["AGENTS.md"]
    said = turn(client, address, "ai/one", tmp_path / "one.jsonl", {"text": "Done."})
    assert said["status"] == "done"
    assert active() == ["AGENTS.md"], "the turn switched it on again"
    (listed,) = client.get(f"{address}/sessions").json()["sessions"]
    assert [each["path"] for each in listed["active_files"]] == ["AGENTS.md"]
    client.patch(f"{address}/session/context", params=asked, json={"add": [{"path": "CLAUDE.md"}]})
    assert active() == ["AGENTS.md", "CLAUDE.md"]


def test_turns_come_with_all_that_was_said_and_done(house: House, client: httpx.Client, tmp_path: Path) -> None:
    id_ = house.repository()
    address, asked = f"/api/repositories/{id_}", {"branch": "ai/two"}
    first = turn(client, address, "ai/two", tmp_path / "one.jsonl", writes("a.txt", "a\n"), {"text": "Done."})
    assert (first["status"], first["messages"]) == ("done", None)
    listed = client.get(f"{address}/session/turns", params={**asked, "messages": True}).json()["items"]
    one = client.get(f"{address}/session/turns/1", params=asked).json()
    assert listed == [one]
    said = [each for each in one["messages"] if each["role"] in ("user", "assistant", "tool")]
    assert [each["role"] for each in said] == ["user", "assistant", "tool", "assistant"]
    assert said[1]["calls"][0]["name"] == "write_file"
    assert said[1]["thinking"] == ""
    assert not any("opaque" in each for each in one["messages"])
    changed = client.get(f"{address}/diffs", params={"new": one["commit"]}).json()["files"]
    assert "a.txt" in {each["path"] for each in changed}
    since = client.get(f"{address}/diffs", params={"old": "main", "new": "ai/two", "since_fork": True}).json()
    assert "a.txt" in {each["path"] for each in since["files"]}
    (branch,) = client.get(f"{address}/branches", params={"prefix": "ai/", "details": True}).json()["items"]
    assert branch["details"] == {"turns": 1, "cost": 0.0, "ahead": 1, "behind": 0}
    assert client.get(f"{address}/branches/ai/two").json() == branch
    assert client.get(f"{address}/branches", params={"prefix": "ai/"}).json()["items"][0]["details"] is None


def test_what_a_model_thought_is_shown_as_text() -> None:
    opaque = [{"response": {}, "digest": "x"}, {"part": {"part_kind": "thinking", "content": "Hm.", "signature": "s"}}]
    usage = {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0, "cache_write_tokens": 0, "requests": 1}
    shaped = TurnShape.model_validate(
        {
            **dict.fromkeys(("id", "model", "status", "reason", "asked", "answered"), "x"),
            "number": 1,
            "commit": None,
            "started": 1.0,
            "files": [],
            "usage": {**usage, "cost": None},
            "messages": [{"role": "assistant", "text": "So.", "opaque": opaque}, {"role": "user", "text": "Go."}],
        }
    )
    assert shaped.messages == [
        {"role": "assistant", "text": "So.", "thinking": "Hm."},
        {"role": "user", "text": "Go."},
    ]


def test_a_file_is_handed_to_the_agent_of_a_branch(house: House, client: httpx.Client) -> None:
    address, asked = f"/api/repositories/{house.repository()}", {"branch": "ai/three"}
    client.post(f"{address}/branches", json={"name": "ai/three", "start": "main"})

    def sent(name: str, data: bytes) -> httpx.Response:
        return client.post(f"{address}/session/attachments", params=asked, files={"file": (name, data)})

    first = sent("../../notes.md", b"# Notes\n")
    assert first.status_code == 201, first.text
    assert (first.json()["path"], first.json()["in_context"]) == ("attachments/notes.md", True)
    assert sent("notes.md", b"# Notes\n").json()["commit"] == first.json()["commit"], "it is there already"
    assert sent("notes.md", b"# Others\n").json()["path"] == "attachments/notes-2.md"
    picture = sent("plan.png", b"\x89PNG\0\0")
    assert (picture.json()["path"], picture.json()["in_context"]) == ("attachments/plan.png", False)
    context = client.get(f"{address}/session/context", params=asked).json()["files"]
    assert [each["path"] for each in context] == ["attachments/notes.md", "attachments/notes-2.md"]
    assert code(sent("..", b"x")) == (422, "attachment_refused")
    assert code(sent("large.bin", b"x" * 10_000_001)) == (413, "file_too_large")
    assert code(sent(" ", b"x")) == (422, "attachment_refused")


def test_conflicts_come_with_the_text_of_each_side(house: House, client: httpx.Client) -> None:
    files = {"a.txt": "base\n", "b.bin": "one\0"}
    address = f"/api/repositories/{house.repository(files)}"
    client.post(f"{address}/branches", json={"name": "side", "start": "main"})
    for branch in ("main", "side"):
        for path, end in (("a.txt", "\n"), ("b.bin", "\0")):
            client.put(f"{address}/files/{path}", params={"branch": branch}, content=f"{branch}{end}".encode())
    order = {"kind": "merge", "target": "main", "sources": ["side"]}
    seen = client.post(f"{address}/merges/preview", json=order).json()
    conflicts = {each["path"]: each for each in seen["conflicts"]}
    sides = [conflicts["a.txt"][side]["text"] for side in ("base", "ours", "theirs")]
    assert sides == ["base\n", "main\n", "side\n"]
    assert conflicts["b.bin"]["ours"]["text"] is None
    states = client.get(f"{address}/merges/indicators", params={"target": "main"}).json()["items"]
    assert [(each["branch"], each["state"]) for each in states] == [("side", "conflicts")]


def test_documents_have_versions_and_say_what_changed(house: House, client: httpx.Client) -> None:
    project = made(client, "Versions")
    address = f"/api/projects/{project['id']}"
    assert client.get(f"{address}/documents").json() == {"files": []}
    client.post(f"{address}/messages", json={"text": DUMP})
    client.post(f"{address}/actions/distill")
    at_rest(client, project["id"])
    assert "intent.md" in {each["name"] for each in client.get(f"{address}/documents").json()["files"]}
    document = Path(project["directory"]) / "docs" / "intent.md"
    document.write_text(document.read_text() + "\nBring lanterns.\n")
    versions = client.get(f"{address}/documents/intent.md/versions").json()["items"]
    assert len(versions) >= 2
    newest = client.get(f"{address}/documents/intent.md/diff").json()
    assert (newest["new"], newest["old"]) == (versions[0]["commit"], versions[1]["commit"])
    assert "+Bring lanterns." in newest["diff"].splitlines()
    first = client.get(f"{address}/documents/intent.md/diff", params={"new": versions[-1]["commit"]}).json()
    assert first["old"] is None
    assert "Bring lanterns." not in first["diff"]
    ends = {"old": versions[0]["commit"], "new": versions[-1]["commit"]}
    assert "-Bring lanterns." in client.get(f"{address}/documents/intent.md/diff", params=ends).json()["diff"]
    for name in ("none.md", "..%2Fstate.json"):
        assert client.get(f"{address}/documents/{name}/versions").status_code == 404
    missing = client.get(f"{address}/documents/intent.md/diff", params={"new": "0" * 40})
    assert code(missing) == (404, "revision_missing")
    with house.client(house.user("stranger")) as stranger:
        assert code(stranger.get(f"{address}/documents/intent.md/diff")) == (404, "project_missing")


def test_models_of_a_provider_have_prices_and_connectors_a_state(client: httpx.Client) -> None:
    models = client.get("/api/models/anthropic").json()["models"]
    assert all(each["name"].startswith("anthropic:") for each in models)
    assert any(each["input_price"] for each in models)
    assert code(client.get("/api/models/nobody")) == (404, "provider_unknown")
    connectors = client.get("/api/connectors").json()["connectors"]
    assert {each["name"]: each["enabled"] for each in connectors} == {"google_drive": False, "notion": False}


def test_deliverable_types_tell_their_forms_and_where_the_result_is(client: httpx.Client) -> None:
    plan, coded = client.get("/api/deliverable-types").json()["deliverable_types"]
    assert (plan["name"], plan["needs_code"]) == ("plan", False)
    assert plan["result_view"] == {"kind": "document", "path": "docs/plan.md"}
    assert len(plan["structures"]) == 4
    assert all(len(each["sections"]) > 3 for each in plan["structures"])
    assert (coded["name"], coded["structures"]) == ("code", [])
    assert coded["result_view"] == {"kind": "branch", "path": ""}


@pytest.fixture
def remembering() -> Iterator[Remembering]:
    made = Remembering()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(null.Keyring())


@pytest.mark.req("X-06")
def test_keys_of_providers_go_into_the_keyring_and_are_never_shown(
    house: House, client: httpx.Client, remembering: Remembering
) -> None:
    secret = "planted-0123456789-abcdefgh"
    kept = client.put("/api/provider-keys/openai", json={"key": f" {secret}\n"})
    assert kept.status_code == 200, kept.text
    assert (kept.json()["is_set"], kept.json()["in_keyring"]) == (True, True)
    assert remembering.held == {("forge", "openai"): secret}
    assert secret not in house.shop.redactor.text(f"It was {secret}.")
    shown = {each["provider"]: each for each in client.get("/api/provider-keys").json()["keys"]}
    assert shown["openai"]["origin"].startswith("keyring")
    assert not shown["google"]["is_set"]
    everything = "".join(client.get(f"/api/{name}").text for name in ("provider-keys", "audit", "settings", "models"))
    assert secret not in everything + kept.text
    assert not client.delete("/api/provider-keys/openai").json()["in_keyring"]
    assert client.delete("/api/provider-keys/openai").status_code == 200
    assert remembering.held == {}
    assert code(client.put("/api/provider-keys/nobody", json={"key": secret})) == (404, "provider_unknown")
    refused = client.put("/api/provider-keys/openai", json={"key": f"{secret} {secret}"})
    assert code(refused) == (422, "provider_key_invalid")
    assert secret not in refused.text
    with house.client(house.user("plain")) as plain:
        assert code(plain.get("/api/provider-keys")) == (403, "scope_missing")


def test_a_machine_without_a_keyring_says_where_else_a_key_can_be(client: httpx.Client) -> None:
    refused = client.put("/api/provider-keys/anthropic", json={"key": "nobodys-0123456789"})
    assert code(refused) == (409, "keyring_unusable")
    assert "ANTHROPIC_API_KEY" in refused.json()["hint"]


def test_all_paths_come_as_lines_and_not_again_while_nothing_changed(house: House, client: httpx.Client) -> None:
    files = {f"folder {number % 7}/ünder {number}.txt": "x\n" for number in range(60)}
    address = f"/api/repositories/{house.repository(files)}"
    told = client.get(f"{address}/paths", params={"branch": "main"})
    assert told.headers["content-type"].startswith("application/x-ndjson")
    assert sorted(json.loads(line) for line in told.text.splitlines()) == sorted(files)
    known = {"If-None-Match": told.headers["etag"]}
    assert client.get(f"{address}/paths", params={"branch": "main"}, headers=known).status_code == 304
    client.put(f"{address}/files/new.txt", params={"branch": "main"}, content=b"x")
    again = client.get(f"{address}/paths", params={"branch": "main"}, headers=known)
    assert '"new.txt"' in again.text.splitlines()
    assert code(client.get(f"{address}/paths", params={"branch": "none"})) == (404, "branch_missing")
