"""Files of a project over HTTP: taken away whole, in parts or not at all, and resources taken out again."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.api.projects import code, made
from tests.support.api_server import House

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
    other = client.get(address, headers={"If-None-Match": f'"{"0" * 40}", W/"none"'})
    assert (other.status_code, other.content) == (200, b"0123456789")
    part = client.get(address, headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    for last, content in (("-3", b"789"), ("-10", b"0123456789"), ("-15", b"0123456789")):
        end = client.get(address, headers={"Range": f"bytes={last}"})
        assert (end.status_code, end.content) == (206, content), last
    assert code(client.get(address, headers={"Range": "bytes=10-"})) == (416, "range_missing")
    assert client.head(address).headers["content-length"] == "10"


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "name", ["..\\\\..\\\\evil.txt", "C:\\\\Users\\\\ada\\\\evil.txt", "../../evil.txt", "a/b/evil.txt"]
)
def test_a_resource_has_the_last_part_of_the_name_it_was_sent_under(client: httpx.Client, name: str) -> None:
    address = f"/api/projects/{made(client)['id']}/resources"
    part = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\nx\r\n--b--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    sent = client.post(address, content=part.encode(), headers=kind)
    assert (sent.status_code, sent.json()["name"]) == (201, "evil.txt"), sent.text


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


@pytest.mark.req("X-06")
@pytest.mark.parametrize("kind", ["artifacts", "documents", "resources"])
def test_a_link_in_a_project_gives_no_file_of_the_machine(client: httpx.Client, tmp_path: Path, kind: str) -> None:
    project = made(client)
    (tmp_path / "passwords.md").write_text("nobody's business")
    folder = Path(project["directory"]) / {"documents": "docs"}.get(kind, kind)
    folder.mkdir(exist_ok=True)
    (folder / "notes.md").symlink_to(tmp_path / "passwords.md")
    address = f"/api/projects/{project['id']}/{kind}"
    assert "notes.md" not in [each["name"] for each in client.get(address).json()["files"]]
    assert code(client.get(f"{address}/notes.md")) == (404, "document_missing")
