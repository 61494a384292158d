"""What Forge itself has to know of a project, as `project.json` keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from forge.projects import fields
from forge.projects.status import ACTIVE, Phase

FILE = "project.json"


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    id: str
    created_at: str
    repository: str | None = None
    """Where the code repository is."""
    branch: str | None = None
    """The branch that is built on."""
    baseline: str | None = None
    """The commit that the build branch started from."""
    archived: bool = False
    halted_in: Phase | None = None
    """The phase to go back to when a halted project is resumed."""
    locked: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Blob ids of documents as a person confirmed them, by path."""
    last_action: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Values of other versions of Forge, kept as they are."""

    def to_json(self) -> str:
        values = {name: getattr(self, name) for name in _NAMES}
        values |= {"locked": dict(self.locked), "last_action": dict(self.last_action) if self.last_action else None}
        return fields.dumped(values | dict(self.extra))

    @classmethod
    def from_json(cls, text: str) -> ProjectInfo:
        values = fields.loaded_object(text, FILE)
        return cls(
            id=fields.text_of(values, "id", FILE),
            created_at=fields.text_of(values, "created_at", FILE),
            repository=fields.optional_text(values, "repository", FILE),
            branch=fields.optional_text(values, "branch", FILE),
            baseline=fields.optional_text(values, "baseline", FILE),
            archived=fields.flag_of(values, "archived", FILE),
            halted_in=_phase(values),
            locked=_locked(values),
            last_action=_last_action(values),
            extra={key: value for key, value in values.items() if key not in _NAMES},
        )


_NAMES = tuple(name for name in ProjectInfo.__slots__ if name != "extra")


def _phase(values: Mapping[str, Any]) -> Phase | None:
    value = fields.optional_text(values, "halted_in", FILE)
    if value is not None and value not in ACTIVE:
        raise fields.invalid(FILE, "halted_in", f"null or one of {', '.join(sorted(ACTIVE))}")
    return Phase(value) if value else None


def _locked(values: Mapping[str, Any]) -> Mapping[str, str]:
    value = values.get("locked", {})
    if not isinstance(value, dict) or not all(isinstance(blob, str) for blob in value.values()):
        raise fields.invalid(FILE, "locked", "blob ids by path")
    return value


def _last_action(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    value = values.get("last_action")
    if value is not None and not isinstance(value, dict):
        raise fields.invalid(FILE, "last_action", "an object or null")
    return value
