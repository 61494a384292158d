"""The memory of a project for whoever may reach it: read with `read`, written with `write` and noted in the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from forge.app.access.identity import Who, audit
from forge.app.admin.memory import Memory, Recalled, Result, open_memory
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.memory import Resumed

Done = TypeVar("Done", Result, Resumed)


def recalled(shop: Workshop, who: Who, id_: str) -> Recalled:
    """What is remembered of a project's work."""
    project = project_for(shop, who, id_)
    return open_memory(project.directory, secrets=shop.settings.secret_values()).read()


def change(shop: Workshop, who: Who, id_: str, action: str, act: Callable[[Memory], Done]) -> Done:
    """Do it to the memory of a project; `action` names it in the audit."""
    project = project_for(shop, who, id_, "write")
    done = act(open_memory(project.directory, secrets=shop.settings.secret_values()))
    project.records.take_in()
    audit(shop, who, f"memory.{action}", f"project:{id_}")
    return done
