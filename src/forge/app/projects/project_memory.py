"""The memory of a project for whoever may reach it: read with `read`, written with `write` and noted in the audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from forge.app.access.identity import Shop, Who, audit
from forge.app.admin.memory import Memory, Recalled, UpdateResult, open_memory
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.memory import Resumed
from forge.projects.info import FILE
from forge.projects.project import Project

Done = TypeVar("Done", UpdateResult, Resumed)


def recalled(shop: Workshop, who: Who, id_: str) -> Recalled:
    """What is remembered of a project's work."""
    project = project_for(shop, who, id_)
    return open_memory(project.directory, secrets=shop.settings.secret_values()).read()


def change(shop: Workshop, who: Who, id_: str, action: str, act: Callable[[Memory], Done]) -> Done:
    """Do it to the memory of a project; `action` names it in the audit."""
    project = project_for(shop, who, id_, "write")
    memory = open_memory(project.directory, secrets=shop.settings.secret_values())
    return change_found(shop, who, project, action, lambda: act(memory))


def change_found(shop: Shop, who: Who, project: Project, action: str, act: Callable[[], Done]) -> Done:
    """For whoever may do so."""
    done = act()
    project.records.take_in()
    audit(shop, who, f"memory.{action}", f"project:{project.id}")
    return done


def project_here(directory: Path) -> Project | None:
    """The project whose memory a directory has, if it is one."""
    return Project.at(directory) if (directory / FILE).is_file() else None
