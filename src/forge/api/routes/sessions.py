"""Conversations on branches: messages become turns, which can be ended, forked and rewound; and what is in context."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, UploadFile

from forge.api.http.codes import CHANGING, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import ONE_FILE, Asking, Part, Shop, in_pages
from forge.api.http.parameters import Branch, Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import repositories as branches
from forge.api.shapes import sessions as shapes
from forge.api.shapes.base import Page
from forge.app.sessions import attachments, prompt_preview, session_access

router = router_for("/repositories/{repository}", tag="sessions")

At = Annotated[str | None, Query(min_length=1, max_length=250, description="As it was at this commit.")]
Model = Annotated[str | None, Query(min_length=1, max_length=200, description="Who shall answer.")]
_TURN = {404: ("turn_missing",)}
_LOOKED = may_end(together(REPOSITORY, LOOKING, _TURN))
_CHANGED = may_end(together(REPOSITORY, CHANGING, _TURN))
_ATTACHED = {413: ("body_too_large", "file_too_large"), 422: ("attachment_refused",)}
_SAID = {
    403: ("key_missing", "protected_branch"),
    409: ("branch_busy",),
    422: ("invalid_input", "model_unknown", "program_missing"),
}


@router.get("/sessions", response_model=shapes.SessionsShape, responses=_LOOKED)
def list_sessions(shop: Shop, who: Asking, *, repository: Repo) -> Any:
    """Branches on which somebody has talked with an agent, or does right now."""
    return {"sessions": session_access.list_sessions(shop, who, repository)}


@router.get("/session", response_model=shapes.SessionShape, responses=_LOOKED)
def show_session(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, at: At = None) -> Any:
    """The conversation of a branch: how long it is, what it took, and whether a turn is under way."""
    return session_access.session(shop, who, repository, branch, at=at)


@router.get(
    "/session/turns", response_model=Page[shapes.TurnShape], responses={**_LOOKED, **in_pages(shapes.TurnShape)}
)
def list_turns(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    branch: Branch,
    at: At = None,
    messages: Annotated[bool, Query(description="With all that was said and done.")] = False,
) -> Any:
    """Turns of a conversation, newest first."""
    return part.given(
        shapes.TurnShape,
        lambda after, limit: session_access.list_turns(
            shop, who, repository, branch, at=at, after=after, limit=limit, whole=messages
        ),
    )


@router.get("/session/turns/{turn}", response_model=shapes.TurnShape, responses=_LOOKED)
def show_turn(
    shop: Shop, who: Asking, *, repository: Repo, turn: Annotated[str, Path(max_length=64)], branch: Branch
) -> Any:
    """One turn, by its number, its id, or `turn` of what was under way; with everything that was said and done."""
    return session_access.turn(shop, who, repository, branch, turn)


@router.post(
    "/session/messages",
    status_code=202,
    response_model=shapes.SentShape,
    responses=may_end(together(REPOSITORY, CHANGING, _SAID)),
)
async def send_message(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, body: shapes.NewTurn) -> Any:
    """Begin a turn. It runs by itself and publishes its events in the topic that is returned."""
    named = {"model": body.model, "agent": body.agent, "start": body.start}
    return await session_access.send(shop, who, repository, branch, body.text, asks=body.asks is not False, **named)


@router.get(
    "/session/runs/{run}",
    response_model=shapes.TurnRunShape,
    responses=may_end(together(REPOSITORY, LOOKING, {404: ("run_unknown",)})),
)
async def show_turn_run(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    run: Annotated[str, Path(max_length=64)],
    branch: Branch,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for its end.")] = 0,
) -> Any:
    """How the turn that a message began has ended. An error that kept it from beginning is given as a problem."""
    return await session_access.turn_run(shop, who, repository, branch, run, wait=wait)


@router.post("/session/cancel", response_model=shapes.CancelledShape, responses=_CHANGED)
async def cancel_turn(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """End the turn that is under way, wherever it runs. Its conversation is kept."""
    return {"cancelled": await session_access.cancel(shop, who, repository, branch)}


@router.post("/session/fork", status_code=201, response_model=branches.BranchMadeShape, responses=_CHANGED)
def fork_session(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, body: shapes.Fork) -> Any:
    """A new branch as this one was right after a turn: files and conversation."""
    return session_access.fork(shop, who, repository, branch, body.turn, name=body.name)


@router.post("/session/rewind", response_model=branches.BranchMoveShape, responses=_CHANGED)
def rewind_session(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, body: shapes.Rewind) -> Any:
    """Set a branch back to right after a turn. The old tip is kept, and undo takes it back."""
    return session_access.rewind(shop, who, repository, branch, body.turn)


@router.get(
    "/session/context",
    response_model=shapes.ContextShape,
    responses=may_end(together(REPOSITORY, LOOKING, _TURN, {422: ("model_unknown",)})),
)
def show_context(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, model: Model = None) -> Any:
    """The files that the agent has before it, and how much its next prompt takes."""
    return prompt_preview.next_prompt(shop, who, repository, branch, model=model)


@router.patch("/session/context", response_model=shapes.ContextShape, responses=_CHANGED)
def change_context(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, body: shapes.ContextChange) -> Any:
    """Take files into the context and out."""
    add = [(each.path, each.ranges) for each in body.add]
    session_access.change_context(shop, who, repository, branch, add=add, remove=body.remove)
    return prompt_preview.next_prompt(shop, who, repository, branch)


@router.post(
    "/session/attachments",
    status_code=201,
    response_model=shapes.AttachedShape,
    responses=may_end(together(REPOSITORY, CHANGING, _ATTACHED)),
    dependencies=[ONE_FILE],
)
def attach_file(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, file: UploadFile) -> Any:
    """Hand the agent a file of up to 10 MB: saved in `attachments/`, and in its context if it is text."""
    return attachments.attach(shop, who, repository, branch, name=file.filename or "", content=file.file)
