"""Live events over a WebSocket: replayed once, followed, heard only by who may, and never held up by a slow client."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from forge.api import event_socket
from forge.app import events
from forge.app.access.users import Rates
from forge.events import BOARD, Event, ProjectMoved, ProjectSaid, TextStreamed
from forge.store.errors import StoreUnavailable
from forge.store.events import Events
from forge.store.listeners import ROOM
from tests.api.projects import DUMP, at_rest, made
from tests.api.streams import heard, listening, subscribe, tell, until_closed
from tests.support.api_server import House

pytestmark = pytest.mark.req("P-21")
_RECORDED = 20


def test_recorded_events_are_replayed_once_and_then_followed(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    topic = f"project:{project}"
    tell(house, project, "one", "two")
    with listening(house) as socket:
        assert subscribe(socket, topic, 1) == {"topic": topic, "subscribed": True, "after": 1}
        second = heard(socket)
        assert (second["topic"], second["id"], second["event"]["text"]) == (topic, 2, "two")
        assert abs(second["time"] - time.time()) < 60
        house.shop.events.append(topic, TextStreamed("t", "piece"))
        tell(house, project, "three")
        live, third = heard(socket), heard(socket)
        piece = {"type": "TextStreamed", "turn": "t", "text": "piece", "answer": 0, "at": live["event"]["at"]}
        assert live == {"topic": topic, "live": True, "event": piece}
        assert third["id"] == 3
        socket.send(json.dumps({"unsubscribe": topic}))
        socket.send(json.dumps({"subscribe": "board", "after": house.shop.events.last(BOARD)}))
        assert heard(socket)["subscribed"] is True
        tell(house, project, "nobody listens")
        assert subscribe(socket, topic, 3)["topic"] == topic
        assert heard(socket)["id"] == 4


def test_topics_of_the_address_are_heard_at_once(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    tell(house, project, "one", "two")
    with listening(house, f"?topic=project:{project}&after=1") as socket:
        assert heard(socket)["subscribed"] is True
        assert heard(socket)["id"] == 2


def test_what_cannot_be_subscribed_to_is_told_and_the_stream_goes_on(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    with listening(house) as socket:
        assert subscribe(socket, "project:none")["problem"]["code"] == "project_missing"
        assert subscribe(socket, "branch:none:main")["problem"]["code"] == "repository_missing"
        assert subscribe(socket, "weather")["problem"]["code"] == "topic_unknown"
        for message in ("no json", "[1]", '{"subscribe": 7}', f'{{"subscribe": "project:{project}", "after": -1}}'):
            socket.send(message)
            assert heard(socket)["problem"]["code"] == "subscription_invalid", message
        assert subscribe(socket, f"project:{project}")["subscribed"] is True


def test_a_message_too_long_closes_the_stream_with_its_code(house: House) -> None:
    with listening(house) as socket:
        socket.send("x" * 5000)
        with pytest.raises(ConnectionClosed) as closed:
            heard(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == event_socket.TOO_BIG


@pytest.mark.req("X-06")
def test_nobody_hears_what_is_not_theirs(house: House, client: httpx.Client) -> None:
    ada, bo = house.user("ada"), house.user("bo")
    with house.client(ada) as hers:
        project = made(hers)["id"]
        with listening(house, "?topic=board", ada) as mine, listening(house, "?topic=all", bo) as other:
            assert heard(mine)["subscribed"]
            assert heard(other)["subscribed"]
            assert subscribe(other, f"project:{project}")["problem"]["code"] == "project_missing"
            hers.post(f"/api/projects/{project}/messages", json={"text": DUMP})
            hers.post(f"/api/projects/{project}/actions/distill")
            at_rest(hers, project)
            told = [heard(mine)["event"] for _ in range(2)]
            assert [event["type"] for event in told] == ["ProjectChanged", "ProjectMoved"]
            assert {event["project"] for event in told} == {project}
            with pytest.raises(TimeoutError):
                heard(other, 0.3)
        board = hers.get("/api/events", params={"topic": "board"}).json()
        assert {each["event"]["project"] for each in board["items"]} == {project}
    with house.client(bo) as his:
        assert his.get("/api/events", params={"topic": "all"}).json()["items"] == []


@pytest.mark.req("X-06")
def test_who_may_see_a_project_hears_what_happens_to_it_as_a_whole(house: House) -> None:
    ada, bo = house.user("ada-2"), house.user("bo-2")
    with house.client(ada) as hers, house.client(bo) as his:
        query = f"?topic=board&after={house.shop.events.last(BOARD)}"
        boards = [listening(house, query, key) for key in (None, ada, bo)]
        with boards[0] as all_, boards[1] as mine, boards[2] as other:
            assert all(heard(each)["subscribed"] for each in (all_, mine, other))
            made = hers.post("/api/projects", json={"name": "Party"}).json()
            address = f"/api/projects/{made['id']}"
            hers.patch(address, json={"name": "Garden party"})
            hers.patch(address, json={"archived": True})
            hers.patch(address, json={"archived": False})
            names = ["Party", *["Garden party"] * 3]
            told = [
                {"type": "ProjectChanged", "project": made["id"], "what": what, "name": name}
                for what, name in zip(("created", "renamed", "archived", "unarchived"), names, strict=True)
            ]
            assert [heard(mine)["event"] for _ in told] == told
            assert hers.put(f"{address}/shares/bo-2", json={"right": "read"}).status_code == 204
            hers.patch(address, json={"name": "For two"})
            assert heard(other)["event"]["name"] == "For two", "it was shared only then"
            directory = Path(made["directory"]).name
            assert hers.delete(address, params={"confirm": directory}).status_code == 200
            assert [heard(all_)["event"] for _ in told] == told
            assert [heard(all_)["event"][fact] for fact in ("name", "what")] == ["For two", "deleted"]
        assert his.get("/api/events", params={"topic": f"project:{made['id']}"}).status_code == 404


@pytest.mark.req("X-06")
def test_a_stream_needs_a_key_and_no_foreign_page_opens_one(house: House) -> None:
    address = f"ws://127.0.0.1:{house.port}/api/stream"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, proxy=None)
    assert refused.value.response.status_code == 401
    token = house.token()
    with house.client("") as browser:
        browser.get("/", params={"token": token})
        cookie = f"{house.gate.cookie_name}={browser.cookies[house.gate.cookie_name]}"
    with pytest.raises(InvalidStatus) as foreign:
        connect(address, proxy=None, additional_headers={"Cookie": cookie}, origin="http://evil.example")  # type: ignore[arg-type]
    assert foreign.value.response.status_code == 403
    with connect(address, proxy=None, additional_headers={"Cookie": cookie}, origin=house.url) as socket:  # type: ignore[arg-type]
        assert subscribe(socket, "board")["subscribed"] is True


def test_a_heartbeat_comes_and_a_revoked_key_is_shut_out(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_socket, "HEARTBEAT", 0.05)
    key = house.user("shortly")
    with listening(house, key=key) as socket:
        assert heard(socket) == {"ping": 1}
        (id_,) = [each["id"] for each in client.get("/api/keys", params={"user": "shortly"}).json()["keys"]]
        client.post(f"/api/keys/{id_}/revoke")
        with pytest.raises(ConnectionClosed) as closed:
            until_closed(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == event_socket.POLICY


def test_after_many_reconnects_every_event_was_heard_once_and_in_order(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    topic, known, last = f"project:{project}", [], 0
    for number in range(20):
        # Some are told while nobody listens, some while somebody does.
        tell(house, project, f"{number} away")
        with listening(house) as socket:
            subscribe(socket, topic, last)
            tell(house, project, f"{number} here", f"{number} here too")
            for _ in range(1 + number % 3):
                item = heard(socket)
                last = item["id"]
                known.append((item["id"], item["event"]["text"]))
    rest = client.get("/api/events", params={"topic": topic, "after": last}).json()
    known += [(each["id"], each["event"]["text"]) for each in rest["items"]]
    expected = [f"{number} {what}" for number in range(20) for what in ("away", "here", "here too")]
    assert known == list(enumerate(expected, 1))
    assert rest["next"] == len(expected)


def test_a_slow_client_misses_only_live_pieces_and_holds_up_nobody(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    topic, count = f"project:{project}", 2 * ROOM
    long = "x" * 60_000
    with listening(house, max_queue=1) as slow, listening(house) as quick:
        subscribe(slow, topic)
        subscribe(quick, topic)
        began = time.monotonic()
        for number in range(count):
            # The first ones fill what the network holds; then its queue, then its inbox.
            text = long if number < 150 else str(number)
            house.shop.events.publish(topic, TextStreamed("t", text))
            if number % _RECORDED == 0:
                house.shop.events.publish(topic, ProjectSaid(project, "ai", text))
        house.call(house.shop.events.flush())
        ids: list[int] = []
        while len(ids) < count // _RECORDED:
            item = heard(quick)
            ids += [item["id"]] if "id" in item else []
        assert ids == list(range(1, count // _RECORDED + 1))
        assert time.monotonic() - began < 60
        late: list[int] = []
        live = 0
        while len(late) < count // _RECORDED:
            item = heard(slow)
            late += [item["id"]] if "id" in item else []
            live += "live" in item
        assert late == ids
        assert live < count


def _open(house: House) -> int:
    return len(house.gate._waking)


def test_clients_that_come_and_go_leave_nothing_behind(house: House) -> None:
    before = _open(house)
    hello = (
        f"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1:{house.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Authorization: {house.bearer['Authorization']}\r\n\r\n"
    )
    goodbye = bytes.fromhex("8882 00000000 03e8")
    for _ in range(40):
        with create_connection(("127.0.0.1", house.port)) as coming:
            coming.sendall(hello.encode())
            assert coming.recv(1000).startswith(b"HTTP/1.1 101")
            coming.sendall(goodbye)
    deadline = time.monotonic() + 10
    while _open(house) > before:
        assert time.monotonic() < deadline, f"{_open(house)} are open still"
        time.sleep(0.02)


def test_a_topic_goes_on_after_the_database_was_away(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_socket, "_PATIENCE", 0.05)
    project = made(client)["id"]
    tell(house, project, "one", "two")
    real, asked = event_socket.hear, []

    async def failing(shop: Any, topic: Any, after: int) -> Any:
        asked.append(after)
        async for item in real(shop, topic, after):
            yield item
            if len(asked) < 3:
                raise StoreUnavailable("it is away", hint="wait")

    monkeypatch.setattr(event_socket, "hear", failing)
    with listening(house) as socket:
        subscribe(socket, f"project:{project}")
        ids = [heard(socket)["id"] for _ in range(2)]
        tell(house, project, "three")
        ids.append(heard(socket)["id"])
    assert ids == [1, 2, 3]
    assert asked == [0, 1, 2]


def test_a_topic_that_cannot_be_heard_ends_the_connection(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = made(client)["id"]

    async def mistaken(shop: Any, topic: Any, after: int) -> Any:
        raise ZeroDivisionError
        yield

    monkeypatch.setattr(event_socket, "hear", mistaken)
    with listening(house) as socket:
        subscribe(socket, f"project:{project}")
        with pytest.raises(ConnectionClosed):
            until_closed(socket)


def test_bytes_are_refused_with_a_word(house: House) -> None:
    with listening(house) as socket:
        socket.send(b"{}")
        with pytest.raises(ConnectionClosed) as closed:
            until_closed(socket)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1003


@pytest.mark.parametrize("after", ["abc", "-1", "9" * 30, "1.5"])
def test_an_unreadable_id_in_the_address_is_told_as_a_problem(house: House, client: httpx.Client, after: str) -> None:
    topic = f"project:{made(client)['id']}"
    with listening(house, f"?topic={topic}&after={after}") as socket:
        told = heard(socket)
    assert (told["topic"], told["problem"]["code"]) == (topic, "subscription_invalid")


def test_who_knows_events_that_are_not_there_is_told_so(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    tell(house, project, "one")
    with listening(house) as socket:
        told = subscribe(socket, f"project:{project}", 100)
        assert told["problem"]["code"] == "event_unknown"
        last = client.get("/api/events", params={"topic": f"project:{project}"}).json()["next"]
        assert subscribe(socket, f"project:{project}", last)["subscribed"] is True


def test_names_that_are_no_text_are_told_and_stop_nothing(house: House, client: httpx.Client) -> None:
    project, key = made(client)["id"], house.user("odd")
    topic = f"project:{project}"
    with listening(house) as mine, listening(house, key=key) as hers:
        for socket in (mine, hers):
            for name in ("project:\udcff", "branch:0a1b2c3d4e5f:\udcff", "\ud800"):
                assert subscribe(socket, name)["problem"]["code"] == "topic_unknown", ascii(name)
        subscribe(mine, topic)
        tell(house, project, "a file called \udcff")
        assert heard(mine)["event"]["text"] == "a file called \udcff"
    page = client.get("/api/events", params={"topic": topic})
    assert page.status_code == 200
    assert page.json()["items"][0]["event"]["text"] == "a file called \ufffd"


def test_a_topic_that_is_subscribed_to_again_is_heard_once(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    topic = f"project:{project}"
    tell(house, project, "one")
    with listening(house) as socket:
        for _ in range(3):
            assert subscribe(socket, topic)["subscribed"] is True
            assert heard(socket)["id"] == 1
        tell(house, project, "two", "three")
        assert [heard(socket)["id"] for _ in range(2)] == [2, 3]
        with pytest.raises(TimeoutError):
            heard(socket, 0.3)


def test_a_client_hears_so_many_topics_and_no_more(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_socket, "_TOPICS", 2)
    first, second, third = (f"project:{made(client)['id']}" for _ in range(3))
    with listening(house) as socket:
        assert subscribe(socket, first)["subscribed"] is True
        assert subscribe(socket, second)["subscribed"] is True
        assert subscribe(socket, third)["problem"]["code"] == "subscription_invalid"
        assert subscribe(socket, first)["subscribed"] is True, "it is one of them"
        socket.send(json.dumps({"unsubscribe": second}))
        assert subscribe(socket, third)["subscribed"] is True


@pytest.mark.req("X-06")
def test_messages_count_like_requests(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    key = house.user("hasty")
    with listening(house, key=key) as socket, listening(house) as at_the_machine:
        assert subscribe(socket, "board")["subscribed"]
        monkeypatch.setattr(house.gate, "_rates", Rates(per_second=0.001, burst=3))
        told = [subscribe(socket, f"project:{number}")["problem"] for number in range(5)]
        assert [each["code"] for each in told] == ["project_missing"] * 3 + ["rate_limited"] * 2
        assert told[-1]["status"] == 429
        with house.client(key) as client:
            assert client.get("/api/board").status_code == 429
        for _ in range(5):
            assert subscribe(at_the_machine, "project:none")["problem"]["code"] == "project_missing"


@pytest.mark.req("X-06")
def test_the_id_to_go_on_from_tells_nothing_of_what_others_do(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = house.user("nosy")
    with house.client(key) as hers:
        own, other = made(hers)["id"], made(client)["id"]

        def page(after: int, limit: int = 500) -> tuple[list[int], int]:
            told = hers.get("/api/events", params={"topic": "board", "after": after, "limit": limit}).json()
            return [each["id"] for each in told["items"]], told["next"]

        def move(project: str, times: int) -> list[int]:
            return [house.shop.events.append(BOARD, ProjectMoved(project, "a", str(n), None)) for n in range(times)]

        start = house.shop.events.last(BOARD)
        move(other, 30)
        assert page(start) == ([], start)
        first = move(own, 2)
        move(other, 30)
        assert page(start) == (first, first[-1])
        assert page(start, 1) == (first[:1], first[0])
        assert page(first[-1]) == ([], first[-1])
        # A stretch that is longer than what is looked at for one page is passed all the same.
        monkeypatch.setattr(events, "_STRETCH", 4)
        second, at, asked = move(own, 1), first[-1], 0
        while not (found := page(at, 2))[0]:
            assert found[1] > at
            at, asked = found[1], asked + 1
        assert found == (second, second[0])
        assert asked == 1


@dataclass(frozen=True, slots=True)
class GardenWatered(Event):
    """Of a newer Forge."""

    project: str


@pytest.mark.req("X-04")
def test_an_event_that_only_a_newer_command_knows_is_told_as_it_stands(house: House, client: httpx.Client) -> None:
    project = made(client)["id"]
    topic, newer = f"project:{project}", Events(house.shop.database)
    watered = {"type": "GardenWatered", "project": project}
    tell(house, project, "one")
    with listening(house) as socket:
        subscribe(socket, topic)
        assert heard(socket)["id"] == 1
        newer.append(topic, GardenWatered(project))
        told = heard(socket)
        tell(house, project, "three")
        assert heard(socket)["id"] == 3
    newer.append(BOARD, GardenWatered(project))
    newer.close()
    assert (told["topic"], told["id"], told["event"]) == (topic, 2, watered)
    with listening(house) as again:
        subscribe(again, topic, 1)
        assert [heard(again)["id"] for _ in range(2)] == [2, 3]
    page = client.get("/api/events", params={"topic": topic}).json()
    assert [each["id"] for each in page["items"]] == [1, 2, 3]
    assert page["items"][1]["event"] == watered
    # Whose it is cannot be known: the topics of everybody tell moves only.
    board = client.get("/api/events", params={"topic": "board"}).json()
    assert {each["event"]["type"] for each in board["items"]} <= {"ProjectMoved", "ProjectChanged"}
