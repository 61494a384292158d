"""Which tools an agent may use, and under which names it knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from forge.json_value import Json


@dataclass(frozen=True, slots=True)
class ToolAccess:
    """An allowlist: no name, no tool."""

    names: frozenset[str] = frozenset()
    """The tools' own names."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Another name and the tool's own; the model is shown the other one, and may call it by both."""

    own: bool = False
    """Whether tools of the repository that a person approved may be used, too, whatever their names."""

    def allows(self, name: str) -> bool:
        return self.meant(name) in self.names

    def meant(self, name: str) -> str:
        """The tool's own name."""
        return next((own for alias, own in self.aliases if alias == name), name)

    def shown(self, name: str) -> str:
        return next((alias for alias, own in self.aliases if own == name), name)

    def to_json(self) -> Json:
        return {"names": sorted(self.names), "aliases": dict(self.aliases), "own": self.own}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        return cls(frozenset(data["names"]), tuple(data["aliases"].items()), data["own"])
