"""What a project's run is handed: who answers, prompts, plugins, parameters, and the ways to tell people."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial

from forge.app.admin.plugins import plugins_of, prompts_of
from forge.app.process.workshop import Workshop
from forge.app.projects.agents import agents_of
from forge.app.projects.board_cards import mirrored
from forge.app.projects.costs import record_cost
from forge.app.projects.explored import explored_of
from forge.deliverables.code.registries import Registries
from forge.pipeline.guards import GuardLimits
from forge.pipeline.journey import Around, Parameters
from forge.projects.project import Project
from forge.settings import Settings


def around(shop: Workshop, project: Project, run: str) -> Around:
    return Around(
        agents=agents_of(shop, project),
        instructions=prompts_of(shop.settings).get,
        types=plugins_of(shop.settings).deliverables,
        parameters=parameters(shop.settings, shop.environ),
        now=time.time,
        notify=shop.sender.tell,
        mirror=partial(mirrored, shop.settings),
        paid=partial(record_cost, shop, project, run),
        redact=shop.redactor.text,
        explored=partial(explored_of, project),
        agents_now=partial(agents_of, shop, project),
    )


def parameters(settings: Settings, environ: Mapping[str, str]) -> Parameters:
    polish = settings.polish
    limits = GuardLimits(
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
