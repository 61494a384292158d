"""Channels: what they say on the wire, what their settings must hold, and what a failure tells."""

from __future__ import annotations

import asyncio
import io
import logging
import socket
from dataclasses import asdict
from typing import Any

import pytest

from forge.notices.channels import CHANNELS, AppriseChannel
from forge.notices.errors import ChannelInvalid, NotDelivered
from forge.plugins.roles import Notice
from tests.support.notice_server import NTFY_REFUSED, TELEGRAM_REFUSED, Loopback

# The library imports a module of the standard library that is on its way out, to see whether it is there.
pytestmark = [pytest.mark.req("P-18"), pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")]

TOKEN = "123456789:AAFakeTokenFakeTokenFakeTokenFakeTok"
LINE = "0 critical, 1 medium, 3 minor. (polishing, convergence_success, 20261115-ab12)"


def send(name: str, notice: Notice, **settings: Any) -> None:
    asyncio.run(CHANNELS[name](settings).send(notice))


def test_ntfy_is_told_topic_title_and_line(server: Loopback, notice: Notice) -> None:
    send("ntfy", notice, url=server.url, topic="my-topic")
    (told,) = server.told
    assert (told.path, told.authorization) == ("/", None)
    assert told.body == {"topic": "my-topic", "title": "Wedding Plan: converged", "message": LINE}
    said = f"{told.body['title']} {told.body['message']}"
    assert all(value in said for value in asdict(notice).values()), "all five fields"


def test_ntfy_takes_the_topic_from_the_address_too(server: Loopback, notice: Notice) -> None:
    send("ntfy", notice, url=f"{server.url}/from-path")
    assert server.told[0].body["topic"] == "from-path"


def test_ntfy_proves_who_it_is_by_token_or_password(server: Loopback, notice: Notice) -> None:
    send("ntfy", notice, url=server.url, topic="t", token="tk_planted0secret1")
    send("ntfy", notice, url=server.url.replace("//", "//ada:s%2Fcret%21word@"), topic="t")
    assert [told.authorization for told in server.told] == [
        "Bearer tk_planted0secret1",
        "Basic YWRhOnMvY3JldCF3b3Jk",
    ]


def test_telegram_is_told_chat_and_text(server: Loopback, notice: Notice) -> None:
    send("telegram", notice, url=server.url, bot_token=TOKEN, chat_id="-10042")
    (told,) = server.told
    assert told.path == f"/bot{TOKEN}/sendMessage"
    assert told.body["chat_id"] == -10042
    assert "Wedding Plan: converged" in told.body["text"]
    assert LINE in told.body["text"]


def test_telegram_goes_to_telegram_by_itself() -> None:
    from apprise import AppriseAsset  # noqa: PLC0415

    channel: Any = CHANNELS["telegram"]({"bot_token": TOKEN, "chat_id": 42})
    assert channel.make(AppriseAsset()).notify_url == "https://api.telegram.org/bot"


def test_markup_in_a_summary_stays_text(server: Loopback, notice: Notice) -> None:
    odd = Notice(notice.project_id, "<b>bold</b>", "building", "error", "a < b & c *d* _e_")
    send("telegram", odd, url=server.url, bot_token=TOKEN, chat_id="42")
    assert "&lt;b&gt;bold" in server.told[0].body["text"]
    send("ntfy", odd, url=server.url, topic="t")
    assert server.told[1].body["message"].startswith("a < b & c *d* _e_")


def test_any_address_that_the_library_knows_works(server: Loopback, notice: Notice) -> None:
    send("apprise", notice, url=server.url.replace("http://", "json://") + "/hook?secret=planted0secret1")
    (told,) = server.told
    assert (told.path.partition("?")[0], told.body["title"]) == ("/hook", "Wedding Plan: converged")


@pytest.mark.parametrize(
    ("name", "settings", "answer", "reason"),
    [
        ("ntfy", {"topic": "t", "token": TOKEN}, (403, NTFY_REFUSED), "forbidden"),
        ("ntfy", {"topic": "t"}, (500, {}), "500"),
        ("telegram", {"bot_token": TOKEN, "chat_id": "42"}, (403, TELEGRAM_REFUSED), "bot was blocked by the user"),
    ],
)
def test_a_refusal_says_why_and_by_whom(
    server: Loopback, notice: Notice, name: str, settings: dict[str, Any], answer: Any, reason: str
) -> None:
    server.answers.append(answer)
    with pytest.raises(NotDelivered, match=reason) as caught:
        send(name, notice, url=server.url, **settings)
    assert caught.value.message.startswith(name)
    assert "forge notify test" in caught.value.hint


def test_a_server_that_is_not_there_is_named(notice: Notice) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(NotDelivered, match=f"127.0.0.1:{port}"):
        send("ntfy", notice, url=f"http://127.0.0.1:{port}", topic="t")


def test_an_address_of_no_known_service_is_said_so(notice: Notice) -> None:
    with pytest.raises(NotDelivered, match="not one that a service understands") as caught:
        send("apprise", notice, url="nosuchservice://planted0secret1/planted0secret2")
    assert "planted0" not in str(caught.value)


def test_a_service_that_breaks_is_heard_of_at_once(notice: Notice) -> None:
    def broken(asset: object) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(asyncio.wait_for(AppriseChannel("broken", broken).send(notice), 10))


@pytest.mark.req("X-06")
def test_a_token_is_in_no_error_no_log_and_no_representation(
    server: Loopback, notice: Notice, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(log)])
    server.answers.append((403, {"ok": False, "description": f"no bot {TOKEN} here"}))
    channel = CHANNELS["telegram"]({"url": server.url, "bot_token": TOKEN, "chat_id": "42"})
    with pytest.raises(NotDelivered) as caught:
        asyncio.run(channel.send(notice))
    said = "".join([str(caught.value), repr(channel), log.getvalue(), *capfd.readouterr()])
    assert "AAFake" not in said
    assert "redacted" in said


@pytest.mark.req("P-17")
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ntfy", {"topic": "t"}, "Notification channel 'ntfy' is enabled but has no URL configured."),
        ("ntfy", {"url": " ", "topic": "t"}, "Notification channel 'ntfy' is enabled but has no URL configured."),
        ("apprise", {}, "Notification channel 'apprise' is enabled but has no URL configured."),
        ("ntfy", {"url": "ntfy.sh", "topic": "t"}, "Notification channel 'ntfy' URL is malformed: ntfy.sh."),
        ("ntfy", {"url": "https://", "topic": "t"}, "Notification channel 'ntfy' URL is malformed: https://."),
        ("ntfy", {"url": "ftp://h", "topic": "t"}, "Notification channel 'ntfy' URL is malformed: ftp://h."),
        (
            "ntfy",
            {"url": "http://h:99999", "topic": "t"},
            "Notification channel 'ntfy' URL is malformed: http://h:99999.",
        ),
        ("ntfy", {"url": "https://ntfy.sh"}, "Notification channel 'ntfy' is enabled but has no topic configured."),
        ("ntfy", {"url": "https://ntfy.sh", "topic": "a b"}, "Notification channel 'ntfy' topic is malformed."),
        ("telegram", {"chat_id": "1"}, "Notification channel 'telegram' is enabled but has no bot_token configured."),
        ("telegram", {"bot_token": TOKEN}, "Notification channel 'telegram' is enabled but has no chat_id configured."),
        ("telegram", {"bot_token": "x", "chat_id": "1"}, "Notification channel 'telegram' bot_token is malformed."),
        ("telegram", {"bot_token": TOKEN, "chat_id": "a b"}, "Notification channel 'telegram' chat_id is malformed."),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ChannelInvalid) as caught:
        CHANNELS[name](settings)
    assert caught.value.message == message
    assert caught.value.code == "channel_invalid"
    assert caught.value.hint


@pytest.mark.req("P-17", "X-06")
@pytest.mark.parametrize(
    ("name", "url", "shown"),
    [
        ("ntfy", "htp://ada:planted0secret1@host/t?auth=planted0secret1", "htp://***@host/t"),
        ("apprise", "hooks.example/planted0secret1/x", "hooks.example/***"),
        ("apprise", "slack:///planted0secret1", "slack:///***"),
    ],
)
def test_a_malformed_address_is_shown_without_what_is_secret(name: str, url: str, shown: str) -> None:
    with pytest.raises(ChannelInvalid) as caught:
        CHANNELS[name]({"url": url, "topic": "t"})
    assert caught.value.message == f"Notification channel '{name}' URL is malformed: {shown}."
