"""What comes with Forge, offered through the same door as a stranger's plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge.deliverables.code import CodeType
from forge.deliverables.plan.plan_type import PlanType
from forge.plugins.roles import Board, Channel, Connector, Offer

Options = Mapping[str, Any]


def offer() -> Offer:
    return Offer(
        deliverables=(PlanType(), CodeType()),
        connectors={"notion": _notion, "google_drive": _google_drive},
        channels={"ntfy": _ntfy, "telegram": _telegram, "apprise": _apprise},
        boards={"kanban": _kanban, "backlog": _backlog, "vibekanban": _vibekanban},
    )


# Each brings a large library with it, which is loaded only where the settings enable it.


def _notion(options: Options) -> Connector:
    from forge.connectors.notion import notion  # noqa: PLC0415

    return notion(options)


def _google_drive(options: Options) -> Connector:
    from forge.connectors.google_drive import google_drive  # noqa: PLC0415

    return google_drive(options)


def _ntfy(options: Options) -> Channel:
    from forge.notices.channels import ntfy  # noqa: PLC0415

    return ntfy(options)


def _telegram(options: Options) -> Channel:
    from forge.notices.channels import telegram  # noqa: PLC0415

    return telegram(options)


def _apprise(options: Options) -> Channel:
    from forge.notices.channels import any_address  # noqa: PLC0415

    return any_address(options)


def _kanban(options: Options) -> Board:
    from forge.boards.cline import cline  # noqa: PLC0415

    return cline(options)


def _backlog(options: Options) -> Board:
    from forge.boards.backlog_md import backlog_md  # noqa: PLC0415

    return backlog_md(options)


def _vibekanban(options: Options) -> Board:
    from forge.boards.vibe_kanban import vibe_kanban  # noqa: PLC0415

    return vibe_kanban(options)
