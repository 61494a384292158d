"""Branches as workspaces: one virtual file system over git objects. Nothing here prints or checks anything out."""

from forge.git.branches import Branch
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
from forge.git.operations import Operation, RefMove
from forge.git.repository import Repository
from forge.git.values import (
    PERSON,
    Actor,
    ActorKind,
    Commit,
    CommitId,
    Entry,
    Mode,
    ObjectId,
    Signature,
)
from forge.git.vfs import VFS, DirEntry, DirKind, GitCommitVFS
from forge.git.workspace import Change, Pending, WorkInProgressVFS

__all__ = [
    "PERSON",
    "VFS",
    "Actor",
    "ActorKind",
    "Branch",
    "BranchExists",
    "BranchMissing",
    "BranchMoved",
    "Change",
    "Commit",
    "CommitId",
    "DirEntry",
    "DirKind",
    "Entry",
    "GitCommitVFS",
    "InvalidPath",
    "MergeConflicts",
    "Mode",
    "NotText",
    "ObjectId",
    "Operation",
    "Pending",
    "ProtectedBranch",
    "RefMove",
    "Repository",
    "Signature",
    "StorageFailed",
    "WorkInProgressVFS",
]
