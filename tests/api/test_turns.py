"""Turns over HTTP with recorded answers: tools that were approved, questions that wait, and whose work it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from forge.app.process.workshop import Workshop
from forge.app.sessions import turn_run
from forge.engine.run import Run
from forge.subjects import branch_subject
from tests.api.projects import code
from tests.support.api_server import House, opened
from tests.support.api_turns import turn, writes

pytestmark = pytest.mark.req("X-02")
Json = dict[str, Any]

TOOL = """\
def get_schema():
    return {"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}


def execute(vfs, args):
    return "hello from the tool"
"""
GREET: Json = {"text": "", "calls": [{"name": "greet", "arguments": {}}]}


async def asking(run: Run, arguments: Json) -> Json:
    reply = await run.ask(arguments["text"], options=("red", "blue"))
    return {"answer": reply.text}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Its worker knows a workflow that asks: no turn does so by itself."""

    def register(shop: Workshop) -> None:
        usual(shop)
        shop.engine.register("asking", asking)

    usual = turn_run.register
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_run, "register", register)
        with opened(tmp_path_factory.mktemp("house")) as made:
            yield made


def results(client: httpx.Client, address: str, number: int) -> list[tuple[bool, str]]:
    """What the tools of a turn gave."""
    told = client.get(f"{address}/session/turns/{number}", params={"branch": "ai/work"}).json()
    return [(each["failed"], each["text"]) for each in told["messages"] if each["role"] == "tool"]


@pytest.mark.req("G-12")
def test_a_tool_of_the_repository_runs_in_turns_once_it_is_approved(
    house: House, client: httpx.Client, tmp_path: Path
) -> None:
    address = f"/api/repositories/{house.repository({'tools/greet.py': TOOL})}"
    asked = {"branch": "ai/work"}
    answers = (GREET, {"text": "Done."})
    assert turn(client, address, "ai/work", tmp_path / "one.jsonl", *answers)["status"] == "done"
    ((failed, text),) = results(client, address, 1)
    assert failed
    assert "hello" not in text
    (own,) = client.get(f"{address}/tools", params=asked).json()["own"]
    assert (own["name"], own["state"], own["approved_by"]) == ("greet", "new", None)
    assert client.post(f"{address}/tools/greet/approve", params=asked).json()["hash"] == own["hash"]
    turn(client, address, "ai/work", tmp_path / "two.jsonl", *answers)
    assert results(client, address, 2) == [(False, "hello from the tool")]
    assert client.post(f"{address}/tools/greet/revoke", params=asked).status_code == 200
    turn(client, address, "ai/work", tmp_path / "three.jsonl", *answers)
    ((failed, text),) = results(client, address, 3)
    assert failed
    assert code(client.post(f"{address}/tools/none/approve", params=asked)) == (404, "user_tool_missing")


def waiting(client: httpx.Client, **about: str) -> list[Json]:
    deadline = time.monotonic() + 30
    while True:
        found: list[Json] = client.get("/api/questions", params=about).json()["questions"]
        if found:
            return found
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_question_of_a_run_on_a_branch_is_answered_once(house: House, client: httpx.Client) -> None:
    id_ = house.repository()
    subject = branch_subject(id_, "main")
    handle = house.call(house.shop.engine.start_run("asking", {"text": "Which colour?"}, subject=subject))
    (question,) = waiting(client, repository=id_, branch="main")
    assert (question["text"], question["options"], question["state"]) == ("Which colour?", ["red", "blue"], "open")
    assert client.get("/api/questions", params={"repository": id_, "branch": "other"}).json() == {"questions": []}
    address = f"/api/questions/{question['id']}"
    with house.client(house.user("stranger")) as stranger:
        assert code(stranger.post(f"{address}/answer", json={"text": "blue"})) == (404, "question_unknown")
    assert client.post(f"{address}/answer", json={"text": "red"}).json()["counted"] is True
    assert client.post(f"{address}/answer", json={"text": "red"}).json()["counted"] is False
    assert code(client.post(f"{address}/answer", json={"text": "blue"})) == (409, "question_closed")
    assert house.call(handle.result()) == {"answer": "red"}
    told = client.get("/api/events", params={"topic": f"branch:{id_}:main"}).json()["items"]
    assert [each["event"]["type"] for each in told] == ["QuestionAsked", "QuestionClosed"]


@pytest.mark.req("X-06")
def test_what_users_do_bears_their_names(house: House, client: httpx.Client, tmp_path: Path) -> None:
    id_ = house.repository({"a.txt": "a\n"})
    address = f"/api/repositories/{id_}"
    ids = {}
    for name in ("ada", "bo"):
        key = house.user(name)
        client.put(f"{address}/shares/{name}", json={"right": "write"})
        with house.client(key) as theirs:
            ids[name] = theirs.get("/api/sign-in").json()["id"]
            branch = {"branch": f"ai/{name}"}
            made = theirs.post(f"{address}/branches", json={"name": f"ai/{name}", "start": "main"})
            assert made.status_code == 201, made.text
            named = {**branch, "message": "save: mine"}
            theirs.put(f"{address}/files/{name}.txt", params=named, content=b"mine\n")
            theirs.patch(f"{address}/session/context", params=branch, json={"add": [{"path": "a.txt"}]})
            sent = theirs.post(f"{address}/session/messages", params=branch, json={"text": "Hi.", "model": "builtin"})
            assert sent.status_code == 202, sent.text
            assert said_by(theirs, address, f"ai/{name}") == f"{name} <{ids[name]}@forge.invalid>"
            order = {"kind": "merge", "target": f"ai/{name}", "sources": ["main"], "no_ff": True}
            client.put(f"{address}/files/{name}-main.txt", params={"branch": "main"}, content=b"x\n")
            merged = theirs.post(f"{address}/merges", json=order).json()
            assert merged["performed"] is True
            log = theirs.get(f"{address}/commits", params={"rev": f"ai/{name}"}).json()["items"]
            signed = {each["subject"].partition(":")[0]: (each["author"], each["committer"]) for each in log}
            for subject in ("save", next(each for each in signed if each.startswith("Merge"))):
                for person in signed[subject]:
                    assert (person["name"], person["email"]) == (name, f"{ids[name]}@forge.invalid"), subject
    deeds = client.get("/api/audit", params={"limit": 1000}).json()["items"]
    for user in ids.values():
        done = {each["action"] for each in deeds if each["user"] == user and each["subject"] == f"repository:{id_}"}
        assert {"branch.create", "file.save", "context.change", "session.send", "merge.merge"} <= done
    client.put(f"{address}/files/local.txt", params={"branch": "main"}, content=b"x\n")
    newest = client.get(f"{address}/commits", params={"rev": "main"}).json()["items"][0]
    assert newest["author"]["email"] not in {f"{user}@forge.invalid" for user in ids.values()}


def said_by(client: httpx.Client, address: str, branch: str) -> str:
    """Who is on record as having asked, when the turn has ended."""
    deadline = time.monotonic() + 60
    while True:
        told = client.get(f"{address}/session/turns", params={"branch": branch, "messages": True}).json()["items"]
        working = client.get(f"{address}/session", params={"branch": branch}).json()["working"]
        if told and not working:
            return str(next(each["author"] for each in told[0]["messages"] if each["role"] == "user"))
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_written_file_is_in_the_turns_commit(house: House, client: httpx.Client, tmp_path: Path) -> None:
    address = f"/api/repositories/{house.repository()}"
    done = turn(client, address, "ai/x", tmp_path / "one.jsonl", writes("n.txt", "n\n"), {"text": "Done."})
    assert done["files"] == ["n.txt"]
    log = client.get(f"{address}/commits", params={"rev": "ai/x"}).json()["items"]
    detail = client.get(f"{address}/commits/{log[0]['id']}").json()
    assert any(name == "Forge-Asked-By" for name, _ in detail["trailers"])
