"""What projects hold in their code repositories, and the sweep of what nobody needs any more, by whoever serves.

See `forge.git.refs.holds`. A project holds its baseline and the last tip of its build branch until it is done or
terminated: its turns hold what they need themselves, and plain git may come between two of them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forge.app.projects import paper_bytes
from forge.errors import ForgeError, Upstream
from forge.git import Actor, ActorKind, CommitId, RefMove, Repository
from forge.git.errors import HistoryPruned
from forge.git.process import maintenance
from forge.git.refs import drafts, snapshots
from forge.git.refs import holds as held
from forge.git.refs.ref_files import KEPT
from forge.projects.info import ProjectInfo
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from forge.settings import Settings

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop

_EVERY = 600.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Swept:
    """Of one repository: files and packs of dead processes, holds, snapshots of ended turns, outdated drafts."""

    files: tuple[Path, ...]
    holds: tuple[str, ...]
    snapshots: tuple[str, ...]
    drafts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.files) + len(self.holds) + len(self.snapshots) + len(self.drafts)


def hold(repo: Repository, project: str, baseline: CommitId, tip: CommitId | None) -> None:
    """From now on, whatever plain git does to the branch. A tip that a person has thrown away meanwhile is not held."""
    with suppress(HistoryPruned):
        repo.refs.hold(held.PROJECT + project, [baseline, *([tip] if tip else [])])


def held_of(repo: Repository, project: str) -> tuple[CommitId, CommitId] | None:
    """The baseline and the last tip that the project built."""
    found = repo.refs.held.commits(held.PROJECT + project)
    return (found[0], found[-1]) if found else None


def standing(repo: Repository, project: str, branch: str) -> str:
    """Bring a build branch back that plain git deleted; keep the last tip where it was moved to something else.

    Gives a sentence where something was done.
    """
    found, tip = held_of(repo, project), repo.refs.tip(branch)
    if found is None or found[1] == tip or (found[1] == found[0] and tip is not None):
        return ""
    actor, last = Actor(ActorKind.BUILD, f"project {project}"), found[1]
    if tip is None:
        repo.create_branch(branch, last, actor=actor.doing("branch.create", ""))
        return f"{branch} was deleted; it is back at its last commit {last[:12]}"
    ref = f"{KEPT}{branch}@{last[:12]}"
    if repo.objects.handle.descendant_of(tip, last) or repo.refs.target(ref) is not None:
        return ""
    repo.refs.move([RefMove(ref, None, last)], actor=actor, reason=f"keep what was built on {branch}", forward=True)
    return f"{branch} was moved away from {last[:12]}, which is kept as {branch}@{last[:12]}"


def let_go(project: Project) -> None:
    """When it is done, terminated or deleted. A project that is done leaves its branch: that is what it delivers."""
    info = project.info()
    place = _repository(info)
    if place is None or not place.exists():
        return
    repo = Repository.open(place)
    if project.status().phase is Phase.DONE and info.branch:
        standing(repo, project.id, info.branch)
    repo.refs.held.let_go(held.PROJECT + project.id)


def is_over(project: Project) -> bool:
    status = project.status()
    return status.phase is Phase.DONE or status.terminated


def over_projects(settings: Settings) -> Callable[[str], bool]:
    """Whether a project needs its holds no more. One of another data directory is not known here, and keeps them."""
    known = {project.id: project for project in _projects(settings)}
    return lambda id_: id_ in known and is_over(known[id_])


def unknown_projects(repo: Repository, settings: Settings) -> tuple[str, ...]:
    """Holds of projects that are not in this workspace."""
    known = {project.id for project in _projects(settings)}
    names = [ref.removeprefix(held.HELD) for ref, _ in repo.refs.under(held.HELD + held.PROJECT)]
    return tuple(name for name in names if name.removeprefix(held.PROJECT).rpartition("-")[0] not in known)


def swept(repo: Repository, over_project: Callable[[str], bool], *, pretend: bool = False) -> Swept:
    left = snapshots.left_over(repo.refs, repo.common_dir)
    if not pretend:
        for name in left:
            snapshots.forget(repo.refs, name)
    old = drafts.outdated(repo.objects, repo.refs, now=time.time())
    if not pretend:
        for draft in old:
            drafts.forget(repo.refs, draft, Actor(ActorKind.AGENT, draft.agent))
    files = maintenance.sweep(repo.objects, pretend=pretend)
    return Swept(
        files,
        held.sweep(repo.objects, pretend=pretend, over_project=over_project),
        left,
        tuple(each.id for each in old),
    )


async def sweep_from_time_to_time(shop: Workshop) -> None:
    """At the start and every ten minutes, for as long as this process serves."""
    while True:
        await asyncio.to_thread(sweep_all, shop)
        with suppress(Upstream):  # the database or the disk is away; the next time comes
            await asyncio.to_thread(paper_bytes.sweep, shop, now=time.time())
        await asyncio.sleep(_EVERY)


def sweep_all(shop: Workshop) -> int:
    """Every repository that Forge manages or builds in. One that cannot be swept now waits for the next time."""
    found = 0
    try:
        over = over_projects(shop.settings)
        for place in dict.fromkeys(_places(shop)):
            found += _swept_at(place, over)
    except ForgeError as e:  # the workspace or the database
        _log.info("nothing is swept for now: %s", e.message)
    return found


def _swept_at(place: Path, over: Callable[[str], bool]) -> int:
    try:
        return len(swept(Repository.open(place), over)) if place.exists() else 0
    except (ForgeError, OSError) as e:
        _log.info("%s is not swept for now: %s", place, e)
        return 0


def _places(shop: Workshop) -> Iterable[Path]:
    from forge.store.repositories import Repositories  # noqa: PLC0415 - needs the database

    yield from (Path(row.path) for row in Repositories(shop.database).list())
    yield from (place for project in _projects(shop.settings) if (place := _repository(project.info())) is not None)


def _projects(settings: Settings) -> tuple[Project, ...]:
    workspace = Workspace(settings.workspace)
    return tuple(workspace.by_id(archived=True)) if workspace.projects.is_dir() else ()


def _repository(info: ProjectInfo) -> Path | None:
    found = info.repository
    return Path(found) if found else None
