"""What HTTP itself asks for: methods, media types, what is accepted, and problems that say what to do next."""

from __future__ import annotations

import httpx
import pytest

from forge.api.http.dependencies import prefers_lines
from forge.api.http.hints import hint_for
from tests.api.projects import code, made
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-02")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/projects", {"GET", "HEAD", "POST"}),
        ("PUT", "/api/projects/one", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("POST", "/api/repositories/0a1b2c3d4e5f/files/a/b.md", {"GET", "HEAD", "PUT", "DELETE"}),
        ("POST", "/api/health", {"GET", "HEAD"}),
        ("GET", "/api/notifications/test", {"POST"}),
    ],
)
def test_a_wrong_method_is_told_all_that_are_right(
    client: httpx.Client, method: str, path: str, allowed: set[str]
) -> None:
    answer = client.request(method, path)
    assert code(answer) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == allowed


def test_a_slash_too_many_is_another_address_and_leads_nowhere_else(client: httpx.Client) -> None:
    for method, path in (("GET", "/api/projects/"), ("POST", "/api/projects/"), ("GET", "/api/health/")):
        answer = client.request(method, path, json={"name": "x"} if method == "POST" else None)
        assert code(answer) == (404, "route_missing")
        assert "location" not in answer.headers


def test_head_is_get_without_a_body(client: httpx.Client, house: House) -> None:
    repository = house.repository()
    for path in (
        "/api/health",
        "/api/repositories",  # projects tell how long they have been in a phase, and so never the same twice
        "/api/openapi.json",
        f"/api/repositories/{repository}/files/README.md",
        f"/api/repositories/{repository}/files/nothing.md",
        f"/api/repositories/{repository}/paths",
        f"/api/projects/{made(client)['id']}/log",
    ):
        whole, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b""), path
        for name in ("content-type", "content-length", "etag"):
            assert head.headers.get(name) == whole.headers.get(name), (path, name)
    assert client.head("/api/notifications/test").status_code == 405


def test_a_body_that_does_not_say_that_it_is_json_is_told_so(client: httpx.Client) -> None:
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "application/octet-stream"):
        answer = client.post("/api/projects", content=b'{"name": "x"}', headers={"Content-Type": media_type})
        assert code(answer) == (415, "media_type_refused")
        assert "application/json" in answer.json()["hint"]
    odd = client.post("/api/projects", content=b"[]", headers={"Content-Type": "application/json"})
    assert code(odd) == (422, "request_invalid")


@pytest.mark.parametrize(
    ("accept", "lines"),
    [
        ("", False),
        ("*/*", False),
        ("application/x-ndjson", True),
        ("application/x-ndjson, */*", True),
        ("Application/X-NDJSON; q=0.5", True),
        ("application/x-ndjson;q=0", False),
        ("application/json, application/x-ndjson;q=0.5", False),
        ("application/json;q=0.1, application/x-ndjson;q=0.5", True),
        ("application/x-ndjson;q=much", False),
        ("application/x-ndjson-not", False),
    ],
)
def test_lines_are_given_to_who_likes_them_best(client: httpx.Client, accept: str, lines: bool) -> None:
    assert prefers_lines(accept) is lines
    given = client.get("/api/projects", headers={"Accept": accept}).headers["content-type"]
    assert given.startswith("application/x-ndjson") is lines


def test_hints_are_for_who_speaks_http(client: httpx.Client, house: House) -> None:
    repository = f"/api/repositories/{house.repository()}"
    project = f"/api/projects/{made(client)['id']}"
    for answer, wanted in (
        (client.get("/api/projects/none"), "GET /api/projects"),
        (client.get(f"{repository}/branches/none"), "/branches"),
        (client.get("/api/repositories/none"), ""),
        (client.get(f"{repository}/commits/none"), "/commits"),
        (client.post(f"{project}/actions/terminate"), "confirmed"),
        (client.get("/api/keys", params={"user": "nobody"}), "GET /api/users"),
        (client.post(f"{repository}/operations/undo"), ""),
    ):
        problem = answer.json()
        assert problem["hint"]
        assert wanted in problem["hint"], problem
        assert "`forge" not in problem["hint"], problem
        assert "--" not in problem["hint"], problem


def test_a_command_that_is_a_client_gets_hints_for_the_command_line(client: httpx.Client) -> None:
    asked = client.get("/api/projects/none", headers={"Forge-Client": "cli"}).json()
    assert asked["hint"] == "`forge project list` shows them."
    assert asked["code"] == "project_missing"


def test_every_problem_has_a_hint() -> None:
    for status in (400, 401, 403, 404, 409, 412, 413, 415, 416, 418, 422, 429, 500, 502, 503):
        assert hint_for(status, "anything", "")
        assert "forge" not in hint_for(status, "anything", "`forge doctor` looks.")
    assert hint_for(404, "branch_missing", "Did you mean `main`?") == "Did you mean `main`?"


def test_what_a_library_says_is_not_repeated(client: httpx.Client, house: House) -> None:
    answer = client.get(f"/api/repositories/{house.repository()}/commits/HEAD~~~^{{x")
    assert answer.status_code in (404, 422)
    assert ": " not in answer.json()["detail"]


def test_a_file_is_saved_up_to_the_documented_size(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository()}/files/large.bin?branch=main"
    assert code(client.put(address, content=b"x" * 50_000_001)) == (413, "body_too_large")
