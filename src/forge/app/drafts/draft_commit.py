"""A draft becomes one commit on its branch. A branch that moved is never overwritten: the agent is told what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from forge.app.drafts import drafts
from forge.app.drafts.drafts import Agent, Draft, Opened, Target
from forge.app.repositories import carried_marks
from forge.errors import InvalidInput
from forge.git import BranchMoved, CommitId, RefMove, Repository
from forge.git.history.diff import diff as differing
from forge.git.objects import commits
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.drafts import find
from forge.git.refs.reservations import BranchBusy, release, reservation, reserve
from forge.git.workspace.forge_records import is_session

DRAFT = "Forge-Draft"
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Committed:
    branch: str
    commit: CommitId
    files: tuple[tuple[str, str], ...]
    """Kind of change and path."""


def commit(repo: Repository, agent: Agent, id_: str, message: str, *, branch: str | None = None) -> Committed:
    """One commit with all that is pending in the draft, on its branch or on the new branch named.

    The branch is reserved meanwhile. A second call after a crash finds the commit that the first one made.
    """
    draft = drafts.find(repo, agent, id_)
    target = branch or draft.branch
    if (made := _already(repo, draft, target)) is not None:
        drafts.forget(repo, agent, draft)
        return made
    if branch is not None and branch != draft.branch and repo.refs.tip(branch) is not None:
        raise InvalidInput(f"There is a branch {branch} already.", hint="Name a new one, or leave it out.")
    opened = drafts.writable(repo, agent, Target(draft=id_))
    files, tip = opened.files, repo.refs.tip(target)
    files.actor = agent.actor(id_, action="draft.commit", detail=f"{target}: {message.splitlines()[0][:72]}")
    repo.refs.refuse_unless_allowed([RefMove(branch_ref(target), tip, tip)], files.actor)
    changed = tuple((str(kind), path) for path, kind in files.pending_changes().items())
    trailers = {DRAFT: id_, "Forge-Asked-By": agent.person(repo)}
    with _reserved(repo, agent, target, id_):
        try:
            is_new = tip is None and files.base is not None
            if is_new:
                made_at = files.commit(message, agent.author(), trailers, onto=target)
            else:
                made_at = carried_marks.commit(repo, files, message, agent.author(), trailers)
        except BranchMoved as e:
            raise _moved(repo, agent, draft, opened) from e
    drafts.forget(repo, agent, draft)
    return Committed(target, made_at, changed)


@contextmanager
def _reserved(repo: Repository, agent: Agent, branch: str, id_: str) -> Iterator[None]:
    """Also over a reservation that a commit left when its process died."""
    try:
        reserve(repo.common_dir, branch, id_, agent.name)
    except BranchBusy:
        held = reservation(repo.common_dir, branch)
        if held is None or not held.abandoned or find(repo.objects, repo.refs, held.holder) is None:
            raise
        release(repo.common_dir, branch, held.holder)
        reserve(repo.common_dir, branch, id_, agent.name)
    try:
        yield
    finally:
        release(repo.common_dir, branch, id_)


def _already(repo: Repository, draft: Draft, branch: str) -> Committed | None:
    tip = repo.refs.tip(branch)
    if tip is None or commits.trailer(repo.objects.commit(tip).message, DRAFT) != draft.id:
        return None
    return Committed(branch, tip, _changed(repo, draft.base, tip))


def _moved(repo: Repository, agent: Agent, draft: Draft, opened: Opened) -> BranchMoved:
    tip = repo.refs.tip(draft.branch)
    if tip is None:
        return BranchMoved(
            f"{draft.branch} was deleted meanwhile; your draft is kept.",
            hint="Commit it to a new branch: give `branch`.",
        )
    there = [path for _, path in _changed(repo, draft.base, tip)]
    said = f"{draft.branch} moved meanwhile to {tip[:12]} ({repo.objects.commit(tip).subject}), changing {_few(there)}."
    both = sorted(set(there) & set(opened.files.pending))
    try:
        opened.files.catch_up()
    except BranchMoved:
        return BranchMoved(
            f"{said} Nothing was committed; your draft is kept. Changed on both sides: {_few(both or there)}.",
            hint=f"Read these files at {draft.branch} and make your change there in a new draft, or commit this draft "
            "to a new branch: give `branch`.",
        )
    drafts.save(repo, agent, opened)
    return BranchMoved(
        f"{said} Nothing was committed. No file of your draft changed there, so the draft now starts from {tip[:12]}.",
        hint="Check it on the new base (diff, tests), then commit again.",
    )


def _changed(repo: Repository, old: CommitId | None, new: CommitId) -> tuple[tuple[str, str], ...]:
    before = repo.objects.commit(old).tree if old else None
    found = differing(repo.objects, before, repo.objects.commit(new).tree)
    return tuple((str(each.kind), each.path) for each in found if not is_session(each.path))


def _few(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return (", ".join(paths[:_NAMED]) or "no file") + more
