"""Nobody gets in who does not belong: hosts, origins, cookies, tokens and keys, also when they are forged."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from forge.api.access.cookies import LIFE
from forge.api.access.gate import Access, Gate, TokenRefused, who_of
from forge.api.access.origins import AllowedHostInvalid
from forge.api.http import security_headers
from forge.app.access import local_access, users
from forge.app.access.identity import LOCAL, one_time_token
from forge.app.access.users import Keys, Rates
from forge.sessions.redaction import Redactor
from forge.settings import Settings
from forge.store.database import Database
from forge.store.events import Events

SECRET = bytes(range(32))
PORT = 3000
HOST = f"127.0.0.1:{PORT}"
HERE = f"http://{HOST}"
SCOPE = {"type": "http", "headers": [(b"host", HOST.encode())]}
"""Of a browser at this machine."""
Pairs = Sequence[tuple[str, str]]


@dataclass
class Door:
    """A gate with something behind it, a clock that can be set, and a count of what got through."""

    gate: Gate
    shop: local_access.Access
    keys: Keys
    clock: list[float]
    app: Any = None
    reached: int = 0

    def key(self, name: str = "Ada", **options: Any) -> users.NewKey:
        if not any(user.name == name for user in users.list_users(self.shop, LOCAL)):
            users.add_user(self.shop, LOCAL, name)
        return users.new_key(self.shop, LOCAL, SECRET, name, **options)

    def token(self) -> str:
        return one_time_token(SECRET, now=self.clock[0])

    def cookie(self) -> str:
        """As a browser sends it."""
        cookie = self.gate.sign_in(self.token(), SCOPE).cookie
        assert cookie is not None
        return cookie.partition(";")[0]


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    clock = [time.time()]
    keys = Keys(database, SECRET, now=lambda: clock[0])
    shop = local_access.Access(Settings(), {}, database, Events(database), Redactor(), SECRET)
    made = Door(opened(keys, clock), shop, keys, clock)
    made.app = behind(made)
    yield made
    shop.events.close()
    database.close()


def opened(keys: Keys, clock: list[float], **options: Any) -> Gate:
    hosts = options.pop("hosts", ("forge.example.org", "https://safe.example.org"))
    return Gate(SECRET, hosts, keys, port=PORT, local_key="the-local-key", now=lambda: clock[0], **options)


def behind(door: Door) -> Access:
    async def thing(request: Request) -> Response:
        door.reached += 1
        who = who_of(request.scope)
        loose = {"Access-Control-Allow-Origin": "*", "X-Frame-Options": "ALLOWALL"}
        return JSONResponse({"who": who.name, "key": who.key}, headers=loose)

    async def session(request: Request) -> Response:
        door.reached += 1
        if request.method == "DELETE":
            return Response(status_code=204, headers={"Set-Cookie": door.gate.sign_out(request.scope)})
        signed = door.gate.sign_in((await request.json())["token"], request.scope)
        return JSONResponse({}, headers={"Set-Cookie": signed.cookie or ""})

    async def open_to_all(request: Request) -> Response:
        door.reached += 1
        return PlainTextResponse("ok")

    async def stream(socket: WebSocket) -> None:
        door.reached += 1
        await socket.accept()
        await socket.send_text(who_of(socket.scope).name)
        await socket.close()

    routes = [
        Route("/api/thing", thing, methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
        Route("/api/sign-in", session, methods=["POST", "DELETE"]),
        Route("/api/health", open_to_all),
        Route("/", open_to_all, methods=["GET", "POST"]),
        WebSocketRoute("/api/stream", stream),
    ]
    return Access(Starlette(routes=routes), gate=door.gate)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        assert self.headers["content-type"] == "application/problem+json"
        problem = json.loads(self.body)
        assert set(problem) == {"type", "title", "status", "code", "detail", "hint"}
        assert problem["status"] == self.status
        return str(problem["code"])


def ask(
    door: Door, headers: Pairs = (), *, method: str = "GET", path: str = "/api/thing", host: str | None = HOST
) -> Answer:
    """Straight at the application, so that no client tidies the headers up."""
    given = [*([("host", host)] if host is not None else []), *headers]
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in given]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {
        "headers": raw,
        "scheme": "http",
        "server": ("127.0.0.1", PORT),
        "client": ("127.0.0.1", 5),
        "root_path": "",
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(door.app(scope, receive, send))
    told = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], told, b"".join(each.get("body", b"") for each in sent[1:]))


def browser(door: Door) -> TestClient:
    return TestClient(door.app, base_url=HERE)


# Hosts


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "host", [HOST, "localhost:3000", "LocalHost:3000", "[::1]:3000", "forge.example.org", "forge.example.org:3000"]
)
def test_the_server_answers_to_its_own_names(door: Door, host: str) -> None:
    assert ask(door, [("cookie", door.cookie())], host=host).status == 200


HOSTILE_HOSTS = [
    *("", "evil.example", "evil.example:3000", "127.0.0.1", "127.0.0.1:3001", "127.0.0.1:03000", "127.0.0.1:+3000"),
    *("localhost", "localhost.:3000", "127.0.0.1.:3000", "localhost.evil.example:3000", "127.0.0.1.evil.example:3000"),
    *("user@127.0.0.1:3000", "127.0.0.1:3000@evil.example", "127.0.0.1:3000.evil.example", "127.0.0.1:3000:3000"),
    *("[::1]", "::1:3000", "[0:0:0:0:0:0:0:1]:3000", "[::ffff:127.0.0.1]:3000", "[::1%25lo]:3000", "[::1]:3000]"),
    *("127.1:3000", "2130706433:3000", "0x7f000001:3000", "0.0.0.0:3000", "127.0.0.1:3000/", "http://127.0.0.1:3000"),
    *("127.0.0.1:3000,evil.example", "127.0.0.1:3000 evil.example", "127.0.0.1:3000\tx", "sub.forge.example.org"),
    *("forge.example.org.", "forge.example.org:80", "xforge.example.org", "127.0.0.1:3000#", "127.0.0.1\\:3000", "*"),
    *("ⅼocalhost:3000", "127.0.0.1:３０００", "localhost:3000\x00", "safe.example.org:443"),
]


@pytest.mark.req("X-06")
@pytest.mark.parametrize("path", ["/api/thing", "/api/health", "/"])
def test_under_any_other_name_nothing_is_reached(door: Door, path: str) -> None:
    for host in HOSTILE_HOSTS:
        answer = ask(door, [("cookie", door.cookie())], host=host, path=path)
        assert (answer.status, answer.code, door.reached) == (421, "host_refused", 0), host


@pytest.mark.req("X-06")
def test_no_host_or_two_hosts_are_refused(door: Door) -> None:
    assert ask(door, host=None).status == 421
    assert ask(door, [("host", HOST)]).status == 421
    assert ask(door, [("host", "evil.example")]).status == 421
    assert ask(door, [("host", HOST)], host="evil.example").status == 421


@pytest.mark.req("X-06")
def test_what_a_proxy_claims_opens_nothing(door: Door) -> None:
    claims = [
        ("x-forwarded-host", HOST),
        ("x-forwarded-for", "127.0.0.1"),
        ("forwarded", f"host={HOST}"),
        ("x-host", HOST),
    ]
    assert ask(door, claims, host="evil.example").code == "host_refused"
    assert ask(door, claims).code == "sign_in_needed"
    evil = [("x-forwarded-host", "evil.example"), ("cookie", door.cookie()), ("origin", "http://evil.example")]
    assert ask(door, evil, method="POST").code == "origin_refused"


@pytest.mark.req("X-06")
@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(host=st.one_of(st.text(max_size=30), st.text("127.0localhst:3[]@%.-_/ \\", max_size=20)))
def test_no_other_text_is_taken_for_a_host(door: Door, host: str) -> None:
    known = {HOST, "localhost:3000", "[::1]:3000"}
    status = ask(door, path="/", host=host).status
    assert (status == 200) == (host.encode("latin-1", "replace").decode("latin-1").strip().lower() in known)


@pytest.mark.parametrize("host", ["*", "", "a b", "user@x", "x/y", "ftp://x", "https://x/", ".x", "x:0", "x:70000000"])
def test_a_host_that_is_none_cannot_be_allowed(door: Door, host: str) -> None:
    with pytest.raises(AllowedHostInvalid):
        opened(door.keys, door.clock, hosts=[host])


# Origins


def changing(door: Door, *headers: tuple[str, str], host: str = HOST) -> Answer:
    return ask(door, [("cookie", door.cookie()), *headers], method="POST", host=host)


@pytest.mark.req("X-06")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_change_by_cookie_needs_a_word_of_where_it_comes_from(door: Door, method: str) -> None:
    cookie = ("cookie", door.cookie())
    assert ask(door, [cookie], method=method).code == "origin_refused"
    assert door.reached == 0
    for header in (("origin", HERE), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none")):
        assert ask(door, [cookie, header], method=method).status == 200


HOSTILE_ORIGINS = [
    *("null", "", "http://evil.example", "http://127.0.0.1:3001", "http://127.0.0.1", "http://localhost:3000"),
    *("http://sub.127.0.0.1:3000", "http://127.0.0.1:3000.evil.example", "http://127.0.0.1:3000@evil.example"),
    *(
        "http://user@127.0.0.1:3000",
        "http://127.0.0.1:3000/",
        "http://127.0.0.1:3000/path",
        "file://",
        "127.0.0.1:3000",
    ),
    *(
        "https://127.0.0.1:3000",
        "ws://127.0.0.1:3000",
        "chrome-extension://127.0.0.1:3000",
        "http://127.0.0.1:3000 http://evil.example",
        "*",
    ),
    *("http://127.0.0.1:3000\\@evil.example", "http:// 127.0.0.1:3000", "//127.0.0.1:3000", "http://[::1]:3000"),
]


@pytest.mark.req("X-06")
def test_a_page_of_another_origin_changes_nothing(door: Door) -> None:
    for origin in HOSTILE_ORIGINS:
        assert changing(door, ("origin", origin)).code == "origin_refused", origin
        assert changing(door, ("origin", origin), ("sec-fetch-site", "same-origin")).code == "origin_refused", origin
        assert changing(door, ("origin", HERE), ("origin", origin)).code == "origin_refused", origin
        assert ask(door, [("origin", origin)], method="POST", path="/api/sign-in").code == "origin_refused", origin
    assert door.reached == 0


@pytest.mark.req("X-06")
@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "Same-Origin", "none, cross-site"])
def test_what_a_browser_calls_foreign_is_foreign_even_for_reading(door: Door, site: str) -> None:
    assert ask(door, [("cookie", door.cookie()), ("sec-fetch-site", site)]).code == "origin_refused"
    assert changing(door, ("origin", HERE), ("sec-fetch-site", site)).code == "origin_refused"
    assert door.reached == 0


@pytest.mark.req("X-06")
def test_a_name_that_is_allowed_with_https_has_no_pages_without(door: Door) -> None:
    assert changing(door, ("origin", "https://safe.example.org"), host="safe.example.org").status == 200
    assert changing(door, ("origin", "http://safe.example.org"), host="safe.example.org").status == 403


@pytest.mark.req("X-06")
def test_a_name_that_is_allowed_without_a_scheme_has_no_pages_by_https(door: Door) -> None:
    assert changing(door, ("origin", "http://forge.example.org"), host="forge.example.org").status == 200
    refused = changing(door, ("origin", "https://forge.example.org"), host="forge.example.org")
    assert (refused.status, refused.code) == (403, "origin_refused")


@pytest.mark.req("X-06")
def test_a_name_that_is_allowed_with_both_schemes_has_pages_of_both(door: Door) -> None:
    gate = opened(door.keys, door.clock, hosts=["https://both.example.org", "http://both.example.org"])
    assert gate._origins._hosts["both.example.org"] == {"http", "https"}


@pytest.mark.req("X-06")
@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(origin=st.one_of(st.text(max_size=30), st.text("htps:/127.03[]@\\# ", max_size=30), st.just(HERE)))
def test_no_other_text_is_taken_for_our_origin(door: Door, origin: str) -> None:
    ours = origin.encode("latin-1", "replace").decode("latin-1").strip().lower() == HERE
    assert (changing(door, ("origin", origin)).status == 200) == ours


@pytest.mark.req("X-06")
def test_a_preflight_is_given_nothing(door: Door) -> None:
    wanted = [("origin", "http://evil.example"), ("access-control-request-method", "POST")]
    answer = ask(door, wanted, method="OPTIONS")
    assert answer.status == 401
    assert not [name for name in answer.headers if name.startswith("access-control-")]


# Who it is


@pytest.mark.req("X-06")
def test_without_a_key_or_cookie_only_the_open_addresses_answer(door: Door) -> None:
    for path in ("/api", "/api/", "/api/thing", "/api/openapi.json", "/api/health/", "/api/sign-ins", "/api/none"):
        answer = ask(door, path=path)
        assert (answer.status, answer.code) == (401, "sign_in_needed")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert ask(door, path="/", method="POST").status == 401
    assert door.reached == 0
    assert ask(door, path="/api/health").status == 200
    assert ask(door, path="/").status == 200


@pytest.mark.req("X-06")
def test_a_token_is_exchanged_once_for_a_cookie_that_scripts_cannot_read(door: Door) -> None:
    token = door.token()
    with browser(door) as client:
        signed = client.post("/api/sign-in", json={"token": token}, headers={"Origin": HERE})
        flags = {part.strip().lower() for part in signed.headers["set-cookie"].split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/"} <= flags
        assert client.get("/api/thing").json() == {"who": "you", "key": None}
    with pytest.raises(TokenRefused):
        door.gate.sign_in(token, SCOPE)


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    ("host", "safe"), [(HOST, False), ("forge.example.org", False), ("safe.example.org", True)], ids=str
)
def test_where_pages_come_by_https_only_cookies_are_sent_by_it_only(door: Door, host: str, safe: bool) -> None:
    """Behind a proxy with TLS as well; those that are renewed too."""
    scope = {"type": "http", "headers": [(b"host", host.encode())]}
    cookie = door.gate.sign_in(door.token(), scope).cookie or ""
    assert ("Secure" in cookie.split("; ")) is safe
    door.clock[0] += 2 * 86_400
    renewed = ask(door, [("cookie", cookie.partition(";")[0])], host=host).headers["set-cookie"]
    assert ("Secure" in renewed.split("; ")) is safe


@pytest.mark.req("X-06")
def test_a_token_that_is_wrong_old_or_from_before_the_start_opens_nothing(door: Door) -> None:
    before = one_time_token(SECRET, now=door.clock[0] - 1)
    early = one_time_token(SECRET, now=door.clock[0] + 60)
    late = door.token()
    for token in (
        "",
        "fk_",
        "x",
        before,
        early,
        one_time_token(bytes(32), now=door.clock[0]),
        late + "0",
        late.upper(),
    ):
        with pytest.raises(TokenRefused):
            door.gate.sign_in(token, SCOPE)
    door.clock[0] += 86_401
    with pytest.raises(TokenRefused):
        door.gate.sign_in(late, SCOPE)


def test_a_second_process_that_knows_the_secret_makes_a_token_too(door: Door) -> None:
    door.clock[0] += 1
    assert door.gate.sign_in(one_time_token(SECRET, now=door.clock[0]), SCOPE).who == LOCAL


@pytest.mark.req("X-06")
def test_a_cookie_outlives_a_restart_and_slides_with_use(door: Door) -> None:
    cookie = ("cookie", door.cookie())
    assert "set-cookie" not in ask(door, [cookie]).headers
    door.gate = opened(door.keys, door.clock)
    door.app = behind(door)
    assert ask(door, [cookie]).status == 200
    door.clock[0] += 20 * 86_400
    renewed = ask(door, [cookie]).headers["set-cookie"].partition(";")[0]
    door.clock[0] += 20 * 86_400
    assert ask(door, [cookie]).status == 401
    assert ask(door, [("cookie", renewed)]).status == 200
    door.clock[0] += LIFE + 1
    assert ask(door, [("cookie", renewed)]).status == 401


@pytest.mark.req("X-06")
def test_a_cookie_holds_within_its_time_only_whatever_the_clock_did(door: Door) -> None:
    cookie = ("cookie", door.cookie())
    session = door.gate.session({"headers": [(b"cookie", cookie[1].encode())]})
    assert session is not None
    begun, door.clock[0] = door.clock[0], session.expires
    assert ask(door, [cookie]).status == 401, "its end is its end"
    door.clock[0] = session.expires - 0.5
    assert ask(door, [cookie]).status == 200
    # Given under a clock that was far ahead, it would hold for longer than anybody meant.
    door.clock[0] = begun - 86_400
    assert ask(door, [cookie]).status == 401


@pytest.mark.req("X-06")
def test_a_cookie_with_one_changed_letter_opens_nothing(door: Door) -> None:
    name, _, value = door.cookie().partition("=")
    assert ask(door, [("cookie", f"{name}={value}")]).status == 200
    for place in range(len(value)):
        changed = value[:place] + ("1" if value[place] != "1" else "2") + value[place + 1 :]
        assert door.gate.session({"headers": [(b"cookie", f"{name}={changed}".encode())]}) is None
    parts = value.split(".")
    for forged in (
        "",
        ".",
        value + ".",
        value + "é",
        ".".join([*parts[:2], "k_" + "0" * 16, *parts[3:]]),
        ".".join(parts[:4]),
    ):
        assert ask(door, [("cookie", f"{name}={forged}")]).status == 401


@pytest.mark.req("X-06")
@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(cookie=st.text(max_size=60), authorization=st.text(max_size=60))
def test_no_other_text_lets_anybody_in(door: Door, cookie: str, authorization: str) -> None:
    for headers in ([("cookie", cookie)], [("authorization", authorization)], [("cookie", f"forge_{PORT}={cookie}")]):
        assert ask(door, headers).status == 401


def test_another_cookie_of_the_same_name_does_not_lock_anybody_out(door: Door) -> None:
    cookie = door.cookie()
    assert ask(door, [("cookie", f"forge_{PORT}=planted; other=1; {cookie}")]).status == 200
    assert ask(door, [("cookie", f"forge_{PORT}=planted"), ("cookie", cookie)]).status == 200
    assert ask(door, [("cookie", cookie.replace(str(PORT), "4000", 1))]).status == 401


def test_who_signs_out_is_out(door: Door) -> None:
    cookie = ("cookie", door.cookie())
    gone = ask(door, [cookie, ("origin", HERE)], method="DELETE", path="/api/sign-in")
    assert "Max-Age=0" in gone.headers["set-cookie"]
    assert ask(door, [cookie]).status == 401


# Keys


def bearer(text: str) -> tuple[str, str]:
    return ("authorization", f"Bearer {text}")


@pytest.mark.req("C-10", "X-06")
def test_a_key_lets_a_program_in_without_an_origin(door: Door) -> None:
    made = door.key()
    for method in ("GET", "POST"):
        answer = ask(door, [bearer(made.text)], method=method)
        assert json.loads(answer.body) == {"who": "Ada", "key": made.key.id}
        assert "set-cookie" not in answer.headers
    assert ask(door, [("authorization", f"bearer   {made.text}")]).status == 200
    assert json.loads(ask(door, [bearer("the-local-key")]).body)["who"] == "you"


@pytest.mark.req("C-10", "X-06")
def test_keys_that_open_nothing_are_all_refused_alike(door: Door) -> None:
    expired, revoked, disabled = door.key(days=1), door.key(), door.key("Bob")
    users.revoke_key(door.shop, LOCAL, revoked.key.id)
    users.disable_user(door.shop, LOCAL, "Bob")
    door.clock[0] += 86_401
    wrong = ("fk_" + "a" * 43, "fk_", "", "x", expired.text, revoked.text, disabled.text, expired.text + "é")
    answers = {(a.status, a.body, tuple(sorted(a.headers.items()))) for a in (ask(door, [bearer(k)]) for k in wrong)}
    assert len(answers) == 1
    assert answers.pop()[0] == 401
    assert door.reached == 0


@pytest.mark.req("X-06")
def test_a_wrong_key_is_not_helped_by_a_cookie_and_two_keys_are_none(door: Door) -> None:
    made, cookie = door.key(), ("cookie", door.cookie())
    assert ask(door, [bearer("fk_wrong"), cookie]).status == 401
    assert ask(door, [bearer(made.text), bearer(made.text)]).status == 401
    assert ask(door, [bearer(made.text), ("authorization", "Basic eDp5")]).status == 401
    assert ask(door, [("authorization", "Basic eDp5"), cookie]).status == 200


@pytest.mark.req("C-10")
def test_a_key_can_be_signed_in_with_and_its_session_ends_with_it(door: Door) -> None:
    made = door.key()
    signed = door.gate.sign_in(made.text, SCOPE)
    cookie = ("cookie", (signed.cookie or "").partition(";")[0])
    assert made.text not in (signed.cookie or "")
    assert json.loads(ask(door, [cookie]).body) == {"who": "Ada", "key": made.key.id}
    scope = {"type": "websocket", "headers": [(b"cookie", cookie[1].encode())]}
    assert door.gate.still_holds(scope)
    users.revoke_key(door.shop, LOCAL, made.key.id)
    door.clock[0] += 1.1
    assert ask(door, [cookie]).status == 401
    assert not door.gate.still_holds(scope)


@pytest.mark.req("X-06")
def test_too_many_requests_of_a_key_are_told_when_to_come_back(door: Door) -> None:
    door.gate = opened(door.keys, door.clock, rates=Rates(per_second=0.1, burst=2))
    door.app = behind(door)
    ada, bob = door.key(), door.key("Bob")
    assert [ask(door, [bearer(ada.text)]).status for _ in range(3)] == [200, 200, 429]
    limited = ask(door, [bearer(ada.text)])
    assert limited.code == "rate_limited"
    assert 1 <= int(limited.headers["retry-after"]) <= 10
    assert ask(door, [bearer(bob.text)]).status == 200


@pytest.mark.req("X-06")
def test_signing_in_with_a_key_counts_like_a_request_of_it(door: Door) -> None:
    door.gate = opened(door.keys, door.clock, rates=Rates(per_second=0.1, burst=2))
    door.app = behind(door)
    ada = door.key()
    for _ in range(2):
        assert door.gate.sign_in(ada.text, SCOPE).cookie is not None
    with pytest.raises(users.RateLimited):
        door.gate.sign_in(ada.text, SCOPE)
    assert ask(door, [bearer(ada.text)]).status == 429
    assert door.gate.sign_in(door.token(), SCOPE).who == LOCAL


@pytest.mark.req("X-06")
def test_a_revoked_key_takes_as_long_to_refuse_as_one_that_never_was(door: Door) -> None:
    made = door.key()
    users.revoke_key(door.shop, LOCAL, made.key.id)
    taken: dict[str, list[float]] = {made.text: [], "fk_" + "a" * 43: []}
    for _ in range(200):
        for text, times in taken.items():
            begun = time.perf_counter()
            assert door.keys.verify(text) is None
            times.append(time.perf_counter() - begun)
    first, second = (statistics.median(each) for each in taken.values())
    assert abs(first - second) < 0.35 * max(first, second)


# Sockets


@pytest.mark.req("X-06")
def test_a_socket_of_our_page_opens_and_one_of_another_page_does_not(door: Door) -> None:
    cookie = {"Cookie": door.cookie()}
    with browser(door) as client:
        with client.websocket_connect(f"ws://{HOST}/api/stream", headers={**cookie, "Origin": HERE}) as socket:
            assert socket.receive_text() == "you"
        for origin in (*HOSTILE_ORIGINS, None):
            headers = cookie if origin is None else {**cookie, "Origin": origin}
            refused(client, 403, {**headers, "Sec-Fetch-Site": "same-origin"})
        refused(client, 401, {"Origin": HERE})
        refused(client, 421, {**cookie, "Origin": "http://evil.example:3000", "Host": "evil.example:3000"})
        with client.websocket_connect(
            f"ws://{HOST}/api/stream", headers={"Authorization": f"Bearer {door.key().text}"}
        ) as socket:
            assert socket.receive_text() == "Ada"
    assert door.reached == 2


def refused(client: TestClient, status: int, headers: dict[str, str]) -> None:
    with (
        pytest.raises(WebSocketDenialResponse) as caught,
        client.websocket_connect(f"ws://{HOST}/api/stream", headers={**headers}),
    ):
        pass
    assert caught.value.status_code == status


def test_where_a_server_cannot_answer_a_socket_it_is_closed(door: Door) -> None:
    scope = {"type": "websocket", "path": "/api/stream", "headers": [(b"host", HOST.encode())], "extensions": {}}
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(door.app(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008, "reason": "sign_in_needed"}]


# What every answer carries


@pytest.mark.req("X-06")
@pytest.mark.parametrize("case", ["page", "api", "refused", "missing"])
def test_every_answer_carries_the_headers_that_keep_strangers_out(door: Door, case: str) -> None:
    cookie = [("cookie", door.cookie())]
    answer = {
        "page": lambda: ask(door, path="/"),
        "api": lambda: ask(door, cookie),
        "refused": lambda: ask(door),
        "missing": lambda: ask(door, cookie, path="/api/none"),
    }[case]()
    told = answer.headers
    assert told["x-content-type-options"] == "nosniff"
    assert told["x-frame-options"] == "DENY"
    assert told["cross-origin-opener-policy"] == "same-origin"
    assert told["referrer-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in told["content-security-policy"]
    assert not [name for name in told if name.startswith("access-control-")]
    if case == "page":
        assert "script-src 'self';" in told["content-security-policy"]
    else:
        assert told["content-security-policy"] == security_headers.API_POLICY
        assert told["cache-control"] == "no-store"


@pytest.mark.req("X-06")
def test_no_answer_repeats_a_secret(door: Door) -> None:
    token, made = door.token(), door.key()
    wrong = made.text[:-1] + ("a" if made.text[-1] != "a" else "b")
    for headers in ([bearer(wrong)], [bearer(token)], [("cookie", f"forge_{PORT}={wrong}")], [("origin", wrong)]):
        answer = ask(door, headers, method="POST")
        assert answer.status >= 400
        assert wrong not in str(answer)
        assert token not in str(answer)


@pytest.mark.req("X-06")
def test_only_a_session_that_ends_makes_streams_look_again(door: Door) -> None:
    woken: list[int] = []
    with door.gate.watched(lambda: woken.append(1)):
        cookie = door.cookie()
        for headers in ((), (("cookie", "forge_3000=1.x"),), (("authorization", f"Bearer {door.key().text}"),)):
            assert ask(door, headers, method="DELETE", path="/api/sign-in").status == 204
        assert not woken
        for _ in range(3):
            ask(door, [("cookie", cookie), ("origin", HERE)], method="DELETE", path="/api/sign-in")
        assert len(woken) == 1


@pytest.mark.req("X-06")
def test_a_copy_that_was_renewed_ends_with_its_session(door: Door) -> None:
    old = door.cookie()
    door.clock[0] += LIFE - 1000
    renewed = ask(door, [("cookie", old)]).headers["set-cookie"].partition(";")[0]
    assert renewed != old
    ask(door, [("cookie", old), ("origin", HERE)], method="DELETE", path="/api/sign-in")
    for later in (0, 2000, LIFE - 4000):
        door.clock[0] += later
        # Whoever else signs out makes room for what need not be known any more.
        ask(door, [("cookie", door.cookie()), ("origin", HERE)], method="DELETE", path="/api/sign-in")
        assert ask(door, [("cookie", renewed)]).status == 401
