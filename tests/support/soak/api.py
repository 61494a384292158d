"""One user's key against everything of another's, over all addresses of the API: nothing is seen, nothing changes.

Each request is made twice, for something of the other user's and for something that does not exist; the answers must
be the same apart from the id that was asked for.
"""

from __future__ import annotations

import json
import random
import re
import secrets
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from tests.support.api_server import House, opened
from tests.support.soak.planted import Planted, plant

Json = dict[str, Any]
_ABOUT = ("repository", "project", "question", "key", "user", "id")
_MISSING: dict[str, Callable[[random.Random, str], str]] = {
    "repository": lambda chance, _: f"{chance.getrandbits(48):012x}",
    "project": lambda chance, known: f"{known[:-4]}{chance.getrandbits(16):04x}",
    "question": lambda chance, _: f"q-{chance.getrandbits(32):08x}",
    "key": lambda chance, _: f"k_{chance.getrandbits(64):016x}",
    "user": lambda chance, _: f"u_{chance.getrandbits(64):016x}",
}
_TAKING_AWAY = {"forget_repository", "delete_project"}
_CHANGING_HEADERS = {"date", "content-length"}
_LIKE = {"start": "branch", "source": "branch", "target": "branch", "rev": "commit", "new": "branch", "old": "commit"}
_LIKE |= {"at": "commit", "name": "branch", "rewind_to": "commit", "to": "path", "after": "project", "prefix": "path"}


@dataclass(frozen=True, slots=True)
class Crossed:
    """What came of it."""

    requests: int
    operations: int
    answers: dict[int, int]
    times: dict[str, tuple[float, float]]
    """Medians in milliseconds, by what was asked for: of what is somebody else's, and of what is not there."""

    @property
    def told_apart(self) -> float:
        """By how much the one takes longer than the other, for whatever it is most; 1 is not at all."""
        return max(max(pair) / min(pair) for pair in self.times.values())


_ENOUGH = 15
"""Requests of one kind before their median says anything."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    address: str
    query: Json
    headers: dict[str, str]
    body: Json | None
    content: bytes | None
    upload: bool

    def sent(self, client: httpx.Client) -> tuple[httpx.Response, float]:
        options: Json = {"params": self.query, "headers": self.headers}
        if self.upload:
            options["files"] = {"file": ("note.txt", b"note")}
        elif self.body is not None:
            options["json"] = self.body
        elif self.content is not None:
            options["content"] = self.content
        began = time.perf_counter()
        response = client.request(self.method, self.address, **options)
        return response, time.perf_counter() - began

    @property
    def about(self) -> str:
        kind = self.address.split("/")[2]
        return kind if kind in ("repositories", "projects", "questions", "keys") else "other"

    @property
    def words(self) -> str:
        """All that it says, to tell what an answer repeats from what it reveals."""
        return " ".join((self.address, json.dumps(self.query), json.dumps(self.headers), json.dumps(self.body)))


class Stranger:
    """Draws requests that somebody could try who knows every id and name of the owner's."""

    def __init__(self, document: Json, planted: Planted, chance: random.Random) -> None:
        self._document = document
        self._planted = planted
        self._chance = chance
        self.operations = [
            (method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if operation["operationId"] != "sign_in"
        ]

    def draw(self, number: int) -> tuple[Request, Request, dict[str, str]]:
        """For what is somebody else's, the same for what is not there, and which id stands for which."""
        method, path, operation = self.operations[number % len(self.operations)]
        seed = self._chance.getrandbits(64)
        known = self._planted.names
        absent = known | {name: make(self._chance, known[name]) for name, make in _MISSING.items()}
        own = self._own_values(path, operation)
        drawn = [
            self._request(method, path, operation, values | own, random.Random(seed)) for values in (known, absent)
        ]
        return drawn[0], drawn[1], {absent[name]: known[name] for name in _MISSING}

    def _own_values(self, path: str, operation: Json) -> dict[str, str]:
        """Now and then it is about the stranger's own repository or project, with the owner's ids beside.

        What the stranger makes there must not bear the owner's words, or nobody could tell it from what leaked.
        """
        own = self._planted.own
        if operation["operationId"] not in _TAKING_AWAY and self._chance.random() < 0.15:
            # With whom something can be shared is no secret: who shares has to name them.
            known = {"user": self._planted.names["user"]}
            if "/papers/" in path:  # a key of another kind
                known["key"] = "paper.md"
            return {name: own[name] for name in ("repository", "project", "branch", "path")} | known
        return {} if "{repository}" in path else {name: own[name] for name in ("branch", "path")}

    def _request(
        self, method: str, path: str, operation: Json, values: dict[str, str], chance: random.Random
    ) -> Request:
        query: Json = {}
        headers: dict[str, str] = {}
        kind = chance.choice(("projects", "repositories"))
        values = values | {"id": values[{"projects": "project", "repositories": "repository"}[kind]], "kind": kind}
        for parameter in operation.get("parameters", ()):
            name, schema = parameter["name"], parameter["schema"]
            if parameter["in"] == "path":
                value = self._value(name, schema, values, chance)
                path = path.replace(f"{{{name}}}", quote(str(value), safe="/" if name in ("path", "branch") else ""))
            elif parameter.get("required") or chance.random() < 0.4:
                into = query if parameter["in"] == "query" else headers
                value = self._value(f"{name} in {parameter['in']}" if name == "after" else name, schema, values, chance)
                into[name] = value if parameter["in"] == "query" else str(value).replace("\n", " ")
        content = operation.get("requestBody", {}).get("content", {})
        body = content.get("application/json")
        return Request(
            method.upper(),
            path,
            {name: value for name, value in query.items() if value is not None},
            headers,
            None if body is None else self._value("", body["schema"], values, chance),
            b"changed" if "application/octet-stream" in content else None,
            "multipart/form-data" in content,
        )

    def _value(self, name: str, schema: Json, values: dict[str, str], chance: random.Random) -> Any:
        schema = self._resolved(schema)
        if "anyOf" in schema:
            schema = self._resolved(schema["anyOf"][0 if chance.random() < 0.9 else -1])
        if "enum" in schema:
            return values.get(name) if values.get(name) in schema["enum"] else chance.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                needed = schema.get("required", ())
                parts = schema.get("properties", {}).items()
                return {
                    part: self._value(part, inner, values, chance)
                    for part, inner in parts
                    if part in needed or chance.random() < 0.6
                }
            case "array":
                inner = schema.get("items", {"type": "string"})
                return [self._value(name, inner, values, chance) for _ in range(chance.randrange(3))]
            case "boolean":
                return chance.random() < 0.5
            case "integer" | "number":
                return chance.choice((schema.get("minimum", 0), schema.get("default", 1) or 1, 7))
            case "null":
                return None
        return self._text(name, values, chance)

    def _text(self, name: str, values: dict[str, str], chance: random.Random) -> str:
        if name == "topic":
            topics = "project:{project}", "branch:{repository}:{branch}", "board", "all"
            return chance.choice(topics).format(**values)
        if name in _ABOUT and name in values:
            return values[name]
        likely = values.get(_LIKE.get(name, name))
        if name in ("model", "agent"):
            return chance.choice(("builtin", "anthropic:none", "none"))
        return likely if likely and chance.random() < 0.8 else chance.choice(("main", "HEAD", "README.md", "x", "1"))

    def _resolved(self, schema: Json) -> Json:
        if "$ref" in schema:
            found: Json = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            return found
        return schema


def crossed_users(house: House, planted: Planted, requests: int, *, seed: int = 0) -> Crossed:
    """Half of the requests are for what is the owner's, half for what is not there."""
    chance = random.Random(seed)
    with house.client() as client:
        document = client.get("/api/openapi.json").json()
    before = planted.state(house)
    stranger = Stranger(document, planted, chance)
    answers: Counter[int] = Counter()
    times: dict[str, tuple[list[float], list[float]]] = {}
    timed: dict[str, list[tuple[Request, Request]]] = {}
    with house.client(planted.stranger_key) as client:
        for number in range(requests // 2):
            theirs, absent, standing = stranger.draw(number)
            pair = [(True, theirs), (False, absent)]
            chance.shuffle(pair)
            came: dict[bool, httpx.Response] = {}
            for is_theirs, request in pair:
                came[is_theirs], seconds = request.sent(client)
                if theirs.words != absent.words:
                    times.setdefault(theirs.about, ([], []))[not is_theirs].append(seconds)
            answers.update(response.status_code for response in came.values())
            _assert_nothing_told(planted, theirs, came[True])
            _assert_nothing_told(planted, absent, came[False])
            if theirs.words != absent.words:
                _assert_alike(theirs, came[True], came[False], standing)
                timed.setdefault(theirs.about, []).append((theirs, absent))
        # Kinds with few addresses are drawn seldom: they are asked for again until their medians say something.
        for about, pairs in timed.items():
            for theirs, absent in islice(cycle(pairs), max(0, _ENOUGH - len(times[about][0]))):
                times[about][0].append(theirs.sent(client)[1])
                times[about][1].append(absent.sent(client)[1])
    after = planted.state(house)
    for place, now in after.items():
        assert now == before[place], f"seed {seed}: {place} is not as it was"
    medians = {about: (_median(pair[0]), _median(pair[1])) for about, pair in times.items()}
    return Crossed(requests, len(stranger.operations), dict(answers), medians)


def _median(seconds: list[float]) -> float:
    return round(statistics.median(seconds) * 1000, 2)


def _assert_nothing_told(planted: Planted, request: Request, response: httpx.Response) -> None:
    told = response.text + json.dumps(dict(response.headers))
    shown = [word for word in planted.secrets if word in told and word not in request.words]
    assert not shown, f"{request} is told {shown}: {response.status_code} {told[:500]}"
    assert response.status_code < 500, f"{request}: {response.text}"


def _assert_alike(request: Request, theirs: httpx.Response, absent: httpx.Response, standing: dict[str, str]) -> None:
    said = absent.text
    for missing, known in standing.items():
        said = said.replace(missing, known)
    assert theirs.status_code == absent.status_code, f"{request}: {theirs.text} against {absent.text}"
    assert _MOMENT.sub("", theirs.text) == _MOMENT.sub("", said), f"{request}: {theirs.text} against {said}"
    assert _headers(theirs) == _headers(absent), request


# What a stranger stores in a project of their own is stored at two moments.
_MOMENT = re.compile(r"(?<=:)1[0-9]{9}\.[0-9]+")


def _headers(response: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers.multi_items() if name not in _CHANGING_HEADERS]


def strangers(folder: Path, requests: int, *, seed: int | None = None) -> Crossed:
    with opened(folder) as house:
        return crossed_users(house, plant(house), requests, seed=secrets.randbits(32) if seed is None else seed)
