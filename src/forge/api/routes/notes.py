"""The notepad and the working papers of a project."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import Response

from forge.api.http import contents
from forge.api.http.dependencies import Asking, Shop, binary
from forge.api.http.parameters import Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import notes as shapes
from forge.app.projects import notes, papers

router = router_for("/projects/{project}", tag="projects")

Key = Annotated[str, Path(max_length=300, examples=["scout/dossier.md"])]
_MISSING = {404: ["project_missing"]}
_NO_PAPER = {404: ["project_missing", "paper_missing"]}


@router.get("/note", response_model=shapes.NoteShape, responses=may_end(_MISSING))
def show_note(shop: Shop, who: Asking, *, project: Project) -> Any:
    """Your note on a project."""
    return notes.show_note(shop, who, project)


@router.put(
    "/note",
    response_model=shapes.NoteShape,
    responses=may_end({**_MISSING, 422: ["request_invalid", "note_too_long"]}),
)
def save_note(shop: Shop, who: Asking, *, project: Project, body: shapes.NewNote) -> Any:
    """Save your note on a project. Agents that work on it read it as user notes."""
    return notes.save_note(shop, who, project, body.text, seen=body.seen)


@router.get("/papers", response_model=shapes.PapersShape, responses=may_end(_MISSING))
def list_papers(shop: Shop, who: Asking, *, project: Project) -> Any:
    """Working papers of a project. Those that are not pinned are deleted after 24 hours."""
    return {"papers": papers.list_papers(shop, who, project)}


@router.get(
    "/papers/{key:path}",
    response_class=Response,
    responses={**may_end({**_NO_PAPER, 502: ["paper_damaged"]}), **binary("The paper.")},
)
def get_paper(shop: Shop, who: Asking, *, project: Project, key: Key) -> Response:
    """The bytes of a working paper, to save."""
    _, data = papers.get_paper(shop, who, project, key)
    headers = {"content-disposition": contents.disposition(key.rpartition("/")[2])}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.put(
    "/papers/{key:path}",
    response_model=shapes.PaperShape,
    openapi_extra=contents.BODY,
    responses=may_end(
        {
            **_MISSING,
            413: ["body_too_large"],
            422: ["request_invalid", "paper_key_invalid", "paper_too_large"],
            502: ["storage_failed"],
        }
    ),
)
async def store_paper(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    key: Key,
    request: Request,
    pinned: Annotated[bool, Query(description="Keep it until it is deleted.")] = False,
) -> Any:
    """Store a working paper of up to 50 MB, in place of what had the key."""
    contents.refuse_other_bytes(request)
    data = await request.body()
    return await asyncio.to_thread(papers.store_paper, shop, who, project, key, data, pinned=pinned)


@router.patch("/papers/{key:path}", response_model=shapes.PaperShape, responses=may_end(_NO_PAPER))
def pin_paper(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    key: Key,
    pinned: Annotated[bool, Query(description="Whether it is kept; unpinned, it has 24 hours from now.")],
) -> Any:
    """Pin a working paper, or unpin it."""
    return papers.pin_paper(shop, who, project, key, pinned=pinned)


@router.delete("/papers/{key:path}", status_code=204, responses=may_end(_NO_PAPER))
def delete_paper(shop: Shop, who: Asking, *, project: Project, key: Key) -> None:
    """Delete a working paper."""
    papers.delete_paper(shop, who, project, key)
