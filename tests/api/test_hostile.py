"""Pages of strangers in the browser of somebody who is signed in: they read nothing and change nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.api.projects import made
from tests.support.api_server import House

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("FORGE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.req("X-06"),
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

MARK = "obsidian-4c2d"
EVIL = "evil.test"
_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_STATE = ("projects", "repositories", "users", "keys", "settings", "prompts", "questions", "audit")

# Every attempt says what it got; what is opaque to the page counts as nothing.
_TRY_FETCHES = """async ({base, tries}) => Promise.all(tries.map(async ([method, path, mode, type, body]) => {
  const headers = type ? {"Content-Type": type} : {};
  try {
    const got = await fetch(base + path, {method, mode, headers, credentials: "include", body: body ?? undefined});
    return [method, path, mode, got.type, got.status, await got.text()];
  } catch (refused) { return [method, path, mode, "refused", 0, ""]; }
}))"""
_TRY_SOCKET = """({address}) => new Promise(done => {
  const socket = new WebSocket(address);
  const heard = [];
  socket.onopen = () => { heard.push("open"); socket.send(JSON.stringify({subscribe: "board"})); };
  socket.onmessage = message => { heard.push(message.data); done(heard); };
  socket.onclose = () => done(heard);
})"""
_TRY_ELEMENTS = """({addresses}) => Promise.all(addresses.flatMap(([tag, address]) => new Promise(done => {
  const made = document.createElement(tag);
  made.onload = made.onloadeddata = () => done([tag, address, "loaded"]);
  made.onerror = () => done([tag, address, "refused"]);
  if (tag === "link") { made.rel = "stylesheet"; made.href = address; } else { made.src = address; }
  document.body.append(made);
})))"""
_TRY_FORM = """({address, enctype}) => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.name = "into" + Math.random();
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, {method: "post", action: address, target: frame.name, enctype});
  const field = document.createElement("input");
  field.name = '{"name": "planted by a form", "agent": "builtin", "x'; field.value = '": ""}';
  form.append(field);
  document.body.append(form);
  frame.onload = () => setTimeout(() => done(navigator.sendBeacon(address, '{"name": "a beacon"}')), 50);
  form.submit();
})"""
_TRY_FRAME = """({address}) => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.onload = () => {
    let seen = "";
    try { seen = frame.contentDocument ? frame.contentDocument.body.innerText : ""; } catch (refused) { seen = ""; }
    done(seen);
  };
  frame.src = address;
  document.body.append(frame);
})"""


@dataclass(frozen=True)
class Stage:
    """A server with something to lose, and a browser that is signed in to it."""

    house: House
    context: Any
    project: str
    repository: str
    elsewhere: int
    key: str
    """Of another user."""

    @property
    def path(self) -> str:
        return f"/api/repositories/{self.repository}/files/secret.md?branch=ai/work"

    def state(self) -> dict[str, Any]:
        with self.house.client() as client:
            seen: dict[str, Any] = {each: client.get(f"/api/{each}").json() for each in _STATE}
            seen["branches"] = client.get(f"/api/repositories/{self.repository}/branches").json()
        # That the person signed in and a stranger was refused is to be on record; compared is what else was done.
        own = ("session.begin", "user:local")
        deeds = [deed for deed in seen["audit"]["items"] if not deed["action"].endswith(".refuse")]
        seen["audit"]["items"] = [deed for deed in deeds if (deed["action"], deed["subject"]) != own]
        _forget_time(seen)
        places = [self.house.place / "workspace", *self.house.place.glob("repository-*")]
        files = [file for place in places for file in sorted(place.rglob("*")) if file.is_file()]
        seen["disk"] = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        return seen

    def tries(self) -> list[tuple[str, str, str, str | None, str | None]]:
        project = json.dumps({"name": "planted by a stranger", "agent": "builtin"})
        reads = ["/api/projects", "/api/sign-in", "/api/openapi.json", self.path, "/api/events?topic=board", "/"]
        return [
            *[("GET", path, mode, None, None) for path in reads for mode in ("cors", "no-cors")],
            *[("POST", "/api/projects", mode, "text/plain", project) for mode in ("cors", "no-cors")],
            ("POST", "/api/projects", "cors", "application/json", project),
            ("POST", f"/api/projects/{self.project}/messages", "no-cors", "text/plain", '{"text": "hello"}'),
            ("POST", f"/api/projects/{self.project}/actions/terminate", "no-cors", "text/plain", '{"confirmed":true}'),
            ("POST", f"/api/projects/{self.project}/tests/accept", "no-cors", None, None),
            ("POST", f"/api/repositories/{self.repository}/operations/undo", "no-cors", None, None),
            ("PUT", self.path, "cors", "text/plain", "changed"),
            ("DELETE", self.path, "cors", None, None),
            ("PATCH", f"/api/projects/{self.project}", "cors", "application/json", '{"archived": true}'),
            ("DELETE", "/api/sign-in", "cors", None, None),
            ("POST", "/api/sign-in", "no-cors", "text/plain", '{"token": "x"}'),
        ]


def _forget_time(value: Any) -> None:
    """Which changes whoever looks."""
    if isinstance(value, dict):
        value.pop("phase_times", None)
        value.pop("last_used", None)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _forget_time(each)


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Prizes</title><body>You have won.</body>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of a stranger's server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Without what newer browsers do by themselves against pages that reach for this machine: it must hold anyway."""
    flags = [
        f"--host-resolver-rules=MAP {EVIL} 127.0.0.1",
        "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,BlockInsecurePrivateNetworkRequests",
        "--disable-gpu",
        "--disable-dev-shm-usage",
    ]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=CHROMIUM, args=[*flags, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def stage(house: House, browser: Any, elsewhere: int) -> Iterator[Stage]:
    active = "<script>fetch('/api/projects', {method: 'POST', body: '{}'})</script>"
    drawn = f"<svg xmlns='http://www.w3.org/2000/svg'>{active}</svg>"
    repository = house.repository({"secret.md": f"{MARK}\n", "page.html": active, "page.svg": drawn})
    with house.client() as client:
        client.post(f"/api/repositories/{repository}/branches", json={"name": "ai/work", "start": "main"})
        put = client.put(f"/api/repositories/{repository}/files/dot.png?branch=ai/work", content=_PIXEL)
        assert put.status_code == 200, put.text
        project = made(client, MARK)["id"]
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{house.url}/?token={house.token()}")
    assert page.url == f"{house.url}/"
    page.close()
    yield Stage(house, context, project, repository, elsewhere, house.user("Mallory"))
    context.close()


@pytest.fixture(scope="module", params=["127.0.0.1", "localhost", EVIL])
def origin(request: pytest.FixtureRequest, stage: Stage) -> Iterator[str]:
    """Of the same site on another port, of the machine by another name, and of another site: none changes anything."""
    with unchanged(stage):
        yield f"http://{request.param}:{stage.elsewhere}/"


@pytest.fixture
def page(origin: str, stage: Stage) -> Iterator[Any]:
    """A stranger's page."""
    made = stage.context.new_page()
    made.goto(origin)
    yield made
    made.close()


@contextmanager
def unchanged(stage: Stage) -> Iterator[None]:
    """What happens meanwhile changes nothing, and the person stays signed in."""
    before = stage.state()
    yield
    after = stage.state()
    assert {name for name in after if after[name] != before[name]} == set()
    page = stage.context.new_page()
    page.goto(f"{stage.house.url}/")
    assert page.evaluate("fetch('/api/sign-in').then(r => r.json()).then(who => who.id)") == "local"
    page.close()


@pytest.fixture
def untouched(stage: Stage) -> Iterator[None]:
    with unchanged(stage):
        yield


def test_the_page_of_the_server_itself_reads_saves_and_hears(stage: Stage) -> None:
    page = stage.context.new_page()
    page.goto(f"{stage.house.url}/")
    assert page.evaluate("document.cookie") == ""
    saved = page.evaluate(
        "path => fetch(path, {method: 'PUT', body: 'saved\\n'}).then(r => r.status)",
        f"/api/repositories/{stage.repository}/files/own.md?branch=ai/work",
    )
    read = page.evaluate("path => fetch(path).then(r => r.text())", stage.path)
    heard = page.evaluate(_TRY_SOCKET, {"address": f"{stage.house.url.replace('http', 'ws')}/api/stream"})
    picture = f"{stage.house.url}/api/repositories/{stage.repository}/files/dot.png?branch=ai/work"
    shown = page.evaluate(_TRY_ELEMENTS, {"addresses": [["img", picture]]})
    page.close()
    assert (saved, read) == (200, f"{MARK}\n")
    assert heard[0] == "open"
    assert json.loads(heard[1]) == {"topic": "board", "subscribed": True, "after": 0}
    assert shown == [["img", picture, "loaded"]]


def test_a_foreign_page_reads_and_changes_nothing_by_requests(stage: Stage, page: Any) -> None:
    for base in (stage.house.url, f"http://localhost:{stage.house.port}"):
        got = page.evaluate(_TRY_FETCHES, {"base": base, "tries": stage.tries()})
        told = [each for each in got if each[3] not in ("refused", "opaque") or each[4] or each[5]]
        assert told == []


def test_a_foreign_page_opens_no_stream(stage: Stage, page: Any) -> None:
    for host in ("127.0.0.1", "localhost"):
        address = f"ws://{host}:{stage.house.port}/api/stream?topic=board"
        assert page.evaluate(_TRY_SOCKET, {"address": address}) == []


def test_a_foreign_page_includes_nothing_as_script_picture_style_or_film(stage: Stage, page: Any) -> None:
    picture = f"/api/repositories/{stage.repository}/files/dot.png?branch=ai/work"
    tags = [("script", "/api/projects"), ("img", picture), ("link", stage.path), ("video", picture), ("script", "/")]
    addresses = [[tag, f"{stage.house.url}{path}"] for tag, path in tags]
    got = page.evaluate(_TRY_ELEMENTS, {"addresses": addresses})
    assert [each for each in got if each[2] != "refused"] == []


def test_a_foreign_page_frames_nothing(stage: Stage, page: Any) -> None:
    for path in ("/", "/api/projects", stage.path):
        assert page.evaluate(_TRY_FRAME, {"address": f"{stage.house.url}{path}"}) == ""
    shown = [frame.url for frame in page.frames if frame.parent_frame is not None]
    assert len(shown) == 3
    assert not any(url.startswith("http") for url in shown), shown


def test_a_form_of_a_foreign_page_posts_nothing(stage: Stage, page: Any) -> None:
    for enctype in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        for path in ("/api/projects", f"/api/projects/{stage.project}/resources"):
            page.evaluate(_TRY_FORM, {"address": f"{stage.house.url}{path}", "enctype": enctype})


def test_a_link_of_a_foreign_page_signs_nobody_in_as_somebody_else(stage: Stage, browser: Any) -> None:
    """Or what they write next would be the stranger's to read."""
    address = f"{stage.house.url}/?token={stage.key}"
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{stage.house.url}/?token={stage.house.token()}")
    page.goto(f"http://127.0.0.1:{stage.elsewhere}/")
    page.evaluate(_TRY_ELEMENTS, {"addresses": [["img", address]]})
    page.evaluate("address => { location.href = address }", address)
    page.wait_for_url(f"{stage.house.url}/**")
    who = page.evaluate("fetch('/api/sign-in').then(r => r.json()).then(who => who.id)")
    context.close()
    assert who == "local"


def test_a_name_that_is_bound_anew_to_this_machine_gets_nothing(stage: Stage, untouched: None) -> None:
    """The page has come from the same origin, name and port, before the name led here."""
    origin = f"http://{EVIL}:{stage.house.port}"
    page = stage.context.new_page()
    page.route(f"{origin}/prizes", lambda route: route.fulfill(body="<body>", content_type="text/html"))
    page.goto(f"{origin}/prizes")
    got = page.evaluate(_TRY_FETCHES, {"base": "", "tries": stage.tries()})
    readable = [each for each in got if each[3] != "refused"]
    heard = page.evaluate(_TRY_SOCKET, {"address": f"ws://{EVIL}:{stage.house.port}/api/stream?topic=board"})
    page.close()
    assert readable
    assert {each[4] for each in readable} == {421}
    assert all(json.loads(each[5])["code"] == "host_refused" for each in readable)
    assert heard == []


def test_a_page_in_a_repository_runs_nothing_when_it_is_opened(stage: Stage, untouched: None) -> None:
    """Opened in a tab of its own, it is saved as a file."""
    page = stage.context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("page.html", "page.svg"):
        with suppress(playwright.Error):  # what is saved ends the navigation
            page.goto(f"{stage.house.url}/api/repositories/{stage.repository}/files/{name}")
    page.close()
    assert len(asked) == 2
    assert not any(url.endswith("/api/projects") for url in asked)
