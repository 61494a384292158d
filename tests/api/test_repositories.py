"""Repositories over HTTP: branches, files with conditions and ranges, history, merges, undo, conversations, tools."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.projects import code
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-02")


@pytest.fixture
def address(house: House) -> str:
    return f"/api/repositories/{house.repository()}"


def saved(client: httpx.Client, address: str, path: str, text: str, branch: str = "ai/one", **headers: str) -> Any:
    answer = client.put(f"{address}/files/{path}", params={"branch": branch}, content=text.encode(), headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_repository_is_added_shown_and_forgotten(client: httpx.Client, house: House, tmp_path: Path) -> None:
    id_ = house.repository()
    assert id_ in [each["id"] for each in client.get("/api/repositories").json()["repositories"]]
    shown = client.get(f"/api/repositories/{id_}").json()
    assert shown["default_branch"] == "main"
    assert client.post("/api/repositories", json={"path": shown["path"]}).json()["id"] == id_
    assert code(client.post("/api/repositories", json={"path": str(tmp_path)})) == (404, "repository_missing")
    assert client.delete(f"/api/repositories/{id_}").status_code == 204
    assert code(client.get(f"/api/repositories/{id_}")) == (404, "repository_missing")


def test_branches_are_made_renamed_rewound_and_deleted(client: httpx.Client, address: str) -> None:
    made = client.post(f"{address}/branches", json={"name": "ai/one", "start": "main"})
    assert made.status_code == 201
    first = made.json()["commit"]
    assert code(client.post(f"{address}/branches", json={"name": "ai/one"})) == (409, "branch_exists")
    saved(client, address, "new.md", "x\n")
    back = client.patch(f"{address}/branches/ai/one", json={"rewind_to": first})
    assert back.json()["commit"] == first
    assert client.patch(f"{address}/branches/ai/one", json={"name": "ai/two"}).json()["name"] == "ai/two"
    assert code(client.patch(f"{address}/branches/ai/two", json={})) == (422, "invalid_input")
    names = [each["name"] for each in client.get(f"{address}/branches").json()["items"]]
    assert names == ["ai/two", "main"]
    assert client.get(f"{address}/branches/ai/two").json()["ai"] is True
    assert client.delete(f"{address}/branches/ai/two").json()["commit"] is None
    assert code(client.get(f"{address}/branches/ai/two")) == (404, "branch_missing")
    assert client.get(f"{address}/kept-branches").json()["kept"]
    assert client.post(f"{address}/operations/undo").status_code == 200
    assert client.get(f"{address}/branches/ai/two").status_code == 200


def test_a_file_is_saved_only_over_what_was_seen(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    read = client.get(f"{address}/files/README.md", params={"branch": "ai/one"})
    assert read.content == b"# Garden\n"
    seen = read.headers["etag"]
    again = client.get(f"{address}/files/README.md", params={"branch": "ai/one"}, headers={"If-None-Match": seen})
    assert (again.status_code, again.content) == (304, b"")
    now = saved(client, address, "README.md", "# Beds\n", **{"If-Match": seen})["etag"]
    place = {"url": f"{address}/files/README.md", "params": {"branch": "ai/one"}, "content": b"lost?"}
    stale = client.put(**place, headers={"If-Match": seen})
    assert code(stale) == (412, "file_changed")
    assert stale.headers["etag"] == f'"{now}"'
    assert code(client.put(**place, headers={"If-None-Match": "*"})) == (412, "file_changed")
    assert code(client.put(**place, headers={"If-None-Match": '"abcd"'})) == (422, "condition_invalid")
    assert code(client.put(**place, headers={"If-Match": "nonsense"})) == (422, "condition_invalid")
    stale = client.delete(f"{address}/files/README.md", params={"branch": "ai/one"}, headers={"If-Match": seen})
    assert code(stale) == (412, "file_changed")
    gone = client.delete(f"{address}/files/README.md", params={"branch": "ai/one"}, headers={"If-Match": f'"{now}"'})
    assert gone.json()["etag"] is None


def test_conditions_hold_as_http_says(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    here, new = ({"url": f"{address}/files/{name}", "params": {"branch": "ai/one"}} for name in ("README.md", "new.md"))
    assert client.get(**here, headers={"If-None-Match": "*"}).status_code == 304
    assert code(client.get(**new, headers={"If-None-Match": "*"})) == (404, "file_missing")
    for change in (lambda **more: client.put(**more, content=b"x"), client.delete):
        assert code(change(**new, headers={"If-Match": "*"})) == (412, "file_changed")
    assert code(client.get(**new)) == (404, "file_missing")

    seen = client.get(**here).headers["etag"]
    assert code(client.put(**here, content=b"lost?", headers={"If-Match": f"W/{seen}"})) == (412, "file_changed")
    first = client.put(**here, content=b"# Beds\n", headers={"If-Match": f'"0123abcd", {seen}'})
    assert first.status_code == 200, first.text
    assert first.headers["etag"] == client.get(**here).headers["etag"] == f'"{first.json()["etag"]}"'
    assert client.put(**here, content=b"# All\n", headers={"If-Match": "*"}).status_code == 200
    for both in ({"If-Match": "*", "If-None-Match": "*"}, {"If-Match": seen, "If-None-Match": "*"}):
        assert code(client.put(**new, content=b"x", headers=both)) == (422, "condition_invalid")
    assert code(client.put(**here, content=b"x", headers={"If-Match": f"{seen}, nonsense"})) == (
        422,
        "condition_invalid",
    )


def test_a_link_is_not_replaced_by_a_file(client: httpx.Client, house: House) -> None:
    id_ = house.repository()
    path = house.place / f"repository-{house.made}"
    (path / "link").symlink_to("README.md")
    for words in (("add", "link"), ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "link")):
        subprocess.run(["git", *words], cwd=path, check=True)
    for more in ({}, {"executable": True}, {"executable": False}):
        address = f"/api/repositories/{id_}/files/link"
        refused = client.put(address, params={"branch": "main", **more}, content=b"x")
        assert code(refused) == (422, "invalid_path")
        assert "symbolic link" in refused.json()["detail"]


def test_a_path_that_is_not_utf8_is_not_saved_under_another_name(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    assert code(client.put(f"{address}/files/%ff?branch=ai/one", content=b"x")) == (422, "invalid_input")
    assert client.put(f"{address}/files/%C3%BC.md?branch=ai/one", content=b"x").status_code == 200


def test_parts_of_a_file_are_given(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository({'ten.bin': '0123456789'})}/files/ten.bin"
    for wanted, status, content in (
        ("bytes=2-4", 206, b"234"),
        ("bytes=7-", 206, b"789"),
        ("bytes=-3", 206, b"789"),
        ("bytes=8-99", 206, b"89"),
        ("bytes=1-2,4-5", 200, b"0123456789"),
        ("lines=1-2", 200, b"0123456789"),
    ):
        part = client.get(address, headers={"Range": wanted})
        assert (part.status_code, part.content) == (status, content), wanted
    assert client.get(address, headers={"Range": "bytes=2-4"}).headers["content-range"] == "bytes 2-4/10"
    assert code(client.get(address, headers={"Range": "bytes=10-"})) == (416, "range_missing")
    old = client.get(address, headers={"Range": "bytes=2-4", "If-Range": '"0000"'})
    assert (old.status_code, old.content) == (200, b"0123456789")


def test_a_page_in_a_repository_is_saved_never_shown(client: httpx.Client, house: House) -> None:
    id_ = house.repository({"evil.html": "<script>alert(1)</script>", 'q"\r\nü.svg': "<svg onload='alert(1)'/>"})
    for name in ("evil.html", "q%22%0D%0A%C3%BC.svg"):
        page = client.get(f"/api/repositories/{id_}/files/{name}")
        assert page.status_code == 200, page.text
        assert page.headers["content-type"] == "application/octet-stream"
        assert page.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert page.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in page.headers["content-security-policy"]


def test_files_are_listed_searched_and_renamed(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    paths = [each["path"] for each in client.get(f"{address}/files").json()["items"]]
    assert paths == ["README.md", "beds/north.md"]
    page = client.get(f"{address}/files", params={"limit": 1}).json()
    rest = client.get(f"{address}/files", params={"limit": 1, "after": page["next"]}).json()
    assert [each["path"] for each in (*page["items"], *rest["items"])] == paths
    assert rest["next"] is None
    lines = client.get(f"{address}/files", params={"limit": 1}, headers={"Accept": "application/x-ndjson"})
    assert len(lines.text.splitlines()) == 2
    kinds = {each["name"]: each["kind"] for each in client.get(f"{address}/folders").json()["items"]}
    assert kinds == {"README.md": "file", "beds": "directory"}
    found = client.post(f"{address}/searches", json={"pattern": "tulip"}).json()
    assert [each["path"] for each in found["files"]] == ["beds/north.md"]
    moved = client.post(f"{address}/renames", json={"path": "README.md", "to": "READ.md", "branch": "ai/one"})
    assert moved.status_code == 200
    assert code(client.get(f"{address}/files/README.md", params={"branch": "ai/one"})) == (404, "file_missing")
    both = client.get(f"{address}/files/READ.md", params={"branch": "ai/one", "at": "main"})
    assert code(both) == (422, "invalid_input")


def test_folders_are_renamed_and_deleted_in_one_commit_each(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    saved(client, address, "beds/deep/south.md", "lilies\n")
    body = {"path": "beds", "to": "garden/beds", "branch": "ai/one"}
    moved = client.post(f"{address}/folder-renames", json=body)
    assert moved.status_code == 200, moved.text
    assert moved.json()["etag"] is None
    found = client.get(f"{address}/files", params={"branch": "ai/one"}).json()["items"]
    assert {each["path"] for each in found} == {"README.md", "garden/beds/north.md", "garden/beds/deep/south.md"}
    assert code(client.post(f"{address}/folder-renames", json=body)) == (404, "file_missing")
    taken = {"path": "garden", "to": "README.md", "branch": "ai/one"}
    assert code(client.post(f"{address}/folder-renames", json=taken)) == (409, "path_clash")
    within = {"path": "garden", "to": "garden/in", "branch": "ai/one"}
    assert code(client.post(f"{address}/folder-renames", json=within)) == (422, "invalid_path")
    where = {"branch": "ai/one", "path": "garden/"}
    gone = client.delete(f"{address}/folders", params=where)
    assert gone.json()["changed"] is True
    log = client.get(f"{address}/commits", params={"rev": "ai/one"}).json()["items"]
    assert [each["subject"] for each in log[:2]] == ["delete: garden/", "rename: beds/ to garden/beds/"]
    assert code(client.delete(f"{address}/folders", params=where)) == (404, "file_missing")
    assert code(client.delete(f"{address}/folders", params={**where, "path": ""})) == (422, "request_invalid")


def test_history_is_shown(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    commit = saved(client, address, "beds/north.md", "tulips\nroses\n", message="plant")["commit"]
    log = client.get(f"{address}/commits", params={"rev": "ai/one"}).json()["items"]
    assert log[0]["id"] == commit
    first = client.get(f"{address}/commits", params={"rev": "ai/one", "limit": 1}).json()
    second = client.get(f"{address}/commits", params={"limit": 1, "after": first["next"]}).json()
    assert [each["id"] for each in (*first["items"], *second["items"])] == [each["id"] for each in log]
    assert client.get(f"{address}/commits/{commit}").json()["files"][0]["path"] == "beds/north.md"
    diff = client.get(f"{address}/diffs", params={"old": "main", "new": "ai/one"}).json()
    assert [(each["kind"], each["additions"]) for each in diff["files"]] == [("modified", 1)]
    patch = client.get(f"{address}/patches", params={"path": "beds/north.md", "new": "ai/one"}).json()
    assert [line["text"] for line in patch["hunks"][0]["lines"] if line["sign"] == "+"] == ["roses\n"]
    blame = client.get(f"{address}/blame", params={"path": "beds/north.md", "rev": "ai/one"}).json()
    assert blame["lines"][1]["commit"] == commit
    assert commit in [each["id"] for each in client.get(f"{address}/graph").json()["items"]]
    assert code(client.get(f"{address}/commits/nowhere")) == (404, "revision_missing")
    assert code(client.get(f"{address}/diffs")) == (422, "request_invalid")


def test_a_merge_is_previewed_resolved_and_performed_as_seen(client: httpx.Client, address: str) -> None:
    for branch, text in (("ai/one", "roses\n"), ("ai/two", "lilies\n")):
        client.post(f"{address}/branches", json={"name": branch})
        saved(client, address, "beds/north.md", text, branch)
    order = {"kind": "merge", "target": "ai/one", "sources": ["ai/two"]}
    preview = client.post(f"{address}/merges/preview", json=order).json()
    assert preview["outcome"] == "conflicts"
    assert client.post(f"{address}/merges", json=order).json()["performed"] is False
    solved = {**order, "resolutions": [{"path": "beds/north.md", "text": "roses\nlilies\n"}]}
    chained = {"path": "x", "text": "", "commit": "beds/north.md"}
    mixed = {**solved, "resolutions": [*solved["resolutions"], chained]}
    assert code(client.post(f"{address}/merges", json=mixed)) == (422, "request_invalid")
    seen = {"seen_target": preview["target_tip"], "seen_source": preview["sources"][-1]}
    stale = client.post(f"{address}/merges", json={**solved, **seen, "seen_target": "0" * 40})
    assert code(stale) == (409, "branch_moved")
    for only in ("seen_target", "seen_source"):
        assert code(client.post(f"{address}/merges", json={**solved, only: "0" * 40})) == (409, "branch_moved")
    for kind in ("rebase", "cherry-pick"):
        other = {**order, "kind": kind, "seen_target": "0" * 40}
        assert code(client.post(f"{address}/merges", json=other)) == (409, "branch_moved")
    done = client.post(f"{address}/merges", json={**solved, **seen})
    assert done.json()["performed"] is True, done.text
    merged = client.get(f"{address}/files/beds/north.md", params={"branch": "ai/one"})
    assert merged.content == b"roses\nlilies\n"
    states = client.get(f"{address}/merges/indicators", params={"target": "ai/one"}).json()["items"]
    assert {each["branch"]: each["state"] for each in states} == {"ai/two": "up to date", "main": "up to date"}
    newest = client.get(f"{address}/operations").json()["items"][0]
    undone = client.post(f"{address}/operations/{newest['id']}/undo")
    assert undone.json()["undoes"] == newest["id"]
    assert code(client.post(f"{address}/operations/none/undo")) == (404, "operation_missing")


def test_a_message_becomes_a_turn_that_can_be_forked_and_rewound(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    where = {"branch": "ai/one"}
    sent = client.post(f"{address}/session/messages", params=where, json={"text": "hello", "model": "builtin"})
    assert sent.status_code == 202, sent.text
    assert sent.json()["topic"] == f"branch:{address.rpartition('/')[2]}:ai/one"
    deadline = time.monotonic() + 60
    while client.get(f"{address}/session", params=where).json()["turns"] < 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    turns = client.get(f"{address}/session/turns", params=where).json()["items"]
    assert [each["asked"] for each in turns] == ["hello"]
    whole = client.get(f"{address}/session/turns/1", params=where).json()
    assert whole["messages"]
    events = client.get("/api/events", params={"topic": sent.json()["topic"]}).json()["items"]
    assert [each["id"] for each in events] == list(range(1, len(events) + 1))
    assert "TurnStarted" in [each["event"]["type"] for each in events]
    forked = client.post(f"{address}/session/fork", params=where, json={"turn": "1", "name": "ai/other"})
    assert forked.status_code == 201, forked.text
    assert client.get(f"{address}/session", params={"branch": "ai/other"}).json()["turns"] == 1
    assert client.post(f"{address}/session/rewind", params=where, json={"turn": "1"}).status_code == 200
    assert code(client.post(f"{address}/session/rewind", params=where, json={"turn": "9"})) == (404, "turn_missing")
    assert code(client.get(f"{address}/session/turns/9", params=where)) == (404, "turn_missing")
    assert client.post(f"{address}/session/cancel", params=where).json() == {"cancelled": None}
    branches = [each["branch"] for each in client.get(f"{address}/sessions").json()["sessions"]]
    assert branches == ["ai/one", "ai/other"]
    assert code(client.get(f"{address}/session", params={"branch": "none"})) == (404, "branch_missing")


def test_files_are_taken_into_the_context_and_out(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    place = {"url": f"{address}/session/context", "params": {"branch": "ai/one"}}
    taken = client.patch(**place, json={"add": [{"path": "README.md", "ranges": [[1, 1]]}]})
    assert [(each["path"], each["ranges"]) for each in taken.json()["files"]] == [("README.md", [[1, 1]])]
    assert client.get(**place).json() == taken.json()
    assert code(client.patch(**place, json={"add": [{"path": "none.md"}]})) == (404, "file_missing")
    assert client.patch(**place, json={"remove": ["README.md"]}).json()["files"] == []


def test_tools_are_approved_and_revoked(client: httpx.Client, address: str) -> None:
    client.post(f"{address}/branches", json={"name": "ai/one"})
    where = {"branch": "ai/one"}
    listed = client.get(f"{address}/tools", params=where).json()
    assert "write_file" in [each["name"] for each in listed["built_in"]]
    assert code(client.post(f"{address}/tools/none/approve", params=where)) == (404, "user_tool_missing")
    assert code(client.post(f"{address}/tools/none/revoke", params=where)) == (404, "user_tool_missing")


@pytest.mark.req("X-06")
def test_a_repository_of_somebody_else_is_missing(house: House, address: str) -> None:
    with house.client(house.user("stranger")) as stranger:
        for rest in ("", "/branches", "/files", "/files/README.md", "/commits", "/graph", "/operations", "/sessions"):
            assert code(stranger.get(f"{address}{rest}")) == (404, "repository_missing"), rest
        written = stranger.put(f"{address}/files/x", params={"branch": "main"}, content=b"x")
        assert code(written) == (404, "repository_missing")
        topic = f"branch:{address.rpartition('/')[2]}:main"
        assert code(stranger.get("/api/events", params={"topic": topic})) == (404, "repository_missing")


@pytest.mark.req("G-12", "X-06")
@pytest.mark.parametrize(
    "path",
    [
        ".forge/approved_tools.json",
        ".forge/session.json",
        ".forge/session/0000/000001-abcdef12.json",
        ".forge/seal/1.json",
        ".FORGE/Session.json",
        ".forge/%EF%BC%B3ession.json",
    ],
)
def test_no_key_writes_a_record_of_forges(client: httpx.Client, address: str, path: str) -> None:
    where = {"branch": "main"}
    tip = client.get(f"{address}/branches/main").json()["commit"]
    put = client.put(f"{address}/files/{path}", params=where, content=b"{}")
    assert code(put) == (403, "record_protected")
    to = path.replace("%EF%BC%B3", "\uff33")
    renamed = client.post(f"{address}/renames", json={"branch": "main", "path": "README.md", "to": to})
    assert code(renamed) == (403, "record_protected")
    folder = {"branch": "main", "path": "beds", "to": to.removesuffix(".json")}
    assert code(client.post(f"{address}/folder-renames", json=folder)) == (403, "record_protected")
    assert client.get(f"{address}/branches/main").json()["commit"] == tip


@pytest.mark.req("G-12", "X-06")
def test_approving_needs_the_scope_run_and_what_was_read(client: httpx.Client, house: House) -> None:
    text = (
        'def get_schema():\n    return {"name": "greet", "description": "d", "parameters": {"type": "object", '
        '"properties": {}}}\n\n\ndef execute(vfs, args):\n    return 1\n'
    )
    id_ = house.repository({"tools/greet.py": text})
    address, where = f"/api/repositories/{id_}", {"branch": "main"}
    key = house.user("writer", ("read", "write"))
    assert client.put(f"{address}/shares/writer", json={"right": "write"}).status_code == 204
    with house.client(key) as writer:
        assert code(writer.post(f"{address}/tools/greet/approve", params=where)) == (403, "scope_missing")
    (own,) = client.get(f"{address}/tools", params=where).json()["own"]
    assert (own["state"], own["differs"], own["difference"]) == ("new", "", "")
    saved(client, address, "tools/greet.py", text.replace("1", "2"), branch="main")
    approve = f"{address}/tools/greet/approve"
    assert code(client.post(approve, params={**where, "hash": own["hash"]})) == (409, "tool_changed")
    assert code(client.post(approve, params={**where, "hash": "no hash"})) == (422, "request_invalid")
    (own,) = client.get(f"{address}/tools", params=where).json()["own"]
    assert client.post(approve, params={**where, "hash": own["hash"]}).status_code == 200
    saved(client, address, "tools/greet.py", text.replace("1", "3"), branch="main")
    (own,) = client.get(f"{address}/tools", params=where).json()["own"]
    assert own["reason"] == "Since it was approved, tools/greet.py changed."
    assert "-    return 2\n+    return 3\n" in own["difference"]


@pytest.mark.req("G-05")
def test_every_move_names_the_uncommitted_files_that_are_based_on_older_text(
    client: httpx.Client, house: House
) -> None:
    address = f"/api/repositories/{house.repository()}"
    place = house.place / f"repository-{house.made}"
    client.post(f"{address}/branches", json={"name": "side", "start": "main"})
    saved(client, address, "README.md", "# From the side\n", branch="side")
    (place / "README.md").write_text("# My edit\n")
    sentence = f"README.md: your uncommitted edit in {place} is kept; it is based on the older text"
    order = {"kind": "merge", "sources": ["side"], "target": "main"}
    assert client.post(f"{address}/merges", json=order).json()["kept_edits"] == [sentence]
    assert client.post(f"{address}/operations/undo").json()["kept_edits"] == [sentence]
    assert saved(client, address, "README.md", "# Saved\n", branch="main")["kept_edits"] == [sentence]
    assert saved(client, address, "other.md", "x\n", branch="main")["kept_edits"] == []
    rewound = client.patch(f"{address}/branches/main", json={"rewind_to": "side"})
    assert rewound.json()["kept_edits"] == [sentence]
    assert (place / "README.md").read_text() == "# My edit\n"


@pytest.mark.req("G-01", "X-04")
def test_a_damaged_branch_is_shown_as_such_and_hides_no_other(client: httpx.Client, address: str) -> None:
    place = Path(client.get(address).json()["path"])
    heads = (place / ".git" if (place / ".git").exists() else place) / "refs/heads"
    (heads / "missing").write_text("12345678" * 5 + "\n")
    (heads / "torn").write_text("")
    shown = client.get(f"{address}/branches", params={"details": True}).json()["items"]
    assert {each["name"]: each["damage"] is None for each in shown} == {"main": True, "missing": False, "torn": False}
    assert client.get(f"{address}/graph").status_code == 200
    for path in ("branches/torn", "commits?rev=missing", "files?branch=torn", "tree?branch=missing"):
        answer = client.get(f"{address}/{path}")
        assert "fatal" not in answer.text
        assert "loose" not in answer.text
    (heads.parent.parent / "HEAD").write_text("ref: refs/heads/gone\n")
    told = client.post(f"{address}/branches", json={"name": "new"})
    assert code(told) == (404, "revision_missing")
    assert "other branches have commits" in told.text
