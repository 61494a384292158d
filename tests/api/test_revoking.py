"""What is taken away is gone at once: keys, users, sessions and shares, for requests and for streams that are open."""

from __future__ import annotations

import json
import time

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from forge.api import event_socket
from forge.app.access.identity import LOCAL, Who, audited, unshare
from forge.app.access.signin_audit import Entries
from forge.app.events import Topic, topic_for
from forge.app.process.workshop import Workshop
from tests.api.projects import code, made
from tests.api.streams import heard, listening, subscribe, tell, until_closed
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-06", "C-10")
_SOON = 5.0
"""Less than a heartbeat: what comes within it was not found out by one."""


def key_of(client: httpx.Client, user: str) -> str:
    (id_,) = [each["id"] for each in client.get("/api/keys", params={"user": user}).json()["keys"]]
    return str(id_)


def soon_closed(socket: ClientConnection) -> None:
    while True:
        assert "ping" not in heard(socket, _SOON)


def close_code(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        soon_closed(socket)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def actions(client: httpx.Client, user: str | None = None) -> list[str]:
    asked = {"limit": "1000", **({"user": user} if user else {})}
    return [each["action"] for each in client.get("/api/audit", params=asked).json()["items"]]


def test_a_revoked_key_opens_nothing_from_the_next_request_on(house: House, client: httpx.Client) -> None:
    assert _SOON < event_socket.HEARTBEAT
    key, other = house.user("ada"), house.user("bo")
    with house.client(key) as hers, listening(house, key=key) as socket, listening(house, key=other) as staying:
        assert hers.get("/api/board").status_code == 200
        assert subscribe(socket, "board")["subscribed"]
        assert subscribe(staying, "board")["subscribed"]
        assert client.post(f"/api/keys/{key_of(client, 'ada')}/revoke").status_code == 200
        assert code(hers.get("/api/board")) == (401, "sign_in_needed")
        assert close_code(socket) == event_socket.POLICY
        assert subscribe(staying, "all")["subscribed"]


def test_a_disabled_user_is_out_with_every_key_and_session(house: House, client: httpx.Client) -> None:
    key = house.user("cy")
    with house.client("") as browser, house.client(key) as program:
        assert browser.post("/api/sign-in", json={"token": key}).status_code == 200
        cookie = f"{house.gate.cookie_name}={browser.cookies[house.gate.cookie_name]}"
        address = f"ws://127.0.0.1:{house.port}/api/stream"
        page = connect(address, proxy=None, additional_headers={"Cookie": cookie}, origin=Origin(house.url))
        with page, listening(house, key=key) as socket:
            assert subscribe(page, "board")["subscribed"]
            assert subscribe(socket, "board")["subscribed"]
            assert program.get("/api/sign-in").status_code == 200
            assert client.post("/api/users/cy/disable").status_code == 200
            assert code(program.get("/api/board")) == (401, "sign_in_needed")
            assert code(browser.get("/api/board")) == (401, "sign_in_needed")
            assert close_code(page) == close_code(socket) == event_socket.POLICY


def test_who_signs_out_hears_no_more(house: House) -> None:
    with house.client("") as browser:
        browser.post("/api/sign-in", json={"token": house.token()})
        cookie = f"{house.gate.cookie_name}={browser.cookies[house.gate.cookie_name]}"
        address = f"ws://127.0.0.1:{house.port}/api/stream"
        with connect(address, proxy=None, additional_headers={"Cookie": cookie}, origin=Origin(house.url)) as page:
            assert subscribe(page, "board")["subscribed"]
            assert browser.delete("/api/sign-in", headers={"Origin": house.url}).status_code == 204
            assert close_code(page) == event_socket.POLICY


def test_a_slow_client_is_shut_out_too(house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_socket, "_PATIENCE", 0.1)
    key = house.user("slow")
    with house.client(key) as hers:
        project = made(hers)["id"]
    with listening(house, key=key, max_queue=1) as socket:
        subscribe(socket, f"project:{project}")
        tell(house, project, *("x" * 60_000 for _ in range(300)))
        client.post(f"/api/keys/{key_of(client, 'slow')}/revoke")
        with pytest.raises(ConnectionClosed):
            until_closed(socket)


def test_what_is_shared_no_more_is_heard_no_more(house: House, client: httpx.Client) -> None:
    owner, guest = house.user("dee"), house.user("eve")
    with house.client(owner) as hers:
        project, kept = made(hers)["id"], made(hers)["id"]
        for id_ in (project, kept):
            assert hers.put(f"/api/projects/{id_}/shares/eve", json={"right": "read"}).status_code == 204
        with listening(house, key=guest) as socket:
            assert subscribe(socket, f"project:{project}")["subscribed"]
            assert subscribe(socket, f"project:{kept}")["subscribed"]
            assert hers.delete(f"/api/projects/{project}/shares/eve").status_code == 204
            told = heard(socket, _SOON)
            assert (told["topic"], told["problem"]["code"]) == (f"project:{project}", "project_missing")
            tell(house, project, "not for eve")
            tell(house, kept, "for eve")
            assert heard(socket, _SOON)["event"]["text"] == "for eve"


def test_what_is_unshared_while_it_is_subscribed_to_is_not_heard(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, guest = house.user("kim"), house.user("lee")
    with house.client(owner) as hers, listening(house, key=guest) as socket:
        project = made(hers)["id"]
        hers.put(f"/api/projects/{project}/shares/lee", json={"right": "read"})

        def looked_at(shop: Workshop, who: Who, name: str) -> Topic:
            found = topic_for(shop, who, name)
            # In this very moment; who is woken by it finds nothing to drop yet.
            monkeypatch.setattr(event_socket, "topic_for", topic_for)
            unshare(shop, LOCAL, "project", project, "lee")
            return found

        monkeypatch.setattr(event_socket, "topic_for", looked_at)
        assert subscribe(socket, f"project:{project}")["subscribed"]
        assert heard(socket, _SOON)["problem"]["code"] == "project_missing"


def test_a_deleted_project_leaves_no_owner_and_no_share_behind(house: House, client: httpx.Client) -> None:
    owner, guest = house.user("fay"), house.user("gus")
    with house.client(owner) as hers, house.client(guest) as his:
        project = made(hers, "Gone soon")
        hers.put(f"/api/projects/{project['id']}/shares/gus", json={"right": "write"})
        assert his.get(f"/api/projects/{project['id']}").status_code == 200
        confirm = project["directory"].rpartition("/")[2]
        assert hers.delete(f"/api/projects/{project['id']}", params={"confirm": confirm}).status_code == 200
        workspace = house.shop.settings.workspace
        (back,) = [each for each in (workspace / "deleted").iterdir() if each.name.startswith(confirm)]
        back.rename(workspace / "projects" / confirm)
        assert client.get(f"/api/projects/{project['id']}").status_code == 200, "it is there again"
        for user in (hers, his):
            assert code(user.get(f"/api/projects/{project['id']}")) == (404, "project_missing")
            assert user.get("/api/projects").json()["items"] == []


def test_a_forgotten_repository_leaves_no_owner_and_no_share_behind(house: House, client: httpx.Client) -> None:
    keeper, guest = house.user("hal", ("read", "write", "admin")), house.user("ida")
    path = client.get(f"/api/repositories/{house.repository()}").json()["path"]
    (id_,) = [each["id"] for each in client.get("/api/repositories").json()["repositories"] if each["path"] == path]
    client.delete(f"/api/repositories/{id_}")
    with house.client(keeper) as his, house.client(guest) as hers:
        assert his.post("/api/repositories", json={"path": path}).json()["id"] == id_
        his.put(f"/api/repositories/{id_}/shares/ida", json={"right": "write"})
        assert hers.get(f"/api/repositories/{id_}").status_code == 200
        assert his.delete(f"/api/repositories/{id_}").status_code == 204
        assert client.post("/api/repositories", json={"path": path}).json()["id"] == id_
        for user in (his, hers):
            assert code(user.get(f"/api/repositories/{id_}")) == (404, "repository_missing")


def test_sign_ins_and_refusals_are_in_the_audit(house: House, client: httpx.Client) -> None:
    key = house.user("jo")
    before = len(actions(client, "nobody"))
    with house.client("") as browser:
        browser.post("/api/sign-in", json={"token": "1.nonsense"})
        browser.post("/api/sign-in", json={"token": "2.nonsense"})
        browser.post("/api/sign-in", json={"token": house.token()})
        browser.post("/api/sign-in", json={"token": key}, headers={"Origin": house.url})
    with house.client(key) as hers, house.client(key[:-4] + "none") as stranger:
        for _ in range(3):
            hers.get("/api/board")
            stranger.get("/api/board")
    (user,) = [each["id"] for each in client.get("/api/users").json()["users"] if each["name"] == "jo"]
    assert actions(client, user) == ["key.use", "session.begin"]
    assert "session.begin" in actions(client, "local")
    assert len(actions(client, "nobody")) - before <= 2
    assert set(actions(client, "nobody")) == {"session.refuse", "key.refuse"}
    everything = client.get("/api/audit", params={"limit": 1000}).text
    assert key not in everything
    assert "nonsense" not in everything
    assert "from 127.0.0.1" in everything


def test_refusals_of_what_somebody_may_not_do_are_in_the_audit_once_a_minute(
    house: House, client: httpx.Client
) -> None:
    reader, guest = house.user("mia", ("read",)), house.user("ned")
    project = made(client)["id"]
    address = f"/api/projects/{project}"
    client.put(f"{address}/shares/ned", json={"right": "read"})
    with house.client(reader) as hers, house.client(guest) as his, house.client("") as nobody:
        for _ in range(3):
            assert code(hers.post("/api/projects", json={})) == (403, "scope_missing")
            assert code(hers.get("/api/audit")) == (403, "scope_missing")
            assert code(his.patch(address, json={"name": "Mine"})) == (403, "shared_for_reading")
            assert code(his.get(f"{address}/shares")) == (403, "not_the_owner")
            assert his.get("/api/projects/none").status_code == 404
            assert code(nobody.get("/api/board", headers={"Host": "evil.example"})) == (421, "host_refused")
            assert code(nobody.post("/api/sign-in", json={}, headers={"Origin": "http://evil.example"}))[0] == 403
    deeds = client.get("/api/audit", params={"limit": 1000}).json()["items"]
    ids = {each["id"]: each["name"] for each in client.get("/api/users").json()["users"]}
    refused = [(ids.get(each["user"], each["user"]), each["subject"]) for each in deeds]
    refused = [pair for pair, each in zip(refused, deeds, strict=True) if each["action"] == "request.refuse"]
    assert sorted(refused) == [
        ("mia", "scope_missing"),
        ("ned", "not_the_owner"),
        ("ned", "shared_for_reading"),
        ("nobody", "host_refused"),
        ("nobody", "origin_refused"),
    ]


def test_refusals_of_each_key_are_written_down_though_they_come_from_one_address(house: House) -> None:
    entries = Entries(house.shop)
    who = [Who(f"u_{name}", name, frozenset(), f"k_{name}") for name in ("rae", "sam")]
    for each in who:
        for is_first in (True, False):
            assert entries.refusal_is_due(each, "scope_missing", "192.0.2.3") is is_first
            entries.refused(each, "scope_missing", "192.0.2.3")
        assert [deed.key for deed in audited(house.shop, LOCAL, user=each.id)] == [each.key]


def test_a_key_that_was_revoked_while_its_stream_was_opened_hears_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = house.user("tam")
    monkeypatch.setattr(house.gate, "still_holds", lambda scope: False)
    with listening(house, key=key) as socket:
        assert close_code(socket) == event_socket.POLICY


def test_a_client_that_does_not_even_take_a_ping_is_shut_out_too(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_socket, "HEARTBEAT", 0.05)
    monkeypatch.setattr(event_socket, "_PATIENCE", 0.1)
    key = house.user("una")
    with house.client(key) as hers:
        project = made(hers)["id"]
    with listening(house, key=key, max_queue=1) as socket:
        subscribe(socket, f"project:{project}")
        tell(house, project, *("x" * 60_000 for _ in range(300)))
        time.sleep(1)
        client.post(f"/api/keys/{key_of(client, 'una')}/revoke")
        deadline = time.monotonic() + _SOON
        while house.gate._waking:
            assert time.monotonic() < deadline, "it is served still"
            time.sleep(0.02)


@pytest.mark.req("X-06")
def test_refusals_over_a_socket_are_in_the_audit_like_those_of_requests(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.gate, "_entries", Entries(house.shop))
    deaf, guest = house.user("pat", ("write",)), house.user("quin")
    project = made(client)["id"]
    with house.client("") as browser:
        browser.get("/", params={"token": house.token()})
        cookie = {"Cookie": f"{house.gate.cookie_name}={browser.cookies[house.gate.cookie_name]}"}
    last = client.get("/api/audit", params={"limit": 1}).json()["items"][0]["id"]
    for _ in range(2):
        for headers, status in (
            ({"Authorization": "Bearer fk_nonsense"}, 401),
            ({**cookie, "Origin": "http://evil.example"}, 403),
            ({"Host": "evil.example"}, 421),
        ):
            with pytest.raises(InvalidStatus) as shut:
                connect(f"ws://127.0.0.1:{house.port}/api/stream", proxy=None, additional_headers=headers)
            assert shut.value.response.status_code == status
        with listening(house, key=deaf) as hers, listening(house, key=guest) as his:
            assert subscribe(hers, "board")["problem"]["code"] == "scope_missing"
            assert subscribe(his, f"project:{project}")["problem"]["code"] == "project_missing"
    deeds = [each for each in client.get("/api/audit").json()["items"] if each["id"] > last]
    ids = {each["id"]: each["name"] for each in client.get("/api/users").json()["users"]}
    noted = [(ids.get(each["user"], each["user"]), each["action"], each["subject"]) for each in deeds]
    assert sorted(each for each in noted if each[1].endswith(".refuse")) == [
        ("local", "request.refuse", "origin_refused"),
        ("nobody", "key.refuse", "key"),
        ("nobody", "request.refuse", "host_refused"),
        ("pat", "request.refuse", "scope_missing"),
    ]
    assert "nonsense" not in json.dumps(deeds)


def test_what_is_frequent_is_written_down_once_a_minute(house: House) -> None:
    clock = [0.0]
    entries = Entries(house.shop, now=lambda: clock[0])
    before = len(audited(house.shop, LOCAL, limit=1000, user="nobody"))
    for seconds, lines in ((0, 1), (59, 1), (60, 2), (61, 2)):
        clock[0] = seconds
        entries.key_refused("192.0.2.1")
        assert len(audited(house.shop, LOCAL, limit=1000, user="nobody")) == before + lines
    entries.key_refused("192.0.2.2")
    assert len(audited(house.shop, LOCAL, limit=1000, user="nobody")) == before + 3
