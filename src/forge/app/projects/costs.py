"""What the answers in a project cost, recorded under the project."""

from __future__ import annotations

import time

from forge.app.process.workshop import Workshop
from forge.pipeline.answerer import AgentResponse
from forge.projects.project import Project
from forge.sessions.messages import usage_from_json


def record_cost(shop: Workshop, project: Project, run: str, step: str, response: AgentResponse) -> None:
    usage = usage_from_json(dict(response.usage)) if response.usage else None
    if usage is not None and usage.requests:
        shop.costs.record(
            run,
            step,
            repository=str(project.directory),
            branch="",
            model=response.model,
            usage=usage,
            time=time.time(),
            session=project.id,
        )
