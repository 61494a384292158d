"""Facts about a repository that stop an operation.

InvalidInput   InvalidPath · InvalidName · InvalidRevision · NotText · FileTooLarge · UnsupportedRepository
NotFound       RepositoryMissing · BranchMissing · RevisionMissing · HistoryPruned · FileMissing · OperationMissing
Conflict       BranchMoved · BranchExists · PathClash · RefLocked · MergeConflicts · NothingToUndo ·
               NothingToCommit · BranchCheckedOut · BranchIsAlias · IndexLocked · CheckoutInTheWay
Denied         ProtectedBranch · ReadOnlyView
Upstream       StorageFailed · GitFailed · RepositoryUnreadable
"""

from __future__ import annotations

from forge.errors import Conflict, Denied, InvalidInput, NotFound, Upstream


class InvalidPath(InvalidInput):
    code = "invalid_path"


class InvalidName(InvalidInput):
    code = "invalid_name"


class InvalidRevision(InvalidInput):
    code = "invalid_revision"


class NotText(InvalidInput):
    code = "not_text"


class FileTooLarge(InvalidInput):
    """Saved only when a person says so: hosts refuse such files, and history never gets smaller again."""

    code = "file_over_limit"


class UnsupportedRepository(InvalidInput):
    code = "unsupported_repository"


class RepositoryMissing(NotFound):
    code = "repository_missing"


class BranchMissing(NotFound):
    code = "branch_missing"


class RevisionMissing(NotFound):
    code = "revision_missing"


class HistoryPruned(RevisionMissing):
    """What a commit builds on was removed from the repository, and nothing here has it any more."""

    code = "history_pruned"


class FileMissing(NotFound):
    code = "file_missing"


class OperationMissing(NotFound):
    code = "operation_missing"


class BranchMoved(Conflict):
    code = "branch_moved"


class BranchExists(Conflict):
    code = "branch_exists"


class PathClash(Conflict):
    """A file where a directory would have to be, or two names that differ only in case."""

    code = "path_clash"


class RefLocked(Conflict):
    code = "ref_locked"


class IndexLocked(RefLocked):
    """Another git command has the index of a checkout; the branch cannot move without it."""

    code = "index_locked"


class CheckoutInTheWay(Conflict):
    """A checkout of the branch cannot be told of the move; the next commit there would take it back."""

    code = "checkout_in_the_way"


class MergeConflicts(Conflict):
    code = "merge_conflicts"


class NothingToUndo(Conflict):
    code = "nothing_to_undo"


class NothingToCommit(Conflict):
    code = "nothing_to_commit"


class BranchCheckedOut(Conflict):
    code = "branch_checked_out"


class BranchIsAlias(Conflict):
    code = "branch_is_alias"


class ProtectedBranch(Denied):
    code = "protected_branch"


class RecordProtected(Denied):
    """A record of Forge's own, such as a session or an approval, was to be changed by something else."""

    code = "record_protected"


class ReadOnlyView(Denied):
    code = "read_only_view"


class StorageFailed(Upstream):
    """The disk is full, read-only or broken. Nothing was half-written."""

    code = "storage_failed"


class GitFailed(Upstream):
    code = "git_failed"


class CollectionTimedOut(GitFailed):
    """A directory has more in it than could be looked through in time."""

    code = "collection_timed_out"


class RepositoryUnreadable(Upstream):
    code = "repository_unreadable"
