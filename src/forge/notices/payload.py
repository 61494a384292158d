"""What a notice says: five fields, one line, no secret; and how it reads on a phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from forge.notices.errors import NoticeInvalid
from forge.plugins.roles import Notice

EVENT_TYPES: Mapping[str, str] = {
    "convergence_success": "converged",
    "guard_triggered": "stopped by a guard",
    "human_needed": "needs you",
    "milestone_complete": "moved on",
    "error": "error",
}
"""Every type of notice, and the words that a person reads for it."""

LONGEST = 300
"""Characters of a summary. Phones cut off more, and a log may have been put into it."""


def notice(
    *,
    project_id: str,
    project_name: str,
    phase: str,
    event_type: str,
    summary: str,
    redact: Callable[[str], str],
) -> Notice:
    """A notice that can be sent. `redact` takes secrets out of what people and agents wrote."""
    if event_type not in EVENT_TYPES:
        known = ", ".join(EVENT_TYPES)
        raise NoticeInvalid(f"there is no notice of type {event_type!r}", hint=f"use one of {known}")
    said = _line(redact(summary))
    if not project_id or not said:
        raise NoticeInvalid("a notice needs a project and a summary", hint="say in one line what happened")
    name = _line(redact(project_name)) or project_id
    return Notice(project_id, name, phase, event_type, said)


def title(notice: Notice) -> str:
    return f"{notice.project_name}: {EVENT_TYPES.get(notice.event_type, notice.event_type)}"


def text(notice: Notice) -> str:
    """The line below the title; together they have all five fields."""
    return f"{notice.summary} ({notice.phase}, {notice.event_type}, {notice.project_id})"


def to_json(notice: Notice) -> dict[str, str]:
    return asdict(notice)


def from_json(value: Mapping[str, Any]) -> Notice:
    try:
        fields = {name: str(value[name]) for name in Notice.__dataclass_fields__}
    except KeyError as error:
        raise NoticeInvalid(f"a notice without {error}", hint="it was written by another version of Forge") from error
    return Notice(**fields)


def _line(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= LONGEST else one[: LONGEST - 1].rstrip() + "…"
