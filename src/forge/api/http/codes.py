"""Which problems come where: codes by status, shared by the routes of a noun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Codes = Mapping[int, Sequence[str]]

REPOSITORY: Codes = {
    404: ("repository_missing",),
    422: ("request_invalid", "unsupported_repository"),
    502: ("git_failed", "repository_unreadable", "storage_failed"),
}
LOOKING: Codes = {
    404: ("repository_missing", "branch_missing", "revision_missing", "file_missing"),
    409: ("session_unreadable",),
    422: ("request_invalid", "invalid_revision", "invalid_name", "invalid_path", "invalid_page", "not_text"),
}
CHANGING: Codes = {
    403: ("record_protected",),
    404: (
        "repository_missing",
        "branch_missing",
        "revision_missing",
        "history_pruned",
        "file_missing",
        "operation_missing",
    ),
    409: (
        "branch_moved",
        "branch_exists",
        "branch_busy",
        "branch_checked_out",
        "checkout_in_the_way",
        "index_locked",
        "branch_is_alias",
        "merge_conflicts",
        "nothing_to_undo",
        "path_clash",
        "ref_locked",
    ),
    422: ("request_invalid", "invalid_revision", "invalid_name", "invalid_path", "invalid_input", "file_over_limit"),
}

PUSHING: Codes = {
    403: ("push_denied", "remote_denied"),
    404: ("remote_missing",),
    409: ("push_rejected", "lease_stale"),
    502: ("remote_unreachable",),
}


ENVIRONMENT: Codes = {
    403: ("setup_not_approved", "setup_approval_denied"),
    404: ("environment_missing",),
    409: ("proposal_changed",),
    422: ("environment_invalid",),
}


def together(*groups: Codes) -> dict[int, list[str]]:
    """All codes of these groups, each once."""
    joined: dict[int, list[str]] = {}
    for group in groups:
        for status, names in group.items():
            known = joined.setdefault(status, [])
            known += [name for name in names if name not in known]
    return joined
