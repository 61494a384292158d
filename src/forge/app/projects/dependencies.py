"""What a project's run is handed: who answers, prompts, plugins, parameters, and the ways to tell people."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from forge.app.admin.plugins import plugins_of
from forge.app.admin.prompts import prompts
from forge.app.process.workshop import Workshop
from forge.app.projects.agents import ProjectAgents
from forge.app.projects.explored import explored_of
from forge.deliverables.code.registries import Registries
from forge.errors import ForgeError
from forge.json_value import Json
from forge.pipeline.answerer import AgentResponse
from forge.pipeline.guards import Limits
from forge.pipeline.journey import Around, Parameters
from forge.plugins.roles import Card, CardRunner
from forge.projects.project import Project
from forge.sessions.messages import usage_from_json
from forge.settings import Settings


def around(shop: Workshop, project: Project, run: str) -> Around:
    return Around(
        agents=agents_of(shop, project),
        instructions=prompts(shop.settings).get,
        types=plugins_of(shop.settings).deliverables,
        parameters=parameters(shop.settings, shop.environ),
        now=time.time,
        notify=shop.sender.tell,
        mirror=partial(mirrored, shop.settings),
        paid=partial(_paid, shop, project, run),
        redact=shop.redactor.text,
        explored=partial(explored_of, project),
        agents_now=partial(agents_of, shop, project),
    )


def agents_of(shop: Workshop, project: Project) -> ProjectAgents:
    """Who works for a project, as it is set now."""
    info = project.info()
    code = Path(info.repository) if info.repository else None
    seconds = shop.settings.agents.call_timeout_seconds
    return ProjectAgents(
        shop,
        info.agent,
        code,
        project.id,
        timeout=seconds,
        set_test_command=info.test_command,
        resources=project.directory / "resources",
        baseline=info.baseline,
    )


def parameters(settings: Settings, environ: Mapping[str, str]) -> Parameters:
    polish = settings.polish
    limits = Limits(
        critical_max=polish.critical_max,
        medium_max=polish.medium_max,
        minor_max=polish.minor_max,
        max_iterations=polish.max_iterations,
        stagnation_limit=polish.stagnation_limit,
        rotation_percent=_percent(polish.rotation_share),
        similarity=polish.similarity,
        hallucination_percent=_percent(polish.hallucination_rise),
        hallucination_trend=polish.hallucination_falling,
        fabrication_percent=_percent(polish.fabrication_rise),
        fabrication_increase=polish.fabrication_least,
        fabrication_window=polish.fabrication_window,
        fabrication_from=polish.fabrication_window + 1,
        near_factor=polish.near_factor,
    )
    return Parameters(
        limits=limits,
        retry_malformed_output=polish.retry_malformed_output,
        min_word_count=settings.brain_dump.min_word_count,
        max_file_size_mb=settings.resource.max_file_size_mb,
        plan_min_chars=settings.phase3_completeness.plan_min_chars,
        code_require_tests=settings.phase3_completeness.code_require_tests,
        registries=asdict(Registries(**settings.registries.model_dump()).or_environment(environ)),
    )


def _percent(share: float) -> int:
    return round(share * 100)


async def mirrored(settings: Settings, cards: Mapping[str, str], card: Card) -> Json:
    """Every board that is set shows the card, and runs it if it can. What one of them cannot do is a warning."""
    made: dict[str, str] = {}
    warnings: list[str] = []
    for name, board in plugins_of(settings).made_boards(settings.boards):
        try:
            known = cards.get(name)
            if known is None:
                known = made[name] = await board.create(card)
            else:
                await board.update(known, card)
            if card.builds_code and isinstance(board, CardRunner):
                await board.start(known, card)
        except ForgeError as e:
            warnings.append(f"board {name}: {e.message}")
    return {"cards": made, "warnings": warnings}


def _paid(shop: Workshop, project: Project, run: str, step: str, response: AgentResponse) -> None:
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
