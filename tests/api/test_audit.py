"""Whoever changes something is in the audit with it: which user, by which key, what."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import keyring
import pytest
from keyring.backends import null

from forge.app.access.identity import LOCAL
from forge.app.projects.catalog import workspace_of
from forge.app.projects.change import change_project
from forge.app.repositories.catalog import repository
from forge.git.refs.reservations import reserve
from forge.pipeline.desk import TEST_RUNS
from tests.api.conftest import ON_BOTH
from tests.api.keyrings import Remembering
from tests.api.projects import DUMP, at_rest, made
from tests.support.api_server import House

pytestmark = [pytest.mark.req("X-06", "X-05"), ON_BOTH]


@pytest.fixture
def wallet() -> Iterator[None]:
    keyring.set_keyring(Remembering())
    yield
    keyring.set_keyring(null.Keyring())


def test_whatever_a_user_changes_is_in_the_audit_with_their_name_and_key(
    house: House, client: httpx.Client, wallet: None
) -> None:
    key = house.user("Ada", ("read", "write", "run", "admin"))
    house.user("Bo")
    (held,) = client.get("/api/keys", params={"user": "Ada"}).json()["keys"]
    with house.client(key) as ada:

        def done(method: str, path: str, **sent: Any) -> list[tuple[str, str]]:
            """What one request left behind: actions and what they were done to."""
            before = client.get("/api/audit", params={"limit": 1}).json()["items"][0]["id"]
            answer = ada.request(method, path, **sent)
            assert answer.status_code < 300, f"{method} {path}: {answer.text}"
            deeds = [deed for deed in client.get("/api/audit").json()["items"] if deed["id"] > before]
            assert {(deed["user"], deed["key"]) for deed in deeds} <= {(held["user"], held["id"])}
            return [(deed["action"], deed["subject"]) for deed in reversed(deeds)]

        ada.get("/api/board")
        project = made(ada, "Party")
        address, subject = f"/api/projects/{project['id']}", f"project:{project['id']}"
        begun = client.get("/api/audit", params={"user": held["user"]}).json()["items"][0]
        assert (begun["action"], begun["subject"], begun["detail"]) == ("project.create", subject, "Party")
        assert done("PATCH", address, json={"name": "Summer"}) == [("project.change", subject)]
        sent = {"file": ("list.txt", b"tents")}
        assert done("POST", f"{address}/resources", files=sent) == [("project.add_resource", subject)]
        assert done("DELETE", f"{address}/resources/list.txt") == [("project.remove_resource", subject)]
        assert done("PUT", f"{address}/shares/Bo", json={"right": "read"}) == [("project.share", subject)]
        assert done("DELETE", f"{address}/shares/Bo") == [("project.unshare", subject)]
        assert done("DELETE", f"{address}/shares/Bo") == [], "it was not shared any more"
        assert done("POST", f"{address}/messages", json={"text": DUMP}) == [("project.say", subject)]
        assert done("POST", f"{address}/actions/distill") == [("project.distill", subject)]
        name = at_rest(ada, project["id"])["directory"].rpartition("/")[2]
        runs = json.dumps({"total": 3, "passed": 3, "failed": 0}) + "\n"
        found = workspace_of(house.shop.settings).open(name)
        change_project(house.shop, found, lambda draft: draft.write(TEST_RUNS, runs), "tests: run")
        assert done("PUT", f"{address}/tests", json={"command": "tox"}) == [("project.set_test_command", subject)]
        assert done("POST", f"{address}/tests/accept") == [("project.accept_tests", subject)]
        assert client.get("/api/audit", params={"user": held["user"]}).json()["items"][0]["detail"] == "3"
        assert done("DELETE", address, params={"confirm": name}) == [("project.delete", subject)]

        assert done("PUT", "/api/settings/polish.max_iterations", json={"value": 7}) == [
            ("settings.change", "polish.max_iterations")
        ]
        assert done("PUT", "/api/prompts/chat", json={"text": "Be brief."}) == [("prompts.save", "chat")]
        assert done("POST", "/api/prompts/chat/reset") == [("prompts.reset", "chat")]
        secret = {"key": "planted-0123456789-abcdefgh"}
        assert done("PUT", "/api/provider-keys/openai", json=secret) == [("provider.set_key", "openai")]
        assert done("DELETE", "/api/provider-keys/openai") == [("provider.remove_key", "openai")]

        (added,) = done("POST", "/api/users", json={"name": "Cy"})
        assert added[0] == "user.add"
        (new,) = done("POST", "/api/keys", json={"user": "Cy"})
        assert new[0] == "key.new"
        assert done("POST", f"/api/keys/{new[1].removeprefix('key:')}/revoke") == [("key.revoke", new[1])]
        assert done("POST", "/api/users/Cy/disable") == [("user.disable", added[1])]


def test_whatever_a_user_does_on_a_branch_is_in_the_audit(house: House, client: httpx.Client) -> None:
    id_ = house.repository()
    house.user("Dee")
    address, on = f"/api/repositories/{id_}", {"branch": "ai/one"}

    def done(method: str, path: str, **sent: Any) -> list[str]:
        before = client.get("/api/audit", params={"limit": 1}).json()["items"][0]["id"]
        answer = client.request(method, f"{address}{path}", **sent)
        assert answer.status_code < 300, f"{method} {path}: {answer.text}"
        deeds = [deed for deed in client.get("/api/audit").json()["items"] if deed["id"] > before]
        assert {(deed["user"], deed["subject"]) for deed in deeds} == {("local", f"repository:{id_}")}
        return [deed["action"] for deed in deeds]

    assert done("POST", "/branches", json={"name": "ai/one", "start": "main"}) == ["branch.create"]
    sent = {"file": ("notes.md", b"# Notes")}
    assert done("POST", "/session/attachments", params=on, files=sent) == ["session.attach"]
    said = {"text": "hello", "model": "builtin"}
    assert "session.send" in done("POST", "/session/messages", params=on, json=said)
    deadline = time.monotonic() + 60
    while "turn" not in [deed["action"] for deed in client.get("/api/audit").json()["items"][:2]]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    forked = {"turn": "1", "name": "ai/two"}
    assert done("POST", "/session/fork", params=on, json=forked) == ["session.fork"]
    assert done("POST", "/session/rewind", params=on, json={"turn": "1"}) == ["session.rewind"]
    reserve(repository(house.shop, LOCAL, id_).common_dir, "ai/one", "run-of-a-dead-process", "builtin")
    assert done("POST", "/session/cancel", params=on) == ["session.cancel"]
    assert client.get("/api/audit").json()["items"][0]["detail"] == "ai/one: run-of-a-dead-process"
    merge = {"kind": "merge", "target": "main", "sources": ["ai/one"]}
    assert done("POST", "/merges", json=merge) == ["merge.merge"]
    assert done("POST", "/operations/undo") == ["operation.undo"]
    assert done("DELETE", "/branches/ai/two") == ["branch.delete"]
    assert done("PUT", "/shares/Dee", json={"right": "read"}) == ["repository.share"]
    assert done("DELETE", "") == ["repository.forget"]


def test_a_turn_is_in_the_audit_as_the_work_of_whoever_sent_the_message(house: House, client: httpx.Client) -> None:
    key = house.user("Eve")
    (held,) = client.get("/api/keys", params={"user": "Eve"}).json()["keys"]
    id_ = house.repository()
    client.put(f"/api/repositories/{id_}/shares/Eve", json={"right": "write"}).raise_for_status()
    said = {"text": "hello", "model": "builtin"}
    with house.client(key) as eve:
        sent = eve.post(f"/api/repositories/{id_}/session/messages", params={"branch": "ai/eve"}, json=said)
        assert sent.status_code == 202, sent.text
    subject, deadline = f"repository:{id_}", time.monotonic() + 60
    while True:
        rows = client.get("/api/audit", params={"user": held["user"]}).json()["items"]
        mine = {row["action"]: (row["user"], row["key"]) for row in rows if row["subject"] == subject}
        if "turn" in mine:
            break
        assert time.monotonic() < deadline, mine
        time.sleep(0.05)
    assert mine == dict.fromkeys(("branch.create", "session.send", "turn"), (held["user"], held["id"]))
