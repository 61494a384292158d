"""What goes along of a conversation, over HTTP: told by every preview, and left out where the person says so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Git
from tests.support.api_server import House

pytestmark = pytest.mark.req("G-06", "G-07", "X-02")
Json = dict[str, Any]
WORK = "ai/work"
KEPT = {"turns": 2, "summaries": 0, "files": 3}
SHORT = {"turns": 0, "summaries": 1, "files": 1}


@pytest.fixture(scope="module")
def address(house: House) -> str:
    """A repository with a branch on which somebody talked twice."""
    found = f"/api/repositories/{house.repository()}"
    with house.client() as client:
        for name in (WORK, "feature"):
            client.post(f"{found}/branches", json={"name": name, "start": "main"}).raise_for_status()
        for number, text in enumerate(("find garden", "create note.txt with hello"), 1):
            said = {"text": text, "model": "builtin"}
            client.post(f"{found}/session/messages", params={"branch": WORK}, json=said).raise_for_status()
            deadline = time.monotonic() + 60
            while (
                client.get(f"{found}/session", params={"branch": WORK}).json()["turns"] < number
                or client.get(f"{found}/branches/{WORK}").json()["busy"] is not None
            ):
                assert time.monotonic() < deadline
                time.sleep(0.05)
    return found


def orders() -> list[Json]:
    return [
        {"kind": "merge", "target": "main", "sources": [WORK]},
        {"kind": "cherry-pick", "target": "main", "sources": [f"{WORK}~1", WORK]},
        {"kind": "rebase", "target": "main", "sources": [WORK]},
    ]


def files(client: httpx.Client, address: str, branch: str) -> int:
    found = client.get(f"{address}/paths", params={"branch": branch}).text.splitlines()
    return sum(path.startswith('".forge/session') for path in found)


@pytest.mark.parametrize("order", orders(), ids=lambda order: order["kind"])
def test_every_preview_tells_it_and_the_result_is_what_was_shown(
    client: httpx.Client, address: str, order: Json
) -> None:
    usual = client.post(f"{address}/merges/preview", json=order).json()
    assert (usual["conversation_choice"], usual["conversation"]) == ("squash", SHORT)
    for terms, told in (("keep", KEPT), ("squash", SHORT), ("drop", None)):
        wish = {**order, "conversation": terms}
        shown = client.post(f"{address}/merges/preview", json=wish).json()
        assert (shown["conversation_choice"], shown["conversation"]) == (terms, told)
        assert [file["path"] for file in shown["files"]] == ["note.txt"]
        seen = {"seen_target": shown["target_tip"], "seen_source": shown["sources"][-1]}
        done = client.post(f"{address}/merges", json={**wish, **seen}).json()
        assert done["performed"]
        assert done["view"]["conversation"] == told
        assert files(client, address, "main") == (told or {"files": 0})["files"]
        client.post(f"{address}/operations/undo").raise_for_status()


def test_a_rebased_branch_tells_what_it_loses(client: httpx.Client, address: str) -> None:
    order = {"kind": "rebase", "target": WORK, "sources": ["main"], "conversation": "drop"}
    shown = client.post(f"{address}/merges/preview", json=order).json()
    assert (shown["conversation"], shown["conversation_removed"]) == (None, KEPT)


def test_a_copy_is_made_with_what_was_said_or_without(client: httpx.Client, address: str) -> None:
    order = {"source": WORK, "name": "copy"}
    assert client.post(f"{address}/exports/preview", json=order).json()["conversation_choice"] == "squash"
    for terms, told in (("keep", KEPT), ("squash", SHORT), ("drop", None)):
        wish = {**order, "conversation": terms}
        shown = client.post(f"{address}/exports/preview", json=wish).json()
        stale = client.post(f"{address}/exports", json={**wish, "seen_source": "0" * 40})
        assert (stale.status_code, stale.json()["code"]) == (409, "branch_moved")
        made = client.post(f"{address}/exports", json={**wish, "seen_source": shown["source_tip"]}).json()
        assert made == shown
        assert made["conversation"] == told
        branch = client.get(f"{address}/branches/copy").json()
        assert branch["commit"] == made["commit"]
        assert files(client, address, "copy") == (told or {"files": 0})["files"]
        assert client.get("/api/audit").json()["items"][0]["action"] == "branch.export"
        client.delete(f"{address}/branches/copy").raise_for_status()


@pytest.mark.req("G-08")
def test_a_branch_is_pushed_with_what_was_said_or_without(
    client: httpx.Client, address: str, git: Git, tmp_path: Path
) -> None:
    assert client.get(f"{address}/remotes").json() == []
    missing = client.post(f"{address}/pushes", json={"source": WORK})
    assert (missing.status_code, missing.json()["code"]) == (404, "remote_missing")
    git(tmp_path, "init", "-q", "--bare", "over.git")
    place = Path(client.get(address).json()["path"])
    git(place, "remote", "add", "origin", str(tmp_path / "over.git"))
    assert [each["name"] for each in client.get(f"{address}/remotes").json()] == ["origin"]
    for terms, told in (("keep", KEPT), ("squash", SHORT), ("drop", None)):
        wish = {"source": WORK, "to": f"shared-{terms}", "conversation": terms}
        shown = client.post(f"{address}/pushes/preview", json=wish).json()
        assert (shown["state"], shown["conversation"]) == ("preview", told)
        stale = client.post(f"{address}/pushes", json={**wish, "seen_source": "0" * 40})
        assert (stale.status_code, stale.json()["code"]) == (409, "branch_moved")
        sent = client.post(f"{address}/pushes", json={**wish, "seen_source": shown["source_tip"]}).json()
        assert sent == {**shown, "state": "created"}
        assert git(tmp_path / "over.git", "rev-parse", f"shared-{terms}") == sent["commit"]
        assert client.get("/api/audit").json()["items"][0]["action"] == "branch.push"
    wish = {"source": "main", "to": "shared-keep"}
    refused = client.post(f"{address}/pushes", json=wish)
    assert (refused.status_code, refused.json()["code"]) == (409, "push_rejected")
    assert client.post(f"{address}/pushes", json={**wish, "replace": True}).json()["state"] == "replaced"


def test_a_comparison_tells_it_both_ways(client: httpx.Client, address: str) -> None:
    there = client.get(f"{address}/diffs", params={"old": "main", "new": WORK}).json()
    back = client.get(f"{address}/diffs", params={"old": WORK, "new": "main"}).json()
    assert (there["conversation"], there["conversation_removed"]) == (KEPT, None)
    assert (back["conversation"], back["conversation_removed"]) == (None, KEPT)
    assert [file["path"] for file in there["files"]] == ["note.txt"]
