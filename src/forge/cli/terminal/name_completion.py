"""Names that only a process can know, asked for in the middle of typing. Where there are none, none is proposed."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from forge.errors import ForgeError

_TAGS = "refs/tags/"


class Words(StrEnum):
    BRANCHES = "branches"
    REVISIONS = "revisions"
    PATHS = "paths"
    PROJECTS = "projects"
    SETTINGS = "settings"
    PROMPTS = "prompts"


def proposed(words: Words, directory: Path, *, begun: str = "", at: str | None = None) -> list[str]:
    """`begun` is the word so far, and `at` the branch or commit that was named; only paths need them."""
    asked: dict[Words, Callable[[], list[str]]] = {
        Words.BRANCHES: lambda: _branches(directory),
        Words.REVISIONS: lambda: _revisions(directory),
        Words.PATHS: lambda: _paths(directory, begun, at),
        Words.PROJECTS: _projects,
        Words.SETTINGS: _settings,
        Words.PROMPTS: _prompts,
    }
    with suppress(ForgeError, OSError):  # outside of a repository, or with settings that cannot be read
        return asked[words]()
    return []


def _branches(directory: Path) -> list[str]:
    from forge.app.repositories.catalog import Repository  # noqa: PLC0415 - each of these loads what it needs and no more

    return [name for name, _ in Repository.open(directory).refs.branches()]


def _revisions(directory: Path) -> list[str]:
    from forge.app.repositories.catalog import Repository  # noqa: PLC0415

    refs = Repository.open(directory).refs
    return [name for name, _ in refs.branches()] + [name.removeprefix(_TAGS) for name, _ in refs.under(_TAGS)]


def _paths(directory: Path, begun: str, at: str | None) -> list[str]:
    """Those of one folder: a large repository has too many to print them all at each key."""
    from forge.app.repositories import files  # noqa: PLC0415
    from forge.app.repositories.catalog import Repository  # noqa: PLC0415

    folder = begun.rpartition("/")[0]
    found = files.looked_at(Repository.open(directory), None, at).list_dir(folder)
    names = [f"{entry.name}/" if entry.kind == "directory" else entry.name for entry in found]
    return [f"{folder}/{name}" if folder else name for name in names]


def _projects() -> list[str]:
    from forge.app.admin.settings import load_settings  # noqa: PLC0415

    places = sorted(os.scandir(load_settings(None, os.environ).workspace / "projects"), key=lambda each: each.name)
    return [place.name for place in places if place.is_dir() and not place.name.startswith(".")]


def _settings() -> list[str]:
    from forge.app.admin.settings import load_settings  # noqa: PLC0415
    from forge.settings.catalog import listed  # noqa: PLC0415

    return [each.name for each in listed(load_settings(None, os.environ))]


def _prompts() -> list[str]:
    from forge.app.admin.prompts import prompts  # noqa: PLC0415
    from forge.app.admin.settings import load_settings  # noqa: PLC0415

    return [each.name for each in prompts(load_settings(None, os.environ)).list()]
