"""The files of the web interface: which address gives what, how long browsers keep it, and that the types are fresh."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forge.api.http.security_headers import API_POLICY, PAGE_POLICY
from forge.api.openapi.schema import text
from tests.support.api_server import House, opened

WEB = Path(__file__).parent.parent.parent / "web"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    place = tmp_path_factory.mktemp("pages")
    static = place / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<title>Forge</title>")
    (static / "favicon.svg").write_text("<svg/>")
    (static / "assets" / "index-1a2b.js").write_text("plain()")
    (static / "assets" / "index-1a2b.js.gz").write_bytes(gzip.compress(b"packed()"))
    (place / "secret.txt").write_text("not yours")
    (static / "assets" / "way-out.txt").symlink_to(place / "secret.txt")
    with opened(place, static=static) as made:
        yield made


@pytest.fixture(scope="module")
def browser(house: House) -> Iterator[httpx.Client]:
    with house.client(key="") as client:
        yield client


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("/r/0a1b2c3d4e5f", "/r/0a1b2c3d4e5f"),
        ("/projects/20261116-0c48", "/projects/20261116-0c48"),
        ("//evil.test/r/0a1b", "/"),
        ("https://evil.test/r/0a1b", "/"),
        ("/r/../api/sign-in", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_to_a_place_here_and_to_no_other_site(house: House, wanted: str, place: str) -> None:
    with house.client(key="") as client:
        answer = client.get("/", params={"token": house.token(), "next": wanted})
    assert (answer.status_code, answer.headers["location"]) == (303, place)


@pytest.mark.parametrize(
    "path", ["/", "/r/0a1b/b/ai%2Ffirst", "/r/0a1b/b/release-1.2", "/r/0a1b/b/v1.0/notes.md", "/projects/new", "/board"]
)
def test_every_place_of_the_interface_is_the_same_page(browser: httpx.Client, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200
    assert "<title>Forge</title>" in answer.text
    assert answer.headers["cache-control"] == "no-cache"
    assert "script-src 'self';" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/assets/gone-9f.js", "/robots.txt", "/assets/way-out.txt", "/..%2Fsecret.txt"])
def test_a_file_that_is_not_there_is_no_page(browser: httpx.Client, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 404
    assert "not yours" not in answer.text


@pytest.mark.req("X-06")
@pytest.mark.parametrize("path", ["/" + "b" * 300, "/assets/" + "b" * 300, "/" + "b/" * 3000])
def test_a_name_that_no_disk_takes_is_not_there(browser: httpx.Client, path: str) -> None:
    assert browser.get(path).status_code == (404 if path.startswith("/assets") else 200)


@pytest.mark.req("X-06")
def test_mistakes_of_forges_own_are_hardened_like_every_answer(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("forge.api.static_files._file", broken)
    monkeypatch.setattr("forge.api.access.gate.Gate.identify", broken)
    for path, policy in (("/board", PAGE_POLICY), ("/api/board", API_POLICY)):
        answer = browser.get(path)
        assert answer.status_code == 500
        assert answer.headers["content-security-policy"] == policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_files_named_by_their_contents_are_kept_for_good_and_come_packed(browser: httpx.Client) -> None:
    packed = browser.get("/assets/index-1a2b.js", headers={"Accept-Encoding": "gzip"})
    assert (packed.text, packed.headers["content-encoding"]) == ("packed()", "gzip")
    plain = browser.get("/assets/index-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert (plain.text, plain.headers.get("content-encoding")) == ("plain()", None)
    for answer in (packed, plain):
        assert "javascript" in answer.headers["content-type"]
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["vary"] == "Accept-Encoding"
    assert browser.get("/favicon.svg").headers["cache-control"] == "no-cache"


def test_the_types_of_the_web_interface_are_made_from_this_api() -> None:
    kept = (WEB / "openapi.json").read_text(encoding="utf-8")
    assert kept == text(), "run `python -m forge.api.openapi.schema web/openapi.json`, then `npm run types` in web/"
