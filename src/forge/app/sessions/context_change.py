"""Changes of the files in context, for every face: marked, then told to whoever looks at the branch, and audited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from forge.app.repositories.catalog import Repository, id_of, subject_of
from forge.app.sessions import context
from forge.app.sessions.context import ActiveFile
from forge.app.sessions.conversation import Sessions
from forge.events import BranchChanged

if TYPE_CHECKING:
    from forge.app.access.identity import Shop, Who
    from forge.store.events import Events

    class TellingShop(Shop, Protocol):
        @property
        def events(self) -> Events: ...


def change_found(
    shop: TellingShop,
    who: Who,
    repo: Repository,
    sessions: Sessions,
    branch: str,
    *,
    add: Sequence[ActiveFile] = (),
    remove: Sequence[str] = (),
) -> tuple[ActiveFile, ...]:
    """For a person with the permission."""
    from forge.app.access.identity import audit  # noqa: PLC0415 - loads the database

    before = sessions.head(branch)
    if remove:
        context.remove(sessions, branch, remove)
    if add:
        context.add(sessions, branch, add)
    if sessions.head(branch) != before:
        # No ref moves: what is marked is a file beside them.
        audit(shop, who, "context.change", f"repository:{id_of(repo)}", branch)
        shop.events.append(subject_of(repo, branch).topic, BranchChanged(branch, repo.refs.tip(branch), who.name))
    return context.active_files(sessions, branch)
