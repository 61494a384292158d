"""Approvals of setups: a person's record over the hash of a proposal, beside those of tools, outside every branch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forge.environment.configuration import PATH
from forge.environment.proposal import Proposal
from forge.tools.approval_records import ApprovalRecords, RecordedApproval
from forge.tools.approvals import Approval

_NAME = "environment setup"
"""No tool has this name: theirs hold no space."""


@dataclass(frozen=True, slots=True)
class SetupApprovals:
    """Those of one repository."""

    common_dir: Path

    def find(self, proposal: Proposal) -> RecordedApproval | None:
        """The approval that counts for exactly this proposal."""
        found = ApprovalRecords(self.common_dir).find(_NAME, proposal.hash)
        return found if found is not None and found.counts else None

    def latest(self) -> RecordedApproval | None:
        return next((each for each in ApprovalRecords(self.common_dir).of(_NAME) if each.counts), None)

    def keep(self, proposal: Proposal, *, by: str, user: str, branch: str) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        approval = Approval(PATH, proposal.hash, proposal.executed, by, at)
        ApprovalRecords(self.common_dir).keep(RecordedApproval(_NAME, approval, user, branch), _sources(proposal))

    def revoke(self, by: str) -> bool:
        """Take back every approval of a setup in this repository."""
        return ApprovalRecords(self.common_dir).revoke(_NAME, by, datetime.now(UTC).isoformat(timespec="seconds"))

    def difference(self, proposal: Proposal) -> str:
        """How the proposal differs from the one approved last; empty where none was."""
        before = self.latest()
        return ApprovalRecords(self.common_dir).difference(before, _sources(proposal)) if before else ""


def _sources(proposal: Proposal) -> dict[str, bytes]:
    return {"setup": (json.dumps(proposal.approved_content, indent=1, default=list) + "\n").encode()}
