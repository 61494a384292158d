"""What to do next, for callers of the API: errors come with hints for the command line, where most of them began."""

from __future__ import annotations

import re

# `forge serve` stays: somebody starts the server by it, whoever asks.
_COMMAND = re.compile(r"`forge (?!serve)|(?<![\w-])--[a-z]|(?<![\w-])-C\b")
_BY_CODE = {
    "branch_busy": "Wait until the turn ends, or end it: POST …/session/cancel.",
    "branch_missing": "GET …/branches lists them.",
    "confirmation_needed": "Send `confirmed: true` if it is meant.",
    "document_missing": "GET …/documents and …/artifacts list what there is.",
    "file_missing": "GET …/files lists them.",
    "git_failed": "Try again; GET /api/doctor looks at the machine.",
    "key_unknown": "GET /api/keys lists them.",
    "model_unknown": "GET /api/models lists who can answer.",
    "operation_missing": "GET …/operations lists them.",
    "project_missing": "GET /api/projects lists them.",
    "prompt_missing": "GET /api/prompts lists them.",
    "repository_missing": "GET /api/repositories lists them; POST adds one that is a git repository.",
    "revision_missing": "GET …/commits and …/branches list what there is.",
    "scope_missing": "Use a key with this scope; POST /api/keys makes one.",
    "setting_unknown": "GET /api/settings lists them.",
    "turn_missing": "GET …/session/turns lists them.",
    "user_tool_missing": "GET …/tools lists them.",
    "user_unknown": "GET /api/users lists them.",
}
_BY_STATUS = {
    400: "Send one JSON document.",
    401: "Sign in, or send a key as `Authorization: Bearer`.",
    403: "Ask a person with the permission.",
    404: "List what there is, and use an id from there.",
    409: "Look at how it is now, then try again.",
    412: "Read it again and make your change there.",
    429: "Wait for the seconds that `Retry-After` names.",
    502: "Try again; the server's log has the details.",
}
_ELSE = "GET /api/openapi.json says what is expected."


def hint_for(status: int, code: str, hint: str) -> str:
    """`hint`, unless it is empty or names a command; never empty."""
    if hint and not _COMMAND.search(hint):
        return hint
    return _BY_CODE.get(code) or _BY_STATUS.get(status, _ELSE)
