"""Which project a person at a terminal means, and what they should know before they continue with it."""

from __future__ import annotations

from pathlib import Path

from forge.app.projects.lookup import workspace_of
from forge.projects.errors import ProjectMissing, ProjectUnwritable
from forge.projects.project import Project
from forge.settings import Settings


def project_meant(settings: Settings, which: str | None, directory: Path) -> Project:
    """The one named, else the one that the directory is in, else the one changed last."""
    workspace = workspace_of(settings)
    if which is not None:
        return workspace.open(which)
    here = project_here(settings, directory)
    if here is not None:
        return here
    listed = workspace.list()
    if not listed.projects:
        raise ProjectMissing("There is no project yet.", hint="`forge project new NAME` makes one.")
    return listed[0]


def project_here(settings: Settings, directory: Path) -> Project | None:
    """The project that the directory is in."""
    projects = workspace_of(settings).projects
    place = next((each for each in (directory, *directory.parents) if each.parent == projects), None)
    return Project.at(place) if place is not None else None


def taken_in(project: Project) -> tuple[str, ...]:
    """Take in what people changed by hand; sentences on what had to be recovered, and what else is to be known."""
    try:
        sentences = project.records.take_in().recovered
    except ProjectUnwritable as e:  # it can still be looked at
        sentences = (e.message,)
    warning = project.state().warning
    return (*sentences, warning) if warning else sentences
