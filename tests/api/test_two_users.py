"""Two users of one server: whatever the one tries, it learns nothing of the other's, and changes nothing."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.api.conftest import ON_BOTH
from tests.support.api_server import LOCAL_KEY, House
from tests.support.soak.api import crossed_users
from tests.support.soak.planted import MARKS, Planted, plant

pytestmark = [pytest.mark.req("X-06", "X-05"), ON_BOTH]


@pytest.fixture(scope="module")
def planted(house: House) -> Planted:
    return plant(house)


def test_what_is_planted_is_there_for_its_owner_to_see(house: House, planted: Planted) -> None:
    seen = json.dumps(planted.state(house))
    with house.client(planted.owner_key) as client:
        file = client.get(
            f"/api/repositories/{planted.names['repository']}/files/{planted.names['path']}",
            params={"branch": planted.names["branch"]},
        )
        commits = client.get(f"/api/repositories/{planted.names['repository']}/commits").text
    missing = [mark for mark in MARKS if mark not in seen + file.text + commits]
    assert not missing


def test_somebody_elses_and_what_is_not_there_get_the_same_answers(house: House, planted: Planted) -> None:
    found = crossed_users(house, planted, 600, seed=11)
    assert found.operations > 80
    # Both happen: what is refused because of whose it is, and what a stranger may do with what is their own.
    assert found.answers[404] > 100
    assert found.answers[200] > 10
    assert {"projects", "repositories", "keys", "questions"} <= set(found.times)
    assert found.told_apart < 3


def test_no_topic_of_somebody_else_can_be_heard(house: House, planted: Planted) -> None:
    names = planted.names
    headers = {"Authorization": f"Bearer {planted.stranger_key}"}
    address = f"ws://127.0.0.1:{house.port}/api/stream"
    pairs = [
        (f"project:{names['project']}", "project:20260101-none", names["project"], "20260101-none"),
        (f"branch:{names['repository']}:{names['branch']}", f"branch:000000000000:{names['branch']}",
         names["repository"], "000000000000"),
    ]  # fmt: skip
    with connect(address, additional_headers=headers, proxy=None) as socket:
        for theirs, absent, id_, none in pairs:
            told = []
            for topic in (theirs, absent):
                socket.send(json.dumps({"subscribe": topic, "after": 0}))
                told.append(str(socket.recv(timeout=20)))
            assert '"problem"' in told[0]
            assert told[0].replace(id_, none) == told[1]


def test_a_model_by_path_reads_no_file_of_the_machine_for_a_user(
    house: House, planted: Planted, tmp_path: Path
) -> None:
    """Neither what a file holds, nor whether it is there."""
    (tmp_path / "notes.txt").write_text(f"{MARKS[2]} is no JSON\n")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"text": MARKS[2]}) + "\n")
    address = f"/api/repositories/{planted.own['repository']}/session/messages"
    told = set()
    names = ("notes.txt", "answers.jsonl", "nothing.txt")
    with house.client(planted.stranger_key) as client:
        for before, name, field in product(("", " ", "\n\t", "\u2003"), names, ("model", "agent")):
            asked = {"text": "Answer.", field: f"{before}recorded:{tmp_path / name}"}
            answer = client.post(address, params={"branch": planted.own["branch"]}, json=asked)
            told.add((answer.status_code, answer.text))
            asked = {"name": "Answers", "agent": asked[field]}
            answer = client.post("/api/projects", json=asked)
            told.add((answer.status_code, answer.text))
            answer = client.post(
                f"/api/projects/{planted.own['project']}/actions/resume", json={"agent": asked["agent"]}
            )
            told.add((answer.status_code, answer.text))
            asked = {"branch": planted.own["branch"], "model": asked["agent"]}
            answer = client.get(address.replace("messages", "context"), params=asked)
            told.add((answer.status_code, answer.text))
    assert len(told) == 1, told
    assert "model_unknown" in told.pop()[1]


def test_the_window_of_a_recording_that_a_branch_names_tells_a_user_nothing(
    house: House, planted: Planted, tmp_path: Path
) -> None:
    (tmp_path / "answers.jsonl").write_text(json.dumps({"text": "Done."}) + "\n")
    id_ = house.repository()
    with house.client() as client:
        asked = {"text": "Answer.", "model": f"recorded:{tmp_path / 'answers.jsonl'}"}
        sent = client.post(f"/api/repositories/{id_}/session/messages", params={"branch": "ai/told"}, json=asked)
        house.call(house.shop.engine.handle(sent.json()["run"]).result())
        assert client.put(f"/api/repositories/{id_}/shares/Bo", json={"right": "read"}).status_code == 204
    windows = []
    for key in (LOCAL_KEY, planted.stranger_key):
        with house.client(key) as client:
            shown = client.get(f"/api/repositories/{id_}/session/context", params={"branch": "ai/told"}).json()
        windows.append(shown["window"])
    assert windows == [1_000_000, 128_000]


def test_a_setting_names_no_file_of_the_machine_as_a_model_for_a_user(house: House, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("{}")
    path = f" recorded:{tmp_path / 'answers.jsonl'}"
    with house.client(house.user("Settler", ("read", "admin"))) as client:
        for name, value in (("models.chat", path), ("models", {"chat": path}), ("models", {"chat": "recorded:none"})):
            answer = client.put(f"/api/settings/{name}", json={"value": value})
            assert (answer.status_code, answer.json()["code"]) == (422, "model_unknown")
    with house.client() as client:
        assert client.put("/api/settings/models.chat", json={"value": path.strip()}).status_code == 200
