"""Tools of a branch with their approvals, who can answer, and questions that wait for a person."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from forge.api.http.codes import CHANGING, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Shop
from forge.api.http.parameters import Branch, Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import sessions as shapes
from forge.api.shapes.house import KnownModelsShape, ModelsShape
from forge.app import questions
from forge.app.sessions import tools

router = router_for()

Name = Annotated[str, Path(min_length=1, max_length=200)]
Question = Annotated[str, Path(min_length=1, max_length=200)]
About = Annotated[str | None, Query(max_length=250)]
Seen = Annotated[
    str | None,
    Query(alias="hash", pattern="^[0-9a-f]{8,64}$", description="Of the tool as you read it; another one is refused."),
]
_PROVIDER = {404: ["provider_unknown"]}
_TOOL = {404: ("user_tool_missing",), 409: ("user_tool_broken", "tool_changed"), 422: ("tool_unreadable",)}


@router.get(
    "/repositories/{repository}/tools",
    tags=["tools"],
    response_model=shapes.ToolsShape,
    responses=may_end(together(REPOSITORY, LOOKING, _TOOL)),
)
def list_tools(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """What agents can do on a branch: built-in tools, and the repository's own with their approvals."""
    return tools.list_tools(shop, who, repository, branch)


@router.post(
    "/repositories/{repository}/tools/{name}/approve",
    tags=["tools"],
    response_model=shapes.ToolChangeShape,
    responses=may_end(together(REPOSITORY, CHANGING, _TOOL)),
)
def approve_tool(
    shop: Shop, who: Asking, *, repository: Repo, name: Name, branch: Branch, expected: Seen = None
) -> Any:
    """Let a tool run as it is now. Requires the scopes `write` and `run`."""
    return tools.approve_tool(shop, who, repository, branch, name, expected=expected)


@router.post(
    "/repositories/{repository}/tools/{name}/revoke",
    tags=["tools"],
    response_model=shapes.ToolChangeShape,
    responses=may_end(together(REPOSITORY, CHANGING, _TOOL)),
)
def revoke_tool(shop: Shop, who: Asking, *, repository: Repo, name: Name, branch: Branch) -> Any:
    """Let a tool run no more, on any branch."""
    return tools.revoke_tool(shop, who, repository, branch, name)


@router.get("/models", tags=["models"], response_model=ModelsShape, responses=may_end())
def list_models(shop: Shop, who: Asking) -> Any:
    """Who can answer here. Keys are never shown, only where they come from."""
    return tools.models(shop, who)


@router.get("/models/{provider}", tags=["models"], response_model=KnownModelsShape, responses=may_end(_PROVIDER))
def list_provider_models(shop: Shop, who: Asking, *, provider: Name) -> Any:
    """Models of a provider with their prices, as far as they are known."""
    return {"models": tools.provider_models(shop, who, provider)}


@router.get("/questions", tags=["questions"], response_model=shapes.QuestionsShape, responses=may_end())
def list_questions(
    shop: Shop, who: Asking, *, project: About = None, repository: About = None, branch: About = None
) -> Any:
    """Questions that wait for a person, oldest first; all, or only those about what is named."""
    found = questions.open_questions(shop, who, project=project, repository=repository, branch=branch)
    return {"questions": found}


@router.get(
    "/questions/{question}",
    tags=["questions"],
    response_model=shapes.QuestionShape,
    responses=may_end({404: ["question_unknown"]}),
)
def show_question(shop: Shop, who: Asking, *, question: Question) -> Any:
    """One question, also when it is closed."""
    return questions.question(shop, who, question)


@router.post(
    "/questions/{question}/answer",
    tags=["questions"],
    response_model=shapes.AnsweredShape,
    responses=may_end(
        {404: ["question_unknown", "repository_missing"], 409: ["question_closed"], 422: ["invalid_input"]}
    ),
)
async def answer_question(shop: Shop, who: Asking, *, question: Question, body: shapes.Answer) -> Any:
    """Answer a question. The first answer counts; the same once more does no harm, another one is refused."""
    return await questions.answer(shop, who, question, body.text)
