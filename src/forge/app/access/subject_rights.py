"""Permissions on a subject: those on the repository or project that it is part of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forge.app.access import identity
from forge.app.access.identity import Shop, Who
from forge.subjects import Subject, SubjectKind

if TYPE_CHECKING:
    from forge.store.ownership import Kind


def may_see(shop: Shop, who: Who, subject: Subject | None) -> bool:
    """Whatever is part of neither is for the person at this machine alone."""
    if who.is_local:
        return True
    held = _held_by(subject)
    return held is not None and identity.may_see(shop, who, *held)


def require_right(shop: Shop, who: Who, subject: Subject | None, scope: str) -> None:
    """Passes for whoever `may_see` it and, where `scope` is another than `read`, may change it."""
    held = _held_by(subject)
    if held is not None:
        identity.owned(shop, who, *held, scope)


def _held_by(subject: Subject | None) -> tuple[Kind, str] | None:
    match subject:
        case Subject(SubjectKind.PROJECT, id_):
            return "project", id_
        case Subject(SubjectKind.BRANCH) if subject.repository is not None:
            return "repository", subject.repository
        case _:
            return None
