"""Which repository a call means, of those that its person may see."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import Repository, list_repositories, repository
from forge.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

_NAMED = 20
_ID = re.compile(r"[0-9a-f]{12}")


class RepositoryNeeded(InvalidInput):
    """Several repositories are there, and none was named."""

    code = "repository_needed"


def named(shop: Workshop, who: Who, name: str | None, scope: str) -> tuple[str, Repository]:
    """By id or name; the only one where none is named. Another's ends like one that does not exist."""
    if name is not None and _ID.fullmatch(name):
        with suppress(NotFound):
            repo = repository(shop, who, name, scope)
            return (repo.work_tree or repo.git_dir).name, repo
    seen = list_repositories(shop, who)
    found = [each for each in seen if name in (None, each.id)] or [each for each in seen if each.name == name]
    if len(found) == 1:
        return found[0].name, repository(shop, who, found[0].id, scope)
    known = ", ".join(f"{each.name} ({each.id})" for each in seen[:_NAMED]) or "none"
    if name is None:
        raise RepositoryNeeded("Name a repository: `REPO:branch`.", hint=f"You see: {known}.")
    if not found:
        raise NotFound(f"There is no repository {name[:60]!r}.", hint=f"You see: {known}.")
    raise RepositoryNeeded(f"Several repositories are named {name!r}.", hint=f"Use an id: {known}.")
