"""The plugins and deliverable types that a person can use, as the faces list them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.access.identity import Who, require
from forge.app.admin.plugins import plugins_of
from forge.plugins.roles import ResultView, Structure, result_view_of, structures_of
from forge.settings import Settings

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop


@dataclass(frozen=True, slots=True)
class DeliverableTypeEntry:
    name: str
    """As an intent names it."""
    title: str
    needs_code: bool
    structures: tuple[Structure, ...]
    result_view: ResultView


@dataclass(frozen=True, slots=True)
class PluginEntry:
    name: str
    brings: tuple[str, ...]
    """What is used of it, as in `prompts: checklist-build`."""


@dataclass(frozen=True, slots=True)
class PluginList:
    plugins: tuple[PluginEntry, ...]
    problems: tuple[str, ...]


def list_plugins(settings: Settings) -> PluginList:
    """In the order in which they were loaded, and what could not be used."""
    found = plugins_of(settings)
    return PluginList(tuple(PluginEntry(name, brings) for name, brings in found.brought.items()), found.problems)


def list_deliverable_types(shop: Workshop, who: Who) -> tuple[DeliverableTypeEntry, ...]:
    require(who, "read")
    return tuple(
        DeliverableTypeEntry(each.name, each.title, each.needs_code, structures_of(each), result_view_of(each))
        for each in plugins_of(shop.settings).deliverables.values()
    )
