"""Files of a project over HTTP: taken away whole, in parts or not at all, and resources taken out again."""

from __future__ import annotations

import httpx
import pytest

from tests.api.house import House
from tests.api.test_projects import code, made

pytestmark = pytest.mark.req("X-02")


@pytest.fixture
def resources(client: httpx.Client) -> str:
    address = f"/api/projects/{made(client)['id']}/resources"
    assert client.post(address, files={"file": ("ten.txt", b"0123456789")}).status_code == 201
    return address


def test_a_resource_is_given_back_and_taken_out(client: httpx.Client, resources: str) -> None:
    given = client.get(f"{resources}/ten.txt")
    assert (given.status_code, given.content) == (200, b"0123456789")
    assert given.headers["content-disposition"].startswith("attachment")
    assert client.delete(f"{resources}/ten.txt").status_code == 204
    assert client.get(resources).json()["files"] == []
    for method in ("GET", "DELETE"):
        assert code(client.request(method, f"{resources}/ten.txt")) == (404, "document_missing")
        assert code(client.request(method, f"{resources}/..%2Fproject.json")) in (
            (404, "document_missing"),
            (404, "route_missing"),
        )


def test_what_is_downloaded_has_a_tag_and_ranges(client: httpx.Client, resources: str) -> None:
    address = f"{resources}/ten.txt"
    tag = client.get(address).headers["etag"]
    same = client.get(address, headers={"If-None-Match": tag})
    assert (same.status_code, same.content) == (304, b"")
    part = client.get(address, headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    assert code(client.get(address, headers={"Range": "bytes=10-"})) == (416, "range_missing")
    assert client.head(address).headers["content-length"] == "10"


def test_a_picture_is_saved_too(client: httpx.Client, resources: str) -> None:
    client.post(resources, files={"file": ("flower.png", b"\x89PNG\r\n\x1a\n")})
    given = client.get(f"{resources}/flower.png")
    assert given.headers["content-type"] == "application/octet-stream"
    assert given.headers["content-disposition"].startswith("attachment")


@pytest.mark.req("X-06")
def test_who_may_only_read_takes_no_resource_out(house: House, client: httpx.Client, resources: str) -> None:
    with house.client(house.user("only-reads", ("read",))) as reader:
        assert code(reader.delete(f"{resources}/ten.txt")) == (403, "scope_missing")
    assert client.get(f"{resources}/ten.txt").status_code == 200
