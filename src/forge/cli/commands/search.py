"""`forge file search`: search the files of a branch or commit."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories.files import Case, FileMatches, Query, found_in
from forge.app.repositories.search_cache import warm_in_background
from forge.cli.terminal.options import MOST, At, Branch, looked_at, opened
from forge.cli.terminal.output import Output
from forge.cli.terminal.progress import waiting
from forge.cli.terminal.session import Exit


def search(
    context: typer.Context,
    pattern: Annotated[str, typer.Argument(help="What to look for: plain text, or an expression with -E.")],
    branch: Branch = None,
    at: At = None,
    regex: Annotated[bool, typer.Option("--regex", "-E", help="PATTERN is a regular expression.")] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Ignore upper and lower case.")] = False,
    word: Annotated[bool, typer.Option("--word", "-w", help="Only whole words.")] = False,
    glob: Annotated[
        list[str] | None,
        typer.Option(
            "--glob", "-g", metavar="GLOB", help="Only these paths; !GLOB leaves out. Conversations: .forge/**."
        ),
    ] = None,
    before: Annotated[
        int, typer.Option("--before", "-B", metavar="N", min=0, max=1000, help="Lines to show before.")
    ] = 0,
    after: Annotated[int, typer.Option("--after", "-A", metavar="N", min=0, max=1000, help="Lines to show after.")] = 0,
    around: Annotated[int, typer.Option("--context", "-U", metavar="N", min=0, max=1000, help="Both at once.")] = 0,
    limit: Annotated[
        int, typer.Option("-n", metavar="N", min=1, max=MOST, help="Stop after this many matching lines.")
    ] = 1000,
) -> int:
    """Search files. Exit code 1 if nothing was found."""
    repo, out = opened(context)
    view = looked_at(repo, branch, at)
    query = Query(
        pattern,
        regex=regex,
        case=Case.INSENSITIVE if ignore_case else Case.SENSITIVE,
        whole_word=word,
        include=tuple(g for g in glob or () if not g.startswith("!")),
        exclude=tuple(g[1:] for g in glob or () if g.startswith("!")),
        context_before=before or around,
        context_after=after or around,
        max_matches=limit,
    )
    with waiting(out, f"Searching for {pattern}"):
        found = found_in(repo, view, query)
    out.result(
        {
            "files": [{"path": file.path, "matches": file.matches} for file in found.files],
            "matches": found.matches,
            "truncated": found.truncated,
            "binary": found.binary,
            "too_large": found.too_large,
        }
    )
    for file in found.files:
        _show(out, file)
    for path in found.binary:
        out.line(f"{out.styled(path, 'cyan')}: binary file matches")
    for path in found.too_large:
        out.note(f"{path} was not searched: it is too large.")
    if found.truncated == "time":
        out.note(f"Stopped after {query.max_seconds:.0f} s; not every file was searched.")
    elif found.truncated:
        out.note(f"Stopped after {found.matches} matching lines; -n raises the limit.")
    if view.commit:
        warm_in_background(repo, view.commit)
    return Exit.OK if found.matches or found.binary else Exit.ERROR


def _show(out: Output, file: FileMatches) -> None:
    """Each line once, even where the lines around two matches overlap; gaps between them are marked."""
    lines: dict[int, str] = {}
    for match in file.matches:
        around = [*enumerate(match.before, match.line - len(match.before)), *enumerate(match.after, match.line + 1)]
        for number, text in around:
            lines.setdefault(number, f"-{number}-{out.styled(text, 'dim')}")
    gaps = bool(lines)
    lines |= {match.line: f":{match.line}:{_marked(out, match.text, match.spans)}" for match in file.matches}
    path = out.styled(file.path, "cyan")
    for number in sorted(lines):
        if gaps and number - 1 not in lines:
            out.line("--")
        out.line(f"{path}{lines[number]}")


def _marked(out: Output, text: str, spans: tuple[tuple[int, int], ...]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [out.styled(text[at:start]), out.styled(text[start:end], "bold", "red")]
        at = end
    return "".join([*parts, out.styled(text[at:])])
