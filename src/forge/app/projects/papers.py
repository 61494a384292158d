"""The artifact store: working papers of a project by key, deleted after 24 hours unless pinned."""

from __future__ import annotations

import hashlib
import re
import time

from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects import paper_bytes
from forge.app.projects.lookup import project_for
from forge.errors import InvalidInput, NotFound, Upstream
from forge.store.papers import Paper, Papers

LARGEST = 50 * 1_000_000
KEEP_SECONDS = 24 * 3600.0
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*", re.ASCII)
_LONGEST_KEY = 200


class PaperMissing(NotFound):
    code = "paper_missing"


class PaperKeyInvalid(InvalidInput):
    code = "paper_key_invalid"


class PaperTooLarge(InvalidInput):
    code = "paper_too_large"


class PaperDamaged(Upstream):
    """The row is there and its bytes are gone or are others."""

    code = "paper_damaged"


def store_paper(shop: Workshop, who: Who, id_: str, key: str, data: bytes, *, pinned: bool = False) -> Paper:
    """In place of what had the key. A pinned one stays pinned."""
    project = project_for(shop, who, id_, "write")
    _check_key(key)
    if len(data) > LARGEST:
        raise PaperTooLarge(f"A paper has at most {LARGEST // 1_000_000} MB.", hint="Store it in parts.")
    now = time.time()
    digest = hashlib.sha256(data).hexdigest()
    rows = Papers(shop.database)
    made = Paper(project.id, key, digest, len(data), now, None if pinned else now + KEEP_SECONDS)
    paper_bytes.put(shop, digest, data, now)
    rows.put(made)
    if pinned:
        rows.pin(project.id, key, expires=None)
    audit(shop, who, "paper.put", f"project:{project.id}", f"{key}: {len(data)} bytes")
    return _found(rows, project.id, key)


def get_paper(shop: Workshop, who: Who, id_: str, key: str) -> tuple[Paper, bytes]:
    project = project_for(shop, who, id_)
    rows = Papers(shop.database)
    found = _found(rows, project.id, key)
    data = paper_bytes.get(shop, found.hash)
    if data is None or hashlib.sha256(data).hexdigest() != found.hash:
        raise PaperDamaged(f"The bytes of the paper {key!r} are lost.", hint="Store it again.")
    return found, data


def list_papers(shop: Workshop, who: Who, id_: str) -> tuple[Paper, ...]:
    return Papers(shop.database).list(project_for(shop, who, id_).id, now=time.time())


def pin_paper(shop: Workshop, who: Who, id_: str, key: str, *, pinned: bool = True) -> Paper:
    """Keep it until it is deleted; unpinned, it has 24 hours from now."""
    project = project_for(shop, who, id_, "write")
    rows = Papers(shop.database)
    _found(rows, project.id, key)
    rows.pin(project.id, key, expires=None if pinned else time.time() + KEEP_SECONDS)
    audit(shop, who, "paper.pin" if pinned else "paper.unpin", f"project:{project.id}", key)
    return _found(rows, project.id, key)


def delete_paper(shop: Workshop, who: Who, id_: str, key: str) -> None:
    project = project_for(shop, who, id_, "write")
    rows = Papers(shop.database)
    _found(rows, project.id, key)
    rows.delete(project.id, key)
    audit(shop, who, "paper.delete", f"project:{project.id}", key)


def _found(rows: Papers, project: str, key: str) -> Paper:
    found = rows.get(project, key, now=time.time())
    if found is None:
        raise PaperMissing(f"There is no paper {key!r}.", hint="List the papers; unpinned ones last 24 hours.")
    return found


def _check_key(key: str) -> None:
    if len(key) > _LONGEST_KEY or not _KEY.fullmatch(key):
        raise PaperKeyInvalid(
            f"{key[:_LONGEST_KEY]!r} is not a key for a paper.",
            hint="Use letters, digits, dots, dashes and slashes, such as scout/dossier.md.",
        )
