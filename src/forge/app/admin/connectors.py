"""Connectors that bring documents from elsewhere: which there are, and whether they can be used."""

from __future__ import annotations

from dataclasses import dataclass

from forge.app.access.identity import Who, require
from forge.app.admin.plugins import plugins_of
from forge.app.process.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ConnectorEntry:
    name: str
    enabled: bool
    usable: bool
    problem: str
    """Why it cannot be used although it is enabled. Never a secret."""


def list_connectors(shop: Workshop, who: Who) -> tuple[ConnectorEntry, ...]:
    """By name: those that a plugin brings, and those that are set."""
    require(who, "read")
    plugins, sections = plugins_of(shop.settings), shop.settings.connectors
    found = []
    for name in sorted({*plugins.connectors, *sections}):
        section = sections.get(name)
        enabled = section is not None and section.enabled
        faults = plugins.faults(connectors={name: section}) if section is not None and enabled else ()
        found.append(ConnectorEntry(name, enabled, enabled and not faults, shop.redactor.text(" ".join(faults))))
    return tuple(found)
