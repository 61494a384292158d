"""Looks whether everything Forge stands on is in order, and says what to do where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from forge.app.admin.checks import Check, CheckState, Place, failed, machine, models, ok, places, repository, work
from forge.app.admin.settings import load_settings
from forge.app.process.known_secrets import redactor
from forge.app.process.workshop import database_url
from forge.errors import ForgeError
from forge.git import Repository
from forge.git.errors import RepositoryMissing
from forge.sessions.redaction import Redactor
from forge.settings import Settings, load
from forge.store.inspection import Inspection

__all__ = ["Check", "CheckState", "examine"]

Examine = Callable[[Place], Check]

_EVERYWHERE: dict[str, Examine] = {
    "git": machine.git,
    "python": machine.python,
    "sqlite": machine.sqlite,
    "sandbox": machine.confined,
    "chromium": machine.browser,
    "plugins": places.plugins,
    "providers": models.providers,
    "ollama": models.ollama,
    "agents": models.agents,
    "data": places.data,
    "workspace": places.workspace,
    "disk": places.disk,
    "clock": machine.clock,
    "database": work.database,
    "engine": work.engine,
    "workers": work.workers,
    "runs": work.runs,
    "projects": work.projects,
    "notices": work.notices,
    "answers": work.answers,
    "server": places.server,
}
_IN_A_REPOSITORY: dict[str, Examine] = {
    "repository": repository.opened,
    "writing": repository.writing,
    "locks": repository.locks,
    "leftovers": repository.leftovers,
    "turns": repository.turns,
    "branches": repository.branches,
    "conversations": repository.conversations,
}


def examine(
    directory: Path, environ: Mapping[str, str], *, repair: bool = False, online: bool = False
) -> Iterator[Check]:
    """Each check as it is done. With `repair`, what can be mended is; with `online`, providers are asked, too."""
    repo, without = _repository(directory)
    settings, check = _settings(repo, environ)
    known = redactor(settings, environ)
    records = Inspection(database_url(settings))
    place = Place(directory, environ, settings, records, repo, repair=repair, online=online)
    try:
        yield _redacted(known, check or _isolated("settings", places.settings, place))
        for name, look in _EVERYWHERE.items():
            yield _redacted(known, _isolated(name, look, place))
        if repo is None:
            yield _redacted(known, without)
            return
        for name, look in _IN_A_REPOSITORY.items():
            yield _redacted(known, _isolated(name, look, place))
    finally:
        records.close()


def _isolated(name: str, look: Examine, place: Place) -> Check:
    """A check that cannot be made is a finding; the others are made all the same."""
    try:
        return look(place)
    except ForgeError as e:
        return failed(name, e.message, e.hint)
    except OSError as e:
        return failed(name, f"It could not be looked at: {e.strerror or e}.", "Check the disk and who owns its files.")
    except Exception as e:  # noqa: BLE001 - what nobody foresaw is a finding, too
        return failed(name, f"It could not be looked at: {type(e).__name__}: {e}", "Please report this.")


def _repository(directory: Path) -> tuple[Repository | None, Check]:
    try:
        return Repository.open(directory), ok("repository", "")
    except ForgeError as e:
        if isinstance(e, RepositoryMissing) and not (directory / ".git").exists():
            return None, ok("repository", "None here.")
        return None, failed("repository", e.message, e.hint)


def _settings(repo: Repository | None, environ: Mapping[str, str]) -> tuple[Settings, Check | None]:
    """Those in force; where they cannot be used, what is left of them, and why."""
    try:
        return load_settings(repo, environ), None
    except ForgeError as e:
        check = failed("settings", e.message, e.hint or "Correct it; `forge config check` says when it is right.")
    try:
        return load(environ, text=""), check
    except ForgeError:
        return Settings(), check


def _redacted(known: Redactor, check: Check) -> Check:
    return replace(check, detail=known.text(check.detail), hint=known.text(check.hint))
