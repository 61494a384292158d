"""Contracts written by agents: the questions they are written from, the run that writes them, and who read them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from forge.api.http.dependencies import Asking, Part, Shop, in_pages
from forge.api.http.parameters import Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import contracts as shapes
from forge.api.shapes.base import Page
from forge.app.projects import contract_pictures, contract_telemetry, generation, questionnaire

router = router_for("/projects/{project}/contracts", tag="contracts")

_READ = {404: ["project_missing"], 409: ["project_busy"], 502: ["project_unwritable", "project_unreadable"]}
_ANSWERS = {**_READ, 422: ["request_invalid", "answers_malformed"]}
_CHANGE = {403: ["shared_for_reading"]}


@router.get("/questions", response_model=shapes.QuestionnaireShape, responses=may_end(_ANSWERS))
def list_contract_questions(shop: Shop, who: Asking, *, project: Project) -> Any:
    """The questions that contracts are written from, with the answers so far and where they come from."""
    return questionnaire.show_questions(shop, who, project)


@router.put(
    "/questions",
    response_model=shapes.QuestionnaireShape,
    responses=may_end({**_ANSWERS, **_CHANGE, 404: ["project_missing", "contract_question_unknown"]}),
)
def answer_contract_questions(shop: Shop, who: Asking, *, project: Project, body: shapes.ContractAnswers) -> Any:
    """Save answers beside those that are there."""
    return questionnaire.answer_questions(shop, who, project, body.answers)


@router.get("/pictures", response_model=shapes.PicturesShape, responses=may_end(_READ))
def show_contract_pictures(shop: Shop, who: Asking, *, project: Project) -> Any:
    """What can be drawn of the contracts: phases, endpoints, layers."""
    return contract_pictures.show_pictures(shop, who, project)


@router.get("/generation", response_model=shapes.GenerationShape | None, responses=may_end(_READ))
def show_contract_generation(shop: Shop, who: Asking, *, project: Project) -> Any:
    """The newest run that writes contracts, with tokens and cost of each; null where there was none."""
    return generation.show_generation(shop, who, project)


@router.post(
    "/generation",
    status_code=202,
    response_model=shapes.GenerationStartedShape,
    responses=may_end(
        {
            **_READ,
            403: ["shared_for_reading", "key_missing"],
            404: ["project_missing", "contract_unknown"],
            409: ["project_busy", "contract_edited", "nothing_to_generate", "generation_running"],
            422: [
                "request_invalid",
                "answers_malformed",
                "nothing_known",
                "program_cannot_write_contracts",
                "model_unknown",
            ],
        }
    ),
)
async def generate_contracts(
    shop: Shop, who: Asking, *, project: Project, body: shapes.GenerationOrder | None = None
) -> Any:
    """Let an agent write contracts. The run continues by itself and publishes its events in the project's topic."""
    given = body or shapes.GenerationOrder()
    wanted = generation.Wanted(tuple(given.kinds), given.everything, given.edited, given.mini, given.agent)
    return await generation.generate_contracts(shop, who, project, wanted)


@router.delete(
    "/generation",
    response_model=shapes.GenerationShape,
    responses=may_end({**_READ, **_CHANGE, 409: ["project_busy", "no_generation"]}),
)
async def stop_contract_generation(shop: Shop, who: Asking, *, project: Project) -> Any:
    """Stop writing contracts. What is written stays."""
    return await generation.stop_generation(shop, who, project)


@router.get(
    "/reads",
    response_model=Page[shapes.ContractReadingShape],
    responses={
        **may_end({404: ["project_missing"], 422: ["request_invalid", "invalid_page"]}),
        **in_pages(shapes.ContractReadingShape),
    },
)
def list_contract_reads(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    part: Part,
    build: Annotated[str | None, Query(max_length=200)] = None,
) -> Any:
    """Which agent read which contract, when, and how many tokens that was; newest first."""
    return part.given(
        shapes.ContractReadingShape,
        lambda after, limit: contract_telemetry.list_reads(shop, who, project, build=build, after=after, limit=limit),
    )


@router.get(
    "/reads/summary",
    response_model=list[shapes.ContractReadSumShape],
    responses=may_end({404: ["project_missing"]}),
)
def sum_contract_reads(
    shop: Shop, who: Asking, *, project: Project, build: Annotated[str | None, Query(max_length=200)] = None
) -> Any:
    """Reads and tokens by role and contract."""
    return contract_telemetry.sum_reads(shop, who, project, build=build)
