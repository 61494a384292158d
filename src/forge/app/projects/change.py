"""Changes of a project outside of its run: committed and published, for every face alike."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from forge.pipeline.project_change import What, commit_change, publish_change

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.events import Event
    from forge.json_value import Json
    from forge.projects.project import Project


def change_project(shop: Workshop, project: Project, what: What, message: str) -> Json:
    """Commit the change and publish what follows from it. Gives the commit, the phases and what was said."""
    done = commit_change(project, what, message, now=time.time())
    publish_change(project, done, partial(_publish, shop, project))
    return done


def _publish(shop: Workshop, project: Project, event: Event, *, topic: str | None = None) -> None:
    shop.events.publish(topic or project.subject.topic, event)
