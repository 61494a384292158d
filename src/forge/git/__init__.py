"""Branches as workspaces: one virtual file system over git objects. Nothing here prints or checks anything out.

The public names are below. Each is loaded from its module when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.git.errors import (
        BranchExists,
        BranchMissing,
        BranchMoved,
        InvalidPath,
        MergeConflicts,
        NotText,
        ProtectedBranch,
        StorageFailed,
    )
    from forge.git.history.blame import BlameLine
    from forge.git.history.commit_log import CommitDetails
    from forge.git.history.diff import ChangeKind, FileChange
    from forge.git.history.graph import GraphCursor, GraphRow
    from forge.git.materialize.budget import Budget
    from forge.git.materialize.collect import CollectedChange
    from forge.git.materialize.directory import MaterializedDirectory
    from forge.git.merging.preview import MergePreview
    from forge.git.merging.status import MergeState, MergeStatus
    from forge.git.refs.branches import Branch
    from forge.git.refs.operations.operation import Operation, RefMove
    from forge.git.repository import Repository
    from forge.git.search.matches import FileMatches, Match
    from forge.git.search.query import Case, Query
    from forge.git.search.results import SearchResult
    from forge.git.values import PERSON, Actor, ActorKind, Commit, CommitId, Entry, Mode, ObjectId, Request, Signature
    from forge.git.workspace.commit_vfs import VFS, DirEntry, DirKind, GitCommitVFS
    from forge.git.workspace.pending import Change, Pending
    from forge.git.workspace.work_in_progress import WorkInProgressVFS

__all__ = [
    "PERSON",
    "VFS",
    "Actor",
    "ActorKind",
    "BlameLine",
    "Branch",
    "BranchExists",
    "BranchMissing",
    "BranchMoved",
    "Budget",
    "Case",
    "Change",
    "ChangeKind",
    "CollectedChange",
    "Commit",
    "CommitDetails",
    "CommitId",
    "DirEntry",
    "DirKind",
    "Entry",
    "FileChange",
    "FileMatches",
    "GitCommitVFS",
    "GraphCursor",
    "GraphRow",
    "InvalidPath",
    "Match",
    "MaterializedDirectory",
    "MergeConflicts",
    "MergePreview",
    "MergeState",
    "MergeStatus",
    "Mode",
    "NotText",
    "ObjectId",
    "Operation",
    "Pending",
    "ProtectedBranch",
    "Query",
    "RefMove",
    "Repository",
    "Request",
    "SearchResult",
    "Signature",
    "StorageFailed",
    "WorkInProgressVFS",
]

_MODULES = {
    "forge.git.errors": (
        "BranchExists BranchMissing BranchMoved InvalidPath MergeConflicts NotText ProtectedBranch StorageFailed"
    ),
    "forge.git.history.blame": "BlameLine",
    "forge.git.history.commit_log": "CommitDetails",
    "forge.git.history.diff": "ChangeKind FileChange",
    "forge.git.history.graph": "GraphCursor GraphRow",
    "forge.git.materialize.budget": "Budget",
    "forge.git.materialize.collect": "CollectedChange",
    "forge.git.materialize.directory": "MaterializedDirectory",
    "forge.git.merging.preview": "MergePreview",
    "forge.git.merging.status": "MergeState MergeStatus",
    "forge.git.refs.branches": "Branch",
    "forge.git.refs.operations.operation": "Operation RefMove",
    "forge.git.repository": "Repository",
    "forge.git.search.matches": "FileMatches Match",
    "forge.git.search.query": "Case Query",
    "forge.git.search.results": "SearchResult",
    "forge.git.values": "Actor ActorKind Commit CommitId Entry Mode ObjectId PERSON Request Signature",
    "forge.git.workspace.commit_vfs": "DirEntry DirKind GitCommitVFS VFS",
    "forge.git.workspace.pending": "Change Pending",
    "forge.git.workspace.work_in_progress": "WorkInProgressVFS",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found
