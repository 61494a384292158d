"""Contract text in delivered files: the files of a branch or commit, looked at with the contracts of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.contract_views import contract_set
from forge.app.projects.lookup import project_for
from forge.app.projects.repository_rights import shown
from forge.app.repositories import catalog
from forge.app.repositories.files import files_after, looked_at
from forge.contracts.contract_set import Source
from forge.contracts.errors import NothingDelivered
from forge.contracts.leaks import LARGEST, Leak, LeakCheck
from forge.git import GitCommitVFS, Repository
from forge.git.objects.contents import Contents
from forge.projects.project import Project
from forge.subjects import repository_id

_MOST = 500
_OWN = ".forge/"
"""Records of conversations are Forge's own; an export leaves them out."""


@dataclass(frozen=True, slots=True)
class LeakReport:
    """`files` counts what was looked at; `total` the leaks, of which the first ones are in `leaks`."""

    project_id: str
    repository: str
    branch: str | None
    commit: str | None
    source: Source
    batch: int | None
    files: int
    ok: bool
    total: int
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True)
class Delivered:
    """Which files: of a branch, or of the commit `at`. `batch` is the pinned set; None means today's contracts."""

    branch: str | None = None
    at: str | None = None
    batch: int | None = None


def find_leaks(shop: Workshop, who: Who, id_: str, wanted: Delivered, *, repository: str | None = None) -> LeakReport:
    """In the repository with that id, else in the one where the project builds its code."""
    project = project_for(shop, who, id_)
    if repository is not None:
        return leaks_of(project, catalog.repository(shop, who, repository), repository, wanted)
    place = shown(shop, who, project).repository
    if place is None:
        raise nothing_delivered(project)
    return leaks_of(project, catalog.opened(Path(place)), repository_id(place), built_by(project, wanted))


def leaks_found_in(project: Project, wanted: Delivered, directory: Path | None = None) -> LeakReport:
    """At this machine: in the repository at `directory`, else in the project's own."""
    place = str(directory) if directory is not None else project.info().repository
    if not place:
        raise nothing_delivered(project)
    repo = Repository.open(Path(place))
    return leaks_of(project, repo, catalog.id_of(repo), wanted if directory is not None else built_by(project, wanted))


def leaks_of(project: Project, repo: Repository, id_: str, wanted: Delivered) -> LeakReport:
    held = contract_set(project, batch=wanted.batch)
    view = looked_at(repo, wanted.branch, wanted.at)
    check = LeakCheck(held.texts())
    counted = _Counted()
    found = tuple(leak for path, data in counted.of(view) for leak in check.in_file(path, data))
    source: Source = "project" if wanted.batch is None else "pinned"
    branch = None if wanted.at else wanted.branch or repo.current_branch
    told = found[:_MOST]
    return LeakReport(
        project.id, id_, branch, view.commit, source, wanted.batch, counted.files, not found, len(found), told
    )


def built_by(project: Project, wanted: Delivered) -> Delivered:
    """Without a branch or commit, the branch on which the project builds."""
    info = project.info()
    if wanted.branch or wanted.at or not (info.branch and info.baseline):
        return wanted
    return Delivered(info.branch, None, wanted.batch)


def nothing_delivered(project: Project) -> NothingDelivered:
    return NothingDelivered(
        f"{project.name} has no code yet.", hint="Name a repository: forge contracts leaks --in DIRECTORY."
    )


class _Counted:
    def __init__(self) -> None:
        self.files = 0

    def of(self, view: GitCommitVFS) -> Iterator[tuple[str, bytes]]:
        """What is too large to be written by hand is not read."""
        contents = Contents(view.objects)
        for path, entry in files_after(view):
            if path.startswith(_OWN) or contents.size(entry) > LARGEST:
                continue
            self.files += 1
            yield path, contents.data(entry)
