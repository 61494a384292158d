"""Tools that every agent has, one module each: `get_schema()` and `execute(vfs, args)`."""

NAMES = (
    "read_file",
    "list_files",
    "search",
    "get_lines",
    "write_file",
    "search_replace",
    "delete_file",
    "rename_file",
    "update_context",
    "grep_open",
    "check_syntax",
    "undo_edit",
    "run_command",
    "run_tests",
    "ask_user",
    "need_decision",
)
"""In the order in which models see them."""

TAKEN = frozenset((*NAMES, "use_skill"))
"""No tool of a repository may have one of these names."""
