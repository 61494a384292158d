"""The workspace: a folder of projects, each a directory that people can read, edit and sync."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import overload

from forge.errors import ForgeError
from forge.git.process import disk
from forge.projects import chat, names, state, status
from forge.projects.errors import (
    DeletionUnconfirmed,
    InvalidRecord,
    ProjectAmbiguous,
    ProjectExists,
    ProjectMissing,
)
from forge.projects.files import reported
from forge.projects.info import FILE as INFO_FILE
from forge.projects.info import ProjectInfo
from forge.projects.project import Project
from forge.projects.records import LOCK, Change, Read, Records
from forge.projects.state import SavedState
from forge.projects.status import ProjectStatus

FOLDERS = ("docs", "resources", "artifacts")
_NEW = ".new-"
_ABANDONED = 3600.0


@dataclass(frozen=True)
class Listing(Sequence[Project]):
    """Projects, the one changed last first; and sentences about directories that could not be read."""

    projects: tuple[Project, ...]
    broken: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Project: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Project]: ...
    def __getitem__(self, index: int | slice) -> Project | Sequence[Project]:
        return self.projects[index]

    def __len__(self) -> int:
        return len(self.projects)


class Workspace:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.projects = directory / "projects"

    def create(
        self,
        name: str | None,
        *,
        agent: str = "",
        now: datetime,
        prepare: Change | None = None,
        apart: bool = False,
    ) -> Project:
        """A new project, wholly there or not at all. Without a name its directory is called by its id. What `prepare`
        changes is part of it from the beginning. `apart`: no directory can be in its way, and none can be found out by
        its name.
        """
        typed = names.checked(name or "")
        project_id = names.new_id(now, {project.id for project in self.list(archived=True)})
        place = self.projects / names.directory(typed, project_id, apart=apart)
        if place.exists():
            raise exists(place.name)
        with reported():
            self._sweep()
            made = self.projects / f"{_NEW}{project_id}-{os.getpid()}"
            for folder in FOLDERS:
                (made / folder).mkdir(parents=True)
        try:
            records = Records.init(made, _first_files(project_id, typed, agent, now), f"project: {typed or project_id}")
            if prepare is not None:
                records.update(prepare, "project: set up")
            self._put_in_place(made, place)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return Project.at(place)

    def list(self, *, archived: bool = False) -> Listing:
        """Projects, the one changed last first; archived ones only when asked for."""
        return self._listed(archived=archived, order=lambda project: -project.changed_at())

    def by_id(self, *, archived: bool = False) -> Listing:
        return self._listed(archived=archived, order=lambda project: project.id)

    def _listed(self, *, archived: bool, order: Callable[[Project], float | str]) -> Listing:
        with reported():
            self.projects.mkdir(parents=True, exist_ok=True)
            places = sorted(p for p in self.projects.iterdir() if p.is_dir() and not p.name.startswith("."))
        found: list[tuple[float | str, Project]] = []
        broken: list[str] = []
        for place in places:
            if not _is_project(place):
                continue
            try:
                project, info = Project.read(place)
                if archived or not info.archived:
                    found.append((order(project), project))
            except ForgeError as e:
                broken.append(f"{place.name}: {e.message}")
        found.sort(key=lambda pair: pair[0])
        return Listing(tuple(project for _, project in found), tuple(broken))

    def open(self, which: str) -> Project:
        """The project with this directory name, id or name, or the only one that begins so."""
        wanted = which.strip()
        place = self.projects / wanted
        if wanted == names.slug(wanted) and _is_project(place):
            return Project.at(place)
        projects = self.list(archived=True)
        found = [p for p in projects if wanted == p.id] or [
            p for p in projects if wanted.casefold() == p.name.casefold() or names.slug(wanted) == p.directory.name
        ]
        if wanted and not found:
            found = [p for p in projects if p.directory.name.startswith(wanted) or p.id.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            which_ones = ", ".join(p.directory.name for p in found)
            raise ProjectAmbiguous(f"{which!r} can mean {which_ones}.", hint="Name one of these directories.")
        raise ProjectMissing(f"There is no project {which!r}.", hint="`forge project list` shows them.")

    def rename(self, which: str, name: str, *, now: datetime) -> Project:
        """Another name to show; the directory stays what it is, so that links to it hold."""
        typed, project = names.checked(name), self.open(which)
        if not typed:
            raise InvalidRecord("A project needs a name.", hint="Give a few words.")

        def change(read: Read) -> Mapping[str, str | bytes | None]:
            saved = replace(state.loaded(read(state.FILE)), project_name=typed)
            named = replace(ProjectStatus.from_json(read(status.FILE) or ""), project_name=typed)
            return {state.FILE: state.formatted(saved, now=now), status.FILE: named.to_json()}

        project.records.update(change, f"project: renamed to {typed}")
        return project

    def archive(self, which: str) -> Project:
        """Keep it out of lists; nothing else changes."""
        return self._flagged(which, archived=True)

    def unarchive(self, which: str) -> Project:
        return self._flagged(which, archived=False)

    def delete(self, which: str, *, confirm: str) -> Path:
        """Move the project into the folder `deleted` and say where. `confirm` repeats its directory name."""
        project = self.open(which)
        name = project.directory.name
        if confirm != name:
            raise DeletionUnconfirmed(f"{name} was not deleted.", hint=f"Confirm by its name: `--confirm {name}`.")
        with reported():
            kept = self.directory / "deleted"
            kept.mkdir(exist_ok=True)
            place = _free(kept / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}")
            project.records.move_to(place)
            disk.sync_directory(kept)
            disk.sync_directory(self.projects)
        return place

    def _flagged(self, which: str, *, archived: bool) -> Project:
        project = self.open(which)

        def change(read: Read) -> Mapping[str, str | bytes | None]:
            return {INFO_FILE: replace(ProjectInfo.from_json(read(INFO_FILE) or ""), archived=archived).to_json()}

        project.records.update(change, f"project: {'archived' if archived else 'unarchived'}")
        return project

    def _put_in_place(self, made: Path, place: Path) -> None:
        with reported():
            try:
                os.rename(made, place)
            except OSError as e:
                if place.exists():
                    raise exists(place.name) from e
                raise
            disk.sync_directory(self.projects)

    def _sweep(self) -> None:
        """Remove what a crash left of projects that were never finished."""
        for left in self.projects.glob(f"{_NEW}*"):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                shutil.rmtree(left, ignore_errors=True)


def _first_files(project_id: str, typed: str, agent: str, now: datetime) -> dict[str, str | bytes]:
    first = status.fresh(agent=agent, now=now)
    saved = SavedState(typed or "Untitled", state.defaults())
    return {
        INFO_FILE: ProjectInfo(project_id, first.created_at).to_json(),
        status.FILE: first.to_json(),
        state.FILE: state.formatted(saved, now=now),
        chat.FILE: chat.format([]),
    }


def _is_project(place: Path) -> bool:
    return (place / INFO_FILE).exists() or (place / ".git" / LOCK).exists()


def _free(place: Path) -> Path:
    number, free = 1, place
    while free.exists():
        number += 1
        free = place.with_name(f"{place.name}-{number}")
    return free


def exists(name: str) -> ProjectExists:
    hint = "Open that one, or choose another name; only a–z, 0–9 and hyphens count for the directory."
    return ProjectExists(f"A project {name} exists already.", hint=hint)
