"""Searching as tools do it: arguments to a query, and matches as rows that a model reads."""

from __future__ import annotations

from forge.git import Case, FileMatches, Query, WorkInProgressVFS
from forge.git.search.results import SearchOutcome, search
from forge.json_value import Json
from forge.tools.places import FORGE
from forge.tools.result_text import clipped

SECONDS = 15.0
_WIDTH = 300

PATTERN: Json = {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 2_000, "description": "Text, looked for line by line."},
    "regex": {"type": "boolean", "description": "Take `pattern` as a Python regular expression. Default: plain text."},
    "ignore_case": {"type": "boolean"},
    "whole_word": {"type": "boolean"},
    "include": {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "maxItems": 50,
        "description": 'Only paths that match one of these globs, such as ["*.py", "src/**"].',
    },
    "exclude": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 50},
}
"""Arguments that `search` and `grep_open` share."""


def found(
    vfs: WorkInProgressVFS, args: Json, *, matches: int, per_file: int = 1_000, context: int = 0
) -> SearchOutcome:
    include, exclude = tuple(args.get("include", ())), tuple(args.get("exclude", ()))
    if not any(FORGE in glob for glob in include):
        exclude = (*exclude, f"/{FORGE}/")
    query = Query(
        args["pattern"],
        regex=args.get("regex", False),
        case=Case.INSENSITIVE if args.get("ignore_case") else Case.SENSITIVE,
        whole_word=args.get("whole_word", False),
        include=include,
        exclude=exclude,
        context_before=context,
        context_after=context,
        max_matches=matches,
        max_per_file=per_file,
        max_seconds=SECONDS,
    )
    return search(vfs.objects, vfs.base_tree, query, pending=vfs.pending).collected()


def rows(file: FileMatches) -> list[str]:
    """The file's path, then each line once: `12: text` where it matches, `12- text` around it, `--` at gaps."""
    lines: dict[int, str] = {}
    for match in file.matches:
        around = [*enumerate(match.before, match.line - len(match.before)), *enumerate(match.after, match.line + 1)]
        for number, text in around:
            lines.setdefault(number, f"{number}- {clipped(text, _WIDTH)}")
    gaps = bool(lines)
    lines |= {match.line: f"{match.line}: {clipped(match.text, _WIDTH)}" for match in file.matches}
    shown = [file.path]
    for number in sorted(lines):
        if gaps and number - 1 not in lines and len(shown) > 1:
            shown.append("  --")
        shown.append(f"  {lines[number]}")
    return shown


def remarks(result: SearchOutcome) -> list[str]:
    """What a search did not look at or did not show."""
    said = [f"[{path} is binary and matches.]" for path in result.binary[:10]]
    if result.too_large:
        said.append(f"[Not searched, too large: {', '.join(result.too_large[:10])}.]")
    if result.truncated == "time":
        said.append(f"[Stopped after {SECONDS:.0f} s: not every file was searched. Narrow it with `include`.]")
    return said
