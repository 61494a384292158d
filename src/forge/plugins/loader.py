"""Finds plugins, loads each by itself, and joins what they offer. One that fails is named; the rest works."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, TypeVar

from forge.errors import ForgeError
from forge.plugins.offer_check import misfits
from forge.plugins.roles import (
    Board,
    Channel,
    Connector,
    DeliverableType,
    Offer,
    OfferedPrompt,
    OfferedTools,
    ToolContext,
)
from forge.tools.tool import Tool

GROUP = "forge.plugins"
_BUILTIN = ("forge", "forge.builtin")
"""The name and the module of what comes with Forge."""

_LONG = 6
_PARTS = ("deliverables", "prompts", "tools", "connectors", "channels", "boards")
_log = logging.getLogger(__name__)

T = TypeVar("T")
Make = Callable[[Mapping[str, Any]], T]


class Section(Protocol):
    """The settings of one connector, channel or board."""

    @property
    def enabled(self) -> bool: ...

    def values(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Plugins:
    """Everything that was found, by name, and what could not be used."""

    deliverables: Mapping[str, DeliverableType] = field(default_factory=dict)
    prompts: Mapping[str, OfferedPrompt] = field(default_factory=dict)
    tools: Mapping[str, OfferedTools] = field(default_factory=dict)
    """By the name of each tool."""
    connectors: Mapping[str, Make[Connector]] = field(default_factory=dict)
    channels: Mapping[str, Make[Channel]] = field(default_factory=dict)
    boards: Mapping[str, Make[Board]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """One sentence for each plugin, or part of one, that cannot be used."""
    loaded: tuple[str, ...] = ()
    brought: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each plugin brings and is used, as in `prompts: checklist-build`."""

    def tools_for(self, role: str) -> frozenset[str]:
        return frozenset(name for name, offered in self.tools.items() if role in offered.roles)

    def made_tools(self, context: ToolContext) -> tuple[Tool, ...]:
        """Those that agents of this role may use. A plugin that fails here has no tools in this turn."""
        wanted = self.tools_for(context.role)
        found: list[Tool] = []
        for offered in dict.fromkeys(self.tools[name] for name in wanted):
            try:
                made = [(tool, tool.get_schema()["name"]) for tool in offered.make(context)]
            except Exception:  # noqa: BLE001 - as with loading: strangers' code
                _log.exception("The tools %s could not be made.", ", ".join(offered.names))
                continue
            found += [tool for tool, name in made if name in wanted and self.tools[name] is offered]
        return tuple(found)

    def made_connectors(self, sections: Mapping[str, Section]) -> tuple[Connector, ...]:
        """Those that are enabled and can be used."""
        return tuple(made for _, made in _made(self.connectors, sections))

    def made_channels(self, sections: Mapping[str, Section]) -> tuple[tuple[str, Channel], ...]:
        return tuple(_made(self.channels, sections))

    def made_boards(self, sections: Mapping[str, Section]) -> tuple[tuple[str, Board], ...]:
        return tuple(_made(self.boards, sections))

    def faults(
        self,
        *,
        connectors: Mapping[str, Section] | None = None,
        channels: Mapping[str, Section] | None = None,
        boards: Mapping[str, Section] | None = None,
    ) -> tuple[str, ...]:
        """What is enabled and cannot be used, each with the reason."""
        return (
            *_faults("connector", self.connectors, connectors or {}),
            *_faults("notification channel", self.channels, channels or {}),
            *_faults("board", self.boards, boards or {}),
        )


def load_plugins(directory: Path | None = None, *, installed: Iterable[EntryPoint] | None = None) -> Plugins:
    """Installed plugins, those that come with Forge first, then the files and packages in the person's `directory`."""
    found = entry_points(group=GROUP) if installed is None else installed
    joined = _Joined()
    for point in sorted(found, key=lambda each: (not _is_builtin(each), each.name, each.value)):
        source = f"{point.name} ({point.value})"
        joined.add(point.name, source, partial(_installed_offer, point))
    for path in _own(directory, joined.problems):
        joined.add(path.stem, str(path), partial(_own_offer, path))
    return Plugins(
        **joined.parts,
        problems=tuple(joined.problems),
        loaded=tuple(joined.loaded),
        brought={name: tuple(parts) for name, parts in joined.brought.items()},
    )


class _Joined:
    """What was offered so far. Whoever came first keeps a name."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
        self.brought: dict[str, list[str]] = {}
        self.problems: list[str] = []
        self.loaded: list[str] = []
        self._from: dict[tuple[str, str], str] = {}

    def add(self, name: str, source: str, offered: Callable[[], object]) -> None:
        try:
            offer = offered()
            wrong = list(misfits(offer))
        except (Exception, SystemExit) as e:  # noqa: BLE001 - a stranger's code may fail in any way, and must not stop us
            self.problems.append(f"The plugin {source} cannot be loaded: {_told(e)}.")
            return
        if wrong or not isinstance(offer, Offer):
            self.problems.append(f"The plugin {source} cannot be used: {'; '.join(wrong)}.")
            return
        self.loaded.append(name)
        brought = self.brought.setdefault(name, [])
        for part, key, value in _listed(offer):
            if self._take(part, key, value, source):
                brought.append(f"{part}: {key}")

    def _take(self, part: str, key: str, value: object, source: str) -> bool:
        first = self._from.setdefault((part, key), source)
        if first == source and key not in self.parts[part]:
            self.parts[part][key] = value
            return True
        self.problems.append(
            f"The plugin {source} brings `{key}` ({part}), which {first} brings already; it is left out."
        )
        return False


def _listed(offer: Offer) -> Iterator[tuple[str, str, object]]:
    yield from (("deliverables", type_.name, type_) for type_ in offer.deliverables)
    yield from (("prompts", prompt.name, prompt) for prompt in offer.prompts)
    yield from (("tools", name, tools) for tools in offer.tools for name in tools.names)
    for part in ("connectors", "channels", "boards"):
        yield from ((part, name, make) for name, make in (getattr(offer, part) or {}).items())


def _installed_offer(point: EntryPoint) -> object:
    return _called(point.load())


def _own_offer(path: Path) -> object:
    return _called(getattr(_module(path), "offer", None))


def _called(function: object) -> object:
    if not callable(function):
        raise TypeError("there is no function `offer()`")
    return function()


def _is_builtin(point: EntryPoint) -> bool:
    return (point.name, point.module) == _BUILTIN


def _own(directory: Path | None, problems: list[str]) -> list[Path]:
    """Single files and packages; what starts with `_` or `.` is not a plugin."""
    if directory is None:
        return []
    try:
        entries = sorted(directory.iterdir())
    except FileNotFoundError:
        return []
    except OSError as e:
        problems.append(f"The plugins in {directory} cannot be read: {e.strerror}.")
        return []
    plain = (path for path in entries if not path.name.startswith(("_", ".")))
    return [path for path in plain if path.suffix == ".py" or (path / "__init__.py").is_file()]


def _module(path: Path) -> Any:
    """The module of a person's own plugin, under a name that no installed one has."""
    name = f"forge_own_plugins_{path.stem}"
    package = path / "__init__.py"
    is_package = package.is_file()
    spec = importlib.util.spec_from_file_location(
        name, package if is_package else path, submodule_search_locations=[str(path)] if is_package else None
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _made(offered: Mapping[str, Make[T]], sections: Mapping[str, Section]) -> Iterator[tuple[str, T]]:
    for name, outcome in _tried(offered, sections):
        if not isinstance(outcome, _Failed):
            yield name, outcome


def _faults(kind: str, offered: Mapping[str, Make[Any]], sections: Mapping[str, Section]) -> Iterator[str]:
    for name, section in sections.items():
        if section.enabled and name not in offered:
            yield f"No plugin brings the {kind} '{name}', which is enabled."
    for name, outcome in _tried(offered, sections):
        if isinstance(outcome, _Failed):
            yield f"The {kind} '{name}' cannot be used: {outcome.reason}."


@dataclass(frozen=True, slots=True)
class _Failed:
    reason: str


def _tried(offered: Mapping[str, Make[T]], sections: Mapping[str, Section]) -> Iterator[tuple[str, T | _Failed]]:
    for name, section in sections.items():
        if section.enabled and name in offered:
            values = section.values()
            outcome: T | _Failed
            try:
                outcome = offered[name](values)
            except Exception as e:  # noqa: BLE001 - as with loading: strangers' code
                outcome = _Failed(_without(_told(e), values))
            yield name, outcome


def _without(text: str, values: Mapping[str, Any]) -> str:
    """A reason without what it may quote of the settings: some of them are secret."""
    for value in values.values():
        if isinstance(value, str) and len(value) >= _LONG:
            text = text.replace(value, "…")
    return text


def _told(error: BaseException) -> str:
    if isinstance(error, ForgeError):
        return error.message.rstrip(".")
    text = str(error).strip().rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
