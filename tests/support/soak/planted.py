"""What one user has, with words in it that nobody else may ever see: for runs in which another user tries to."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from forge.app.access.identity import LOCAL, server_secret
from forge.app.access.users import add_user, new_key
from forge.store.questions import Questions
from tests.support.api_server import House

Json = dict[str, Any]
OWNER, STRANGER = "Adelheid", "Bo"
MARKS = tuple(f"{word}7b1e" for word in ("quartz", "basalt", "gneiss", "schist", "marble", "slate", "shale", "chalk"))
_FOLDER, _FILE, _CONTENT, _BRANCH, _SUBJECT, _PROJECT, _ASKED, _KEY = MARKS
_PLAN = f"We want to plan a party for forty {_ASKED} people in July. The budget is 1500 euros. {_CONTENT}. "
_SEEN = (
    "/api/repositories/{repository}",
    "/api/repositories/{repository}/branches",
    "/api/repositories/{repository}/operations",
    "/api/repositories/{repository}/session/turns?branch={branch}",
    "/api/repositories/{repository}/shares",
    "/api/projects/{project}",
    "/api/projects/{project}/messages",
    "/api/projects/{project}/resources",
    "/api/projects/{project}/log",
    "/api/projects/{project}/shares",
    "/api/events?topic=project:{project}",
    "/api/events?topic=branch:{repository}:{branch}",
    "/api/questions/{question}",
    "/api/keys?user={user}",
    "/api/users",
    "/api/settings",
    "/api/prompts",
    "/api/costs?by=run&repository={repository}",
)


@dataclass(frozen=True, slots=True)
class Planted:
    """Ids and names of what the owner has. `mark` words and ids stand in everything that can be read of it."""

    owner_key: str
    stranger_key: str
    names: dict[str, str]
    """By the name of the parameter that takes them: repository, project, question, key, user, branch, commit …"""
    own: dict[str, str]
    """The same for what the stranger has."""
    places: tuple[Path, ...]

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*MARKS, OWNER, *(self.names[each] for each in ("repository", "project", "question", "key", "commit")))

    def state(self, house: House) -> Json:
        """Everything of the owner's, as the person at this machine sees it and as it lies on the disk."""
        with house.client() as client:
            seen = {address: client.get(address.format(**self.names)).json() for address in _SEEN}
            # Time goes by in a phase, whoever looks.
            seen["/api/projects/{project}"].pop("phase_times")
            stranger = client.get("/api/users").json()["users"]
            (id_,) = [user["id"] for user in stranger if user["name"] == STRANGER]
            deeds = client.get("/api/audit", params={"user": id_, "limit": 1000}).json()["items"]
        ids = tuple(self.names[each] for each in ("repository", "project", "question", "key"))
        seen["audit"] = [deed for deed in deeds if any(id_ in json.dumps(deed) for id_ in ids)]
        seen["disk"] = {str(file): _digest(file) for place in self.places for file in sorted(place.rglob("*"))}
        return seen


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "-"


def plant(house: House) -> Planted:
    secret = server_secret(house.shop.settings.data_dir)
    keys = {}
    for name in (OWNER, STRANGER):
        add_user(house.shop, LOCAL, name)
        # Repositories of the machine are added by who may administer, with a key that is not used again.
        adding = new_key(house.shop, LOCAL, secret, name, scopes=("read", "admin"))
        label = _KEY if name == OWNER else "laptop"
        keys[name] = (new_key(house.shop, LOCAL, secret, name, name=label), adding)
    (key, adding), (other, other_adding) = keys[OWNER], keys[STRANGER]
    names = {"user": key.key.user, "key": key.key.id, "path": f"{_FILE}/{_FILE}.md", "branch": f"ai/{_BRANCH}"}
    place = _repository(house.place / _FOLDER, names["path"], f"{_SUBJECT} {_CONTENT}")
    with house.client(adding.text) as client:
        names["repository"] = client.post("/api/repositories", json={"path": str(place)}).json()["id"]
    with house.client(key.text) as client:
        names |= _worked_on(client, house, names) | _project(client, _PROJECT)
        workspace = Path(client.get(f"/api/projects/{names['project']}").json()["directory"])
    names["question"] = "q-5f1e6d5a"
    Questions(house.shop.database).ask(names["question"], run=names["run"], text=f"{_ASKED}?", context=_CONTENT)
    with house.client(key.text) as client:
        assert client.get(f"/api/questions/{names['question']}").json()["project"] == names["project"]
    own = {"user": other.key.user, "key": other.key.id, "path": "README.md", "branch": "ai/own", "commit": "main"}
    with house.client(other_adding.text) as client:
        place_of_other = _repository(house.place / "own", "README.md", "mine")
        own["repository"] = client.post("/api/repositories", json={"path": str(place_of_other)}).json()["id"]
    with house.client(other.text) as client:
        client.post(f"/api/repositories/{own['repository']}/branches", json={"name": own["branch"], "start": "main"})
        own |= _project(client, "mine", begun=False)
    return Planted(key.text, other.text, names, own, (place, workspace))


def _repository(place: Path, path: str, content: str) -> Path:
    place.mkdir()
    (place / path).parent.mkdir(exist_ok=True)
    (place / path).write_text(f"{content}\n")
    for words in (["init", "-qb", "main"], ["add", "--all"], ["commit", "-qm", content]):
        who = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)
    return place


def _worked_on(client: httpx.Client, house: House, names: dict[str, str]) -> dict[str, str]:
    """A branch with a turn on it, so that there are a conversation, events, operations and costs."""
    address, on = f"/api/repositories/{names['repository']}", {"branch": names["branch"]}
    assert client.post(f"{address}/branches", json={"name": names["branch"], "start": "main"}).status_code == 201
    recording = house.place / "recording.jsonl"
    recording.write_text(json.dumps({"text": f"{_CONTENT}\n\nCommit: {_SUBJECT}"}) + "\n")
    asked = {"text": f"{_ASKED}?", "model": f"recorded:{recording}"}
    with house.client() as local:
        sent = local.post(f"{address}/session/messages", params=on, json=asked)
    assert sent.status_code == 202, sent.text
    turns = _until(lambda: client.get(f"{address}/session/turns", params=on).json()["items"])
    _until(lambda: not client.get(f"{address}/session", params=on).json()["working"])
    commit = client.get(f"{address}/branches/{names['branch']}").json()["commit"]
    operation = client.get(f"{address}/operations").json()["items"][0]["id"]
    return {"turn": turns[0]["id"], "commit": commit, "operation": str(operation)}


def _project(client: httpx.Client, name: str, *, begun: bool = True) -> dict[str, str]:
    made = client.post("/api/projects", json={"name": name, "agent": "builtin"}).json()
    address = f"/api/projects/{made['id']}"
    if not begun:
        return {"project": made["id"], "run": "none"}
    client.post(f"{address}/messages", json={"text": _PLAN})
    client.post(f"{address}/resources", files={"file": (f"{_FILE}.txt", _CONTENT.encode())})
    run = client.post(f"{address}/actions/distill").json()["run"]
    _until(lambda: not client.get(address).json()["busy"])
    return {"project": made["id"], "run": run}


def _until(seen: Any, seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := seen()):
        assert time.monotonic() < deadline, "it does not come to rest"
        time.sleep(0.02)
    return found
