"""Files of a project: resources that people send, documents and artifacts that they take away, and the log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request, UploadFile
from starlette.responses import Response

from forge.api.http import contents
from forge.api.http.dependencies import ONE_FILE, Asking, Part, Shop, binary, in_pages
from forge.api.http.parameters import Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import projects as shapes
from forge.api.shapes.base import Page
from forge.app.projects import documents, files, project_access

router = router_for("/projects/{project}", tag="projects")

Name = Annotated[str, Path(max_length=300, examples=["plan.md"])]
_MISSING = {404: ["project_missing"]}
_PAGED = {422: ["request_invalid", "invalid_page"]}
_NO_FILE = {404: ["project_missing", "document_missing"]}
_DOWNLOADED: dict[str, Any] = {
    "response_class": Response,
    "openapi_extra": {"parameters": [contents.IF_NONE_MATCH, contents.RANGE]},
    "responses": {**may_end({**_NO_FILE, 416: ["range_missing"]}), **binary("The file.")},
}
_NO_VERSION = {
    404: ["project_missing", "document_missing", "revision_missing"],
    409: ["project_busy"],
    422: ["request_invalid", "invalid_revision", "invalid_page"],
    502: ["project_unwritable", "project_unreadable"],
}
Version = Annotated[str | None, Query(min_length=1, max_length=250, description="`commit` of a version.")]


@router.get("/resources", response_model=shapes.FilesShape, responses=may_end(_MISSING))
def list_resources(shop: Shop, who: Asking, *, project: Project) -> Any:
    """What people gave a project to read."""
    return {"files": project_access.resources(shop, who, project)}


@router.post(
    "/resources",
    status_code=201,
    response_model=shapes.FileShape,
    responses=may_end(
        {
            **_MISSING,
            409: ["project_busy"],
            413: ["body_too_large", "file_too_large"],
            422: ["request_invalid", "invalid_input", "resource_refused"],
            502: ["storage_failed"],
        }
    ),
    dependencies=[ONE_FILE],
)
def add_resource(shop: Shop, who: Asking, *, project: Project, file: UploadFile) -> Any:
    """Send a file of up to 50 MB; it is read with the next distillation. A name that is taken gets a number."""
    return project_access.add_resource(shop, who, project, file.filename or "", file.file)


@router.get("/resources/{name}", **_DOWNLOADED)
def download_resource(shop: Shop, who: Asking, *, project: Project, name: Name, request: Request) -> Response:
    """A resource, as it was sent."""
    return _download(request, files.resource(shop, who, project, name))


@router.delete(
    "/resources/{name}",
    status_code=204,
    responses=may_end({**_NO_FILE, 409: ["project_busy"], 502: ["project_unwritable", "project_unreadable"]}),
)
def remove_resource(shop: Shop, who: Asking, *, project: Project, name: Name) -> None:
    """Take a resource out again; the project's history keeps it."""
    files.remove_resource(shop, who, project, name)


@router.get("/artifacts", response_model=shapes.FilesShape, responses=may_end(_MISSING))
def list_artifacts(shop: Shop, who: Asking, *, project: Project) -> Any:
    """What can be taken away of a project: the documents, and what the explorer wrote."""
    return {"files": project_access.artifacts(shop, who, project)}


@router.get("/artifacts/{name}", **_DOWNLOADED)
def download_artifact(shop: Shop, who: Asking, *, project: Project, name: Name, request: Request) -> Response:
    """An artifact, to save."""
    return _download(request, project_access.artifact(shop, who, project, name))


@router.get("/documents", response_model=shapes.FilesShape, responses=may_end(_MISSING))
def list_documents(shop: Shop, who: Asking, *, project: Project) -> Any:
    """What a project has come to so far: intent, specification, plan and the like."""
    return {"files": project_access.documents(shop, who, project)}


@router.get(
    "/documents/{name}/versions",
    response_model=Page[shapes.VersionShape],
    responses={**may_end(_NO_VERSION), **in_pages(shapes.VersionShape)},
)
def list_document_versions(shop: Shop, who: Asking, *, project: Project, name: Name, part: Part) -> Any:
    """When and by whom a document was changed, newest first; what people changed by hand is among it."""
    return part.given(
        shapes.VersionShape,
        lambda after, limit: documents.list_versions(shop, who, project, name, after=after, limit=limit),
    )


@router.get("/documents/{name}/diff", response_model=shapes.DocumentDiffShape, responses=may_end(_NO_VERSION))
def diff_document(
    shop: Shop, who: Asking, *, project: Project, name: Name, old: Version = None, new: Version = None
) -> Any:
    """What changed between two versions of a document; in the newest one, if none is named."""
    return documents.document_diff(shop, who, project, name, old=old, new=new)


@router.get("/documents/{name}", **_DOWNLOADED)
def read_document(shop: Shop, who: Asking, *, project: Project, name: Name, request: Request) -> Response:
    """A document of the project, such as `intent.md`, `spec.md` or `plan.md`."""
    return _download(request, project_access.document(shop, who, project, name))


@router.get(
    "/log",
    response_model=Page[shapes.LogLine],
    responses={**may_end({**_MISSING, **_PAGED}), **in_pages(shapes.LogLine)},
)
def list_log(shop: Shop, who: Asking, *, project: Project, part: Part) -> Any:
    """The operational log of a project, oldest line first."""
    return part.given(
        shapes.LogLine, lambda after, limit: project_access.log_lines(shop, who, project, after=after, limit=limit)
    )


def _download(request: Request, file: project_access.StoredFile) -> Response:
    """Always as bytes to save: a page that somebody put there must not run as one of Forge's own."""
    return contents.given(request, files.content(file), shown=False)
