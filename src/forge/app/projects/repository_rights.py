"""The repository that a project builds its code in: who may let it work there, and who is shown where it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from forge.app.access import identity
from forge.app.access.identity import Who
from forge.app.access.users import KeyReach
from forge.app.process.workshop import Workshop
from forge.app.projects.view import ProjectView, view
from forge.app.repositories.catalog import is_looked_after
from forge.plugins.errors import OperationBlocked
from forge.projects.project import Project
from forge.subjects import repository_id


def key_reach(project: Project) -> KeyReach:
    """For a key that opens this project alone."""
    place = project.info().repository
    return KeyReach(project.id, repository_id(place) if place else None)


def refuse_where_they_may_not_build(shop: Workshop, who: Who, project: Project) -> None:
    """A repository may have been shared with them when the project was made, and not be any more."""
    place = project.info().repository
    if who.is_local or not place or _is_its_own(place, project.id):
        return
    id_ = repository_id(place)
    # One that was never managed was named at the machine, and the project was shared with them from there.
    if is_looked_after(shop, id_) or not identity.is_of_the_machine(shop, "project", project.id):
        identity.owned(shop, who, "repository", id_, "write")


def refuse_where_nobody_may_build(shop: Workshop, project: str, place: Path) -> None:
    """For work under way: who may change the project may have lost the repository since it began."""
    if _is_its_own(str(place), project) or identity.is_of_the_machine(shop, "project", project):
        return
    if not identity.writers(shop, "project", project) & identity.writers(shop, "repository", repository_id(place)):
        raise OperationBlocked(
            "Nobody who may change this project may write to its repository any more. What was built is on its branch; "
            "when the repository is shared again, resume continues.",
            hint="Share the repository for writing, then resume; or terminate.",
        )


def shown(shop: Workshop, who: Who, project: Project) -> ProjectView:
    return without_what_is_theirs(view(shop, project), identity.visible(shop, who, "repository"))


def without_what_is_theirs(seen: ProjectView, repositories: Collection[str] | None) -> ProjectView:
    """The place of a repository is shown to who may see one of `repositories`; None means every one."""
    place = seen.repository
    if repositories is None or not place or _is_its_own(place, seen.id) or repository_id(place) in repositories:
        return seen
    return replace(seen, repository=None)


def _is_its_own(place: str, project: str) -> bool:
    """Made for it by Forge, and called by its id, which nobody knew when they chose a repository."""
    return Path(place).name == project
