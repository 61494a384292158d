"""Branches as workspaces: one virtual file system over git objects. Nothing here prints or checks anything out."""

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
from forge.git.materialize import Budget, CollectedChange, MaterializedDirectory
from forge.git.merging.preview import MergePreview
from forge.git.merging.status import MergeState, MergeStatus
from forge.git.refs.branches import Branch
from forge.git.refs.operations import Operation, RefMove
from forge.git.repository import Repository
from forge.git.search import Case, FileMatches, Match, Query, SearchResult
from forge.git.values import (
    PERSON,
    Actor,
    ActorKind,
    Commit,
    CommitId,
    Entry,
    Mode,
    ObjectId,
    Request,
    Signature,
)
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
