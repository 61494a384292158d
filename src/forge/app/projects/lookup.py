"""Where projects are: the workspace, and one project by its id for a person who may reach it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge.app.access.identity import Who, missing, owned, require
from forge.errors import ForgeError
from forge.projects.project import Project
from forge.projects.workspace import Workspace
from forge.settings import Settings

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop

# Where projects were when they were looked for last; looking through all of them takes long where there are many.
_places: dict[tuple[Path, str], Path] = {}


def workspace_of(settings: Settings) -> Workspace:
    return Workspace(settings.workspace)


def project_for(shop: Workshop, who: Who, id_: str, scope: str = "read") -> Project:
    """By its id alone: a beginning or a name would tell what other projects there are."""
    require(who, scope)
    owned(shop, who, "project", id_, scope)
    workspace = workspace_of(shop.settings)
    known = _places.get((workspace.projects, id_))
    with suppress(ForgeError):
        if known is not None and (project := Project.at(known)).id == id_:
            return project
    found = next((each for each in workspace.by_id(archived=True) if each.id == id_), None)
    if found is None:
        raise missing("project", id_)
    _places[workspace.projects, id_] = found.directory
    return found
