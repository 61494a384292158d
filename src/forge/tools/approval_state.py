"""Whether a tool of the repository may run: compares its content, the record of approvals and the copy in a branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from forge.errors import ForgeError
from forge.git import GitCommitVFS, WorkInProgressVFS
from forge.tools.approval_records import ApprovalRecords, RecordedApproval
from forge.tools.approvals import FOLDER, Listed, read_approvals
from forge.tools.imports import Closure

_NAMED = 5


class ApprovalState(StrEnum):
    APPROVED = "approved"
    CHANGED = "changed"
    """It, or something it imports, is not what was approved."""
    NEW = "new"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Standing:
    state: ApprovalState
    reason: str = ""
    """One or more sentences; empty for a tool that may run."""
    differs: str = ""
    """How the copy in the branch and the record differ; empty where they agree."""
    basis: RecordedApproval | None = None
    """The approval that the tool has, or had before it changed."""


class Approvals:
    """The approvals that a workspace begins with. Only the copy in its base commit counts, and only with a record."""

    def __init__(self, vfs: WorkInProgressVFS) -> None:
        self.records = ApprovalRecords(vfs.objects.common_dir)
        self._problem = ""
        try:
            self.listed: Listed = read_approvals(GitCommitVFS(vfs.objects, vfs.base))
        except ForgeError as e:
            self.listed, self._problem = {}, e.message

    def standing(self, name: str, sources: Closure, pending: Mapping[str, object]) -> Standing:
        """What the approvals say of the tool `name` as it is in `sources`. Sources that are `pending` never run."""
        listed, recorded = self.listed.get(name, ()), self.records.find(name, sources.hash)
        differs = self.difference(name, sources.hash)
        if recorded is None or not recorded.counts or recorded.approval.path != sources.path:
            return self._refused(name, sources, recorded, differs)
        if all(each.hash != sources.hash for each in listed):
            state = ApprovalState.CHANGED if listed else ApprovalState.NEW
            return Standing(state, "It is approved, but not on this branch.", differs, self._basis(name))
        if touched := [path for path in sources.files if path in pending]:
            return Standing(ApprovalState.CHANGED, f"{_some(touched)} changed in this turn.", differs, recorded)
        return Standing(ApprovalState.APPROVED, "", differs, recorded)

    def difference(self, name: str, content: str) -> str:
        """How copy and record differ about the tool `name`, which now has the hash `content`."""
        if self._problem:
            return self._problem
        listed, found = self.listed.get(name, ()), self.records.find(name, content)
        if not listed:
            if found is None or not found.counts:
                return ""
            return f"{FOLDER} on this branch does not list the approval by {_who_and_when(found)}."
        for each in listed:
            proof = self.records.find(name, each.hash)
            if proof is None or not proof.counts:
                return f"{FOLDER} lists an approval by {each.approved_by} that is not on record here."
            if proof.approval != each:
                return f"{FOLDER} tells other details of the approval than the record: by {_who_and_when(proof)}."
        return ""

    def _refused(self, name: str, sources: Closure, recorded: RecordedApproval | None, differs: str) -> Standing:
        if recorded is not None and not recorded.counts:
            when = (recorded.revoked_at or "")[:10]
            return Standing(ApprovalState.NEW, f"{recorded.revoked_by} revoked its approval on {when}.", differs)
        basis = self._basis(name)
        if basis is None:
            return Standing(ApprovalState.NEW, "Nobody has approved it yet.", differs)
        return Standing(ApprovalState.CHANGED, _since(sources.files, basis.approval.files), differs, basis)

    def _basis(self, name: str) -> RecordedApproval | None:
        """What a change is compared with: the version that the branch lists, else the newest that was approved."""
        listed = {each.hash for each in self.listed.get(name, ())}
        counting = [each for each in self.records.of(name) if each.counts]
        same = (each for each in counting if each.approval.hash in listed)
        return next(same, counting[0] if counting else None)


def _who_and_when(recorded: RecordedApproval) -> str:
    return f"{recorded.approval.approved_by} on {recorded.approval.approved_at[:10]}"


def _since(now: Mapping[str, str], then: Mapping[str, str]) -> str:
    changed = sorted(path for path in now.keys() & then.keys() if now[path] != then[path])
    rows = [
        f"{_some(paths)} {verb}"
        for paths, verb in (
            (changed, "changed"),
            (sorted(now.keys() - then.keys()), "came in"),
            (sorted(then.keys() - now.keys()), "went"),
        )
        if paths
    ]
    return f"Since it was approved, {'; '.join(rows) or 'the way it is found changed'}."


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
