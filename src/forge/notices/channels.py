"""The channels that come with Forge: ntfy, Telegram, and any address that apprise understands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from forge.notices.addresses import configured, malformed, web_address
from forge.notices.apprise_call import MakeService, send
from forge.notices.errors import ChannelInvalid
from forge.plugins.roles import Channel, Notice
from forge.sessions.redaction import Redactor

if TYPE_CHECKING:
    from apprise import AppriseAsset, NotifyBase

Settings = Mapping[str, Any]

_TOPIC = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BOT_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]{8,}")
_CHAT = re.compile(r"-?[0-9]+|@?[A-Za-z][A-Za-z0-9_]+")
_TELEGRAM = "https://api.telegram.org"


@dataclass(frozen=True, slots=True)
class AppriseChannel:
    """A channel whose delivery is apprise's. `secrets` are taken out of every reason it gives."""

    name: str
    make: MakeService
    secrets: tuple[str, ...] = ()

    async def send(self, notice: Notice) -> None:
        await send(self.name, self.make, notice, redact=Redactor(self.secrets).text)

    def __repr__(self) -> str:
        return f"AppriseChannel({self.name!r})"


def ntfy(settings: Settings) -> Channel:
    """`url` of the server, `topic`, and where the server asks for it `token`, or user and password in the URL."""
    url = web_address("ntfy", settings)
    topic = configured("ntfy", settings, "topic", default=url.path.strip("/"))
    if not _TOPIC.fullmatch(topic):
        raise ChannelInvalid(
            "Notification channel 'ntfy' topic is malformed.",
            hint="a topic has up to 64 letters, digits, - and _",
        )
    token = str(settings.get("token") or "")
    user, password = unquote(url.username or ""), unquote(url.password or "")

    def make(asset: AppriseAsset) -> NotifyBase:
        from apprise.plugins.ntfy import NotifyNtfy  # noqa: PLC0415 - slow to import

        access = {"auth": "token", "token": token} if token else {"user": user or None, "password": password or None}
        return NotifyNtfy(  # type: ignore[no-untyped-call]
            asset=asset,
            secure=url.scheme == "https",
            host=url.hostname,
            port=url.port,
            targets=[topic],
            mode="private",
            include_image=False,
            **access,
        )

    return AppriseChannel("ntfy", make, (token, password))


def telegram(settings: Settings) -> Channel:
    """`bot_token` and `chat_id`; `url` only for a Bot API server of one's own."""
    url = web_address("telegram", settings, default=_TELEGRAM)
    token = configured("telegram", settings, "bot_token").removeprefix("bot")
    chat = configured("telegram", settings, "chat_id")
    if not _BOT_TOKEN.fullmatch(token) or not _CHAT.fullmatch(chat):
        wrong = "chat_id" if _BOT_TOKEN.fullmatch(token) else "bot_token"
        raise ChannelInvalid(
            f"Notification channel 'telegram' {wrong} is malformed.",
            hint="a token looks like 123456789:ABC…, a chat like 123456789, -100123 or @name",
        )

    def make(asset: AppriseAsset) -> NotifyBase:
        from apprise.plugins.telegram import NotifyTelegram  # noqa: PLC0415 - slow to import

        service: Any = NotifyTelegram(  # type: ignore[no-untyped-call]
            asset=asset, bot_token=token, targets=[chat], detect_owner=False
        )
        service.notify_url = f"{url.geturl().rstrip('/')}/bot"
        return cast("NotifyBase", service)

    return AppriseChannel("telegram", make, (token, token.partition(":")[2]))


def any_address(settings: Settings) -> Channel:
    """`url`: any address that apprise understands, as in `slack://…` or `mailto://…`. It may hold secrets anywhere."""
    url = configured("apprise", settings, "url", shown_as="URL")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#][^\s]*", url):
        raise malformed("apprise", url, keep_path=False)

    def make(asset: AppriseAsset) -> NotifyBase | None:
        from apprise import Apprise  # noqa: PLC0415 - slow to import

        return Apprise.instantiate(url, asset=asset)

    secrets = {part for part in re.split(r"[/@:?&=]", url.partition("://")[2]) if len(part) >= 8}
    return AppriseChannel("apprise", make, (url, *sorted(secrets)))


CHANNELS: Mapping[str, Callable[[Settings], Channel]] = {"ntfy": ntfy, "telegram": telegram, "apprise": any_address}
