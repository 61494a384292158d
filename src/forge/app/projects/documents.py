"""Documents of a project through time: which versions each had, and what changed between two."""

from __future__ import annotations

from dataclasses import dataclass

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.app.projects.project_access import DocumentMissing
from forge.app.repositories.diff import patch_text
from forge.app.values.pages import Page, checked, position
from forge.git import CommitId, Repository
from forge.projects.records import Records

_FOLDER = "docs"


@dataclass(frozen=True, slots=True)
class Version:
    """A commit of the project's own history that changed the document."""

    commit: str
    time: float
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    name: str
    old: str | None
    """None where the document begins with `new`."""
    new: str
    diff: str
    """As git prints it; empty where nothing differs."""


def list_versions(
    shop: Workshop, who: Who, id_: str, name: str, *, after: str | None = None, limit: int = 100
) -> Page[Version]:
    """Newest first; what people changed by hand is among them. `after` counts versions."""
    start = position(after)
    path, end = _path(name), start + checked(limit)
    records = _records(shop, who, id_)
    found = _versions(records, path, skip=start, limit=limit + 1)
    if not found and not start:
        raise _missing()
    return Page(found[:limit], str(end) if len(found) > limit else None)


def document_diff(
    shop: Workshop, who: Who, id_: str, name: str, *, old: str | None = None, new: str | None = None
) -> DocumentDiff:
    """From version `old` to `new`; the newest and the one before it where they are not named."""
    path, records = _path(name), _records(shop, who, id_)
    repo = records.repository
    known = _versions(records, path, limit=2)
    if not known:
        raise _missing()
    after = repo.resolve(new) if new else CommitId(known[0].commit)
    before = repo.resolve(old) if old else _before(repo, path, after)
    changes = repo.diff(before, after, paths=[path])
    text = b"".join(patch_text(repo, each) for each in changes).decode("utf-8", "replace")
    return DocumentDiff(name, before, after, text)


def _before(repo: Repository, path: str, commit: CommitId) -> CommitId | None:
    earlier = repo.log(commit, paths=(path,), limit=2, order="date")
    return next((each.id for each in earlier if each.id != commit), None)


def _versions(records: Records, path: str, *, skip: int = 0, limit: int) -> tuple[Version, ...]:
    tip = records.tip()
    if tip is None:
        return ()
    found = records.repository.log(tip, paths=(path,), skip=skip, limit=limit, order="date")
    return tuple(Version(each.id, float(each.committer.time), each.author.name, each.subject) for each in found)


def _records(shop: Workshop, who: Who, id_: str) -> Records:
    """With what people changed by hand taken in, so that it is a version too."""
    records = project_for(shop, who, id_).records
    records.take_in()
    return records


def _path(name: str) -> str:
    if "/" in name or "\0" in name or not name.endswith(".md") or name.startswith("."):
        raise _missing()
    return f"{_FOLDER}/{name}"


def _missing() -> DocumentMissing:
    return DocumentMissing("There is no document of this name.", hint="List them to see what there is.")
