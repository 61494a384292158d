"""Projects over HTTP: made, talked to, pressed once, given files, and taken away from."""

from __future__ import annotations

import http.client
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from forge.app.projects import linked_pages
from tests.api.projects import DUMP, at_rest, code, made
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-02", "P-12")


def test_a_project_is_made_talked_to_and_distilled(client: httpx.Client) -> None:
    project = made(client, "Summer party")
    said = client.post(f"/api/projects/{project['id']}/messages", json={"text": DUMP})
    assert said.status_code == 202
    assert said.json()["topic"] == f"project:{project['id']}"
    pressed = client.post(f"/api/projects/{project['id']}/actions/distill", headers={"Idempotency-Key": "one"})
    assert pressed.status_code == 202, pressed.text
    assert pressed.json()["run"]
    seen = at_rest(client, project["id"])
    assert seen["phase"] == "human_review"
    roles = [each["role"] for each in client.get(f"/api/projects/{project['id']}/messages").json()["items"]]
    assert "human" in roles
    intent = client.get(f"/api/projects/{project['id']}/documents/intent.md")
    assert intent.status_code == 200
    assert intent.headers["content-type"] == "application/octet-stream"
    assert intent.headers["content-disposition"].startswith("attachment")
    names = [each["name"] for each in client.get(f"/api/projects/{project['id']}/artifacts").json()["files"]]
    assert "intent.md" in names
    assert client.get(f"/api/projects/{project['id']}/artifacts/intent.md").content == intent.content
    assert client.get(f"/api/projects/{project['id']}/log").json()["items"]

    earlier = f"/api/projects/{project['id']}/earlier-messages"
    assert client.get(earlier).json()["items"] == []
    assert client.post(f"/api/projects/{project['id']}/actions/confirm").status_code == 202
    at_rest(client, project["id"])
    assert DUMP in [each["content"] for each in client.get(earlier).json()["items"]]
    assert DUMP not in [
        each["content"] for each in client.get(f"/api/projects/{project['id']}/messages").json()["items"]
    ]


@pytest.mark.req("P-04")
def test_the_type_that_a_project_was_made_with_is_that_of_its_intent(client: httpx.Client) -> None:
    words = "Write a small script which renames the photos of our club by the day on which they were taken."
    project = made(client, "Photos", deliverable_type="plan")
    assert project["deliverable_type"] == "plan"
    client.post(f"/api/projects/{project['id']}/messages", json={"text": words})
    client.post(f"/api/projects/{project['id']}/actions/distill")
    assert at_rest(client, project["id"])["phase"] == "human_review"
    intent = client.get(f"/api/projects/{project['id']}/documents/intent.md").text
    assert "Plan — You chose it when you made the project." in intent
    client.post(f"/api/projects/{project['id']}/actions/confirm")
    assert at_rest(client, project["id"])["deliverable_type"] == "plan"

    refused = client.post("/api/projects", json={"name": "Song", "deliverable_type": "song"})
    assert code(refused) == (422, "deliverable_type_unknown")
    assert "plan" in refused.json()["hint"]


def test_the_same_press_twice_has_one_effect_and_gets_the_present_state(client: httpx.Client) -> None:
    project = made(client)
    client.post(f"/api/projects/{project['id']}/messages", json={"text": DUMP})
    address, key = f"/api/projects/{project['id']}/actions/distill", {"Idempotency-Key": "press-7"}
    earlier_name = address.replace("/actions/", "/press/")
    first, second = (client.post(each, headers=key) for each in (address, earlier_name))
    assert (first.status_code, second.status_code) == (202, 202)
    assert (first.json()["changed"], second.json()["changed"]) == (True, False)
    assert first.json()["run"] == second.json()["run"]
    assert second.json()["project"]["id"] == project["id"]
    at_rest(client, project["id"])


def test_words_sent_again_with_their_key_are_said_once(client: httpx.Client, house: House) -> None:
    project = made(client)
    address, topic = f"/api/projects/{project['id']}/messages", f"project:{project['id']}"

    def said(text: str, key: str) -> httpx.Response:
        return client.post(address, json={"text": text}, headers={"Idempotency-Key": key})

    def told() -> int:
        return len(client.get("/api/events", params={"topic": topic}).json()["items"])

    assert said(DUMP, "first").json()["changed"] is True
    messages, events = client.get(address).json(), told()
    again = said(DUMP, "first")
    assert (again.status_code, again.json()["changed"]) == (202, False)
    assert (client.get(address).json(), told()) == (messages, events)

    for number in range(10):
        assert said(f"More about it, number {number}.", f"more-{number}").json()["changed"] is True
    assert said(DUMP, "first").json()["changed"] is False

    assert code(said("Something else.", "first")) == (409, "press_reused")
    distilled = f"/api/projects/{project['id']}/actions/distill"
    assert code(client.post(distilled, headers={"Idempotency-Key": "first"})) == (409, "press_reused")
    assert "Something else." not in client.get(address).text

    assert client.post(distilled, headers={"Idempotency-Key": "distill"}).json()["changed"] is True
    assert at_rest(client, project["id"])["phase"] == "human_review"
    # In this phase, the same words would be a correction.
    assert said(DUMP, "first").json()["changed"] is False
    assert client.post(distilled, headers={"Idempotency-Key": "distill"}).json()["changed"] is False


def test_links_of_words_that_are_sent_again_are_pulled_once(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulled: list[str] = []

    async def pull(shop: Any, project: Any, text: str, phase: Any) -> str:
        del shop, project, phase
        pulled.append(text)
        return "Saved resources/page.md."

    monkeypatch.setattr(linked_pages, "pull", pull)
    address = f"/api/projects/{made(client)['id']}/messages"
    for _ in range(2):
        sent = client.post(address, json={"text": DUMP}, headers={"Idempotency-Key": "with-links"})
        assert sent.status_code == 202
    assert pulled == [DUMP]
    said = [each["content"] for each in client.get(address).json()["items"]]
    assert sum("Saved resources/page.md." in each for each in said) == 1


def test_what_cannot_be_pressed_is_refused_with_what_can_be(client: httpx.Client) -> None:
    project = made(client)
    refused = client.post(f"/api/projects/{project['id']}/actions/confirm")
    assert code(refused) == (409, "action_refused")
    assert refused.json()["hint"]
    unconfirmed = client.post(f"/api/projects/{project['id']}/actions/terminate")
    assert code(unconfirmed) == (422, "confirmation_needed")
    elsewhere = client.post(f"/api/projects/{project['id']}/actions/distill", json={"agent": "builtin"})
    assert code(elsewhere) == (422, "invalid_input")
    unknown = client.post(f"/api/projects/{project['id']}/actions/resume", json={"agent": "nobody:at-all"})
    assert code(unknown) == (422, "model_unknown")
    done = client.post(f"/api/projects/{project['id']}/actions/terminate", json={"confirmed": True})
    assert done.json()["project"]["phase"] == "halted"
    assert code(client.post(f"/api/projects/{project['id']}/actions/dance")) == (422, "request_invalid")


def test_projects_are_listed_in_pages_and_as_lines(client: httpx.Client) -> None:
    wanted = sorted(made(client)["id"] for _ in range(3))
    everything = client.get("/api/projects", params={"limit": 1000}).json()["items"]
    found, after = [], None
    while True:
        page = client.get("/api/projects", params={"limit": 2, **({"after": after} if after else {})}).json()
        found += [each["id"] for each in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert found == [each["id"] for each in everything]
    assert set(wanted) <= set(found)
    for rest in (0, 1):
        page = client.get("/api/projects", params={"limit": len(found) - rest}).json()
        assert (page["next"] is None) is (rest == 0), "one that is left is not forgotten"
    lines = client.get("/api/projects", params={"limit": 2}, headers={"Accept": "application/x-ndjson"})
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert len(lines.text.splitlines()) == len(found)


def test_a_project_is_renamed_archived_and_deleted_only_when_confirmed(client: httpx.Client) -> None:
    project = made(client, "To be deleted")
    address = f"/api/projects/{project['id']}"
    assert client.patch(address, json={"name": "Named anew", "archived": True}).json()["archived"] is True
    assert project["id"] not in [each["id"] for each in client.get("/api/projects").json()["items"]]
    assert project["id"] in [
        each["id"] for each in client.get("/api/projects", params={"archived": True, "limit": 1000}).json()["items"]
    ]
    assert code(client.delete(address, params={"confirm": "no"})) == (422, "deletion_unconfirmed")
    directory = project["directory"].rpartition("/")[2]
    assert client.delete(address, params={"confirm": directory}).status_code == 200
    assert code(client.get(address)) == (404, "project_missing")


@pytest.mark.req("W-02")
def test_a_name_that_cannot_be_shown_is_refused(client: httpx.Client) -> None:
    project = made(client, "Fine")
    for name in ("..", "two\nlines"):
        assert code(client.post("/api/projects", json={"name": name})) == (422, "invalid_project_name")
        changed = client.patch(f"/api/projects/{project['id']}", json={"name": name})
        assert code(changed) == (422, "invalid_project_name")
    assert client.get(f"/api/projects/{project['id']}").json()["name"] == "Fine"


def test_a_missing_project_is_missing_everywhere(client: httpx.Client) -> None:
    for method, rest in (
        ("GET", ""),
        ("GET", "/messages"),
        ("GET", "/earlier-messages"),
        ("GET", "/resources"),
        ("GET", "/artifacts"),
        ("GET", "/artifacts/plan.md"),
        ("GET", "/documents/plan.md"),
        ("GET", "/log"),
        ("POST", "/actions/distill"),
        ("POST", "/tests/accept"),
    ):
        assert code(client.request(method, f"/api/projects/none{rest}")) == (404, "project_missing"), rest
    assert code(client.get("/api/memory", params={"project": "none"})) == (404, "project_missing")
    assert code(client.post("/api/projects", json={"after": "none"})) == (404, "project_missing")
    assert code(client.post("/api/projects", json={"repository": "none"})) == (404, "repository_missing")


def test_files_are_taken_in_under_a_safe_and_free_name(client: httpx.Client, house: House) -> None:
    project = made(client)
    address = f"/api/projects/{project['id']}/resources"
    names = []
    for sent in ("notes.txt", "notes.txt", "../../escape.txt", 'a"b\r\nX: y.txt'):
        answer = client.post(address, files={"file": (sent, b"Forty people come.")})
        assert answer.status_code == 201, answer.text
        names.append(answer.json()["name"])
    assert names[:3] == ["notes.txt", "notes-2.txt", "escape.txt"]
    listed = client.get(address).json()["files"]
    assert sorted(each["name"] for each in listed) == sorted(names)
    assert not list(house.place.rglob("../escape.txt"))
    assert code(client.post(address, files={"file": ("empty.txt", b"")})) == (422, "resource_refused")
    assert code(client.post(address, files={"file": (".hidden", b"x")})) == (422, "resource_refused")
    no_file = client.post(address, data={"file": "no file"})
    assert code(no_file) == (422, "request_invalid")
    assert "UploadFile" not in no_file.text


@pytest.mark.parametrize("name", ["..", "x/..", "..\\..", ".", " ", "a" * 201])
def test_a_file_whose_name_no_folder_can_hold_is_refused(client: httpx.Client, name: str) -> None:
    address = f"/api/projects/{made(client)['id']}/resources"
    assert code(client.post(address, files={"file": (name, b"x")})) == (422, "resource_refused")
    assert client.get(address).json()["files"] == []


def test_of_two_files_at_once_none_is_dropped_silently(client: httpx.Client) -> None:
    address = f"/api/projects/{made(client)['id']}/resources"
    both = [("file", ("one.txt", b"one")), ("file", ("two.txt", b"two"))]
    assert code(client.post(address, files=both)) == (422, "invalid_input")
    assert client.get(address).json()["files"] == []


def test_a_large_file_is_streamed_and_one_too_large_is_refused(client: httpx.Client, house: House) -> None:
    address = f"/api/projects/{made(client)['id']}/resources"
    megabytes = b"x" * 1_000_000

    def parts(count: int) -> Any:
        yield b'--mark\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\n\r\n'
        for _ in range(count):
            yield megabytes
        yield b"\r\n--mark--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=mark"}
    assert client.post(address, content=parts(8), headers=headers).json()["bytes_size"] == 8_000_000
    refused = client.post(address, content=parts(51), headers=headers)
    assert code(refused) == (413, "file_too_large")
    assert "/tmp" not in refused.text
    # Refused before a byte of it was sent.
    connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=10)
    with closing(connection):
        connection.request("POST", address, headers={**headers, **house.bearer, "Content-Length": "60000000"})
        assert connection.getresponse().status == 413
    # A body of unknown length is cut off where it gets too long.
    assert code(client.post("/api/projects", content=iter([megabytes] * 6))) == (413, "body_too_large")


def test_documents_outside_of_the_project_cannot_be_named(client: httpx.Client) -> None:
    project = made(client)
    for name in ("..%2Fproject.json", "%2e%2e", "nothing.md"):
        answer = client.get(f"/api/projects/{project['id']}/documents/{name}")
        assert answer.status_code == 404, name


def test_the_board_shows_the_project_in_its_column(client: httpx.Client) -> None:
    project = made(client, "On the board")
    columns = client.get("/api/board").json()["columns"]
    first = next(column for column in columns if column["phase"] == "brain_dump")
    assert project["id"] in [card["row"]["id"] for card in first["cards"]]


def test_memory_is_read(client: httpx.Client) -> None:
    project = made(client)
    told = client.get("/api/memory", params={"project": project["id"]})
    assert told.status_code == 200, told.text
    assert set(told.json()) == {"source", "initiative", "entries", "warnings"}


@pytest.mark.req("X-06")
def test_a_project_of_somebody_else_is_missing(house: House, client: httpx.Client) -> None:
    ada, bo = house.user("ada"), house.user("bo")
    with house.client(ada) as hers, house.client(bo) as his:
        mine = made(hers)
        address = f"/api/projects/{mine['id']}"
        assert code(his.get(address)) == (404, "project_missing")
        absent = his.get("/api/projects/20990101-0000").json()
        told = his.get(address).json()
        assert told["detail"].replace(mine["id"], "ID") == absent["detail"].replace("20990101-0000", "ID")
        assert his.get("/api/projects").json()["items"] == []
        assert hers.put(f"{address}/shares/bo", json={"right": "read"}).status_code == 204
        assert his.get(address).status_code == 200
        assert code(his.post(f"{address}/messages", json={"text": DUMP})) == (403, "shared_for_reading")
        assert list(hers.get(f"{address}/shares").json()["shares"].values()) == ["read"]
        assert hers.delete(f"{address}/shares/bo").status_code == 204
        assert code(his.get(address)) == (404, "project_missing")
    with house.client(house.user("reader", ("read",))) as reader:
        assert code(reader.post("/api/projects", json={})) == (403, "scope_missing")


@pytest.mark.req("X-06")
def test_a_damaged_project_hides_no_other_and_is_nobody_elses_concern(house: House) -> None:
    keys = [house.user(name) for name in ("Owner of damage", "Neighbour")]
    with house.client(keys[0]) as owner, house.client(keys[1]) as neighbour:
        damaged, sound, theirs = made(owner, name="Damaged"), made(owner, name="Sound"), made(neighbour, name="Theirs")
        file = Path(damaged["directory"]) / "status.json"
        file.unlink()
        file.mkdir()
        try:
            for client, left in ((owner, sound), (neighbour, theirs)):
                assert [each["id"] for each in client.get("/api/projects").json()["items"]] == [left["id"]]
                board = client.get("/api/board")
                assert board.status_code == 200
                cards = [card for column in board.json()["columns"] for card in column["cards"]]
                assert [card["row"]["id"] for card in cards] == [left["id"]]
                broken = [each.partition(":")[0] for each in board.json()["broken"]]
                assert broken == ([Path(damaged["directory"]).name] if client is owner else [])
            assert code(owner.get(f"/api/projects/{damaged['id']}")) == (502, "project_unwritable")
        finally:
            file.rmdir()


@pytest.mark.req("M-02", "M-03", "X-02")
def test_memory_is_written_as_the_command_line_does(client: httpx.Client) -> None:
    project = made(client)["id"]

    def sent(method: str, path: str, body: Any = None, key: str | None = None) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return client.request(method, f"/api/memory{path}", params={"project": project}, json=body, headers=headers)

    for kind in ("learning", "delegation"):
        assert sent("POST", "/lines", {"kind": kind, "text": "Prices are in cents."}, kind).json()["saved"] is True
    again = sent("POST", "/lines", {"kind": "learning", "text": "Prices are in cents."}, "learning").json()
    assert again["changed"] is False
    assert code(sent("PUT", "/status", {"status": "blocked"})) == (404, "initiative_missing")
    assert sent("POST", "/initiative", {"title": "Checkout"}).json()["initiative"]["type"] == "APEX"
    assert code(sent("POST", "/initiative", {"title": "Other"})) == (409, "initiative_active")
    assert sent("POST", "/checkpoints", {"done": "analyze", "next": "plan"}).json()["initiative"]["phase"] == "plan"
    assert code(sent("POST", "/checkpoints", {"done": "x", "next": "y"})) == (422, "phase_unknown")
    begun = sent("PUT", "/milestones/M1", {"title": "Pay", "tasks": 2}).json()
    assert [(each["id"], each["total"]) for each in begun["initiative"]["milestones"]] == [("M1", 2)]
    assert sent("POST", "/milestones/M1/tasks").json()["initiative"]["milestones"][0]["done"] == 1
    assert code(sent("POST", "/milestones/M9/tasks")) == (404, "milestone_missing")
    assert sent("POST", "/milestones/M1/complete").json()["initiative"]["milestones"][0]["status"] == "completed"
    assert sent("POST", "/confidence", {"topic": "Scope", "value": 0.8}).json()["saved"] is True
    blocked = sent("PUT", "/status", {"status": "blocked", "reason": "waits"}).json()
    assert (blocked["initiative"]["status"], blocked["initiative"]["reason"]) == ("blocked", "waits")
    assert code(sent("PUT", "/status", {"status": "dancing"})) == (422, "invalid_input")
    assert sent("POST", "/resume").json()["initiative"]["status"] == "blocked"
    kept = client.get("/api/memory", params={"project": project}).json()
    assert [each["kind"] for each in kept["entries"] if each["text"] == "Prices are in cents."] == [
        "Learnings",
        "Delegations",
    ]
    deeds = [deed["action"] for deed in client.get("/api/audit").json()["items"]]
    assert {"memory.learning", "memory.milestone", "memory.task", "memory.confidence", "memory.status"} <= set(deeds)


@pytest.mark.req("X-06")
def test_memory_is_written_by_whoever_may_write_the_project(house: House) -> None:
    with house.client(house.user("mem-ada")) as hers, house.client(house.user("mem-bo")) as his:
        project = {"project": made(hers)["id"]}
        line = {"text": "Prices are in cents."}
        assert code(his.post("/api/memory/lines", params=project, json=line)) == (404, "project_missing")
        with house.client(house.user("mem-eve", scopes=("read",))) as reader:
            hers.put(f"/api/projects/{project['project']}/shares/mem-eve", json={"right": "write"})
            assert code(reader.post("/api/memory/lines", params=project, json=line)) == (403, "scope_missing")
        assert hers.get("/api/memory", params=project).json()["entries"] == []
