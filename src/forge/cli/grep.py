"""`forge file grep`: search the files of a branch or commit."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.warming import warm_in_background
from forge.cli.options import branch_or_current, opened
from forge.cli.output import Output
from forge.cli.progress import waiting
from forge.cli.running import Exit
from forge.git import Case, FileMatches, Query


def grep(
    context: typer.Context,
    pattern: Annotated[str, typer.Argument(help="What to look for: plain text, or an expression with -E.")],
    branch: Annotated[str | None, typer.Option("--branch", "-b", help="The branch; the current one.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="REV", help="Search this commit instead.")] = None,
    regex: Annotated[bool, typer.Option("--regex", "-E", help="PATTERN is a regular expression.")] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Capitals do not count.")] = False,
    word: Annotated[bool, typer.Option("--word", "-w", help="Only whole words.")] = False,
    glob: Annotated[list[str] | None, typer.Option("--glob", "-g", help="Only these paths; !GLOB leaves out.")] = None,
    lines: Annotated[int, typer.Option("--context", "-A", min=0, help="Lines to show around each match.")] = 0,
    limit: Annotated[int, typer.Option("-n", min=1, help="Stop after so many matching lines.")] = 1000,
) -> int:
    """Search files. Exit code 1 if nothing was found."""
    repo, out = opened(context)
    view = repo.commit_vfs(at or branch_or_current(repo, branch))
    query = Query(
        pattern,
        regex=regex,
        case=Case.INSENSITIVE if ignore_case else Case.SENSITIVE,
        whole_word=word,
        include=tuple(g for g in glob or () if not g.startswith("!")),
        exclude=tuple(g[1:] for g in glob or () if g.startswith("!")),
        context_before=lines,
        context_after=lines,
        max_matches=limit,
    )
    with waiting(out, f"Searching for {pattern}"):
        found = repo.search(view, query).collected()
    out.result(
        {
            "files": [
                {"path": file.path, "matches": [match._asdict() for match in file.matches]} for file in found.files
            ],
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
    if found.truncated:
        out.note(f"Stopped at the limit of {found.truncated}; `-n` raises it.")
    if view.commit:
        warm_in_background(repo, view.commit)
    return Exit.OK if found.matches or found.binary else Exit.ERROR


def _show(out: Output, file: FileMatches) -> None:
    path = out.styled(file.path, "cyan")
    for match in file.matches:
        for offset, text in enumerate(match.before, match.line - len(match.before)):
            out.line(f"{path}-{offset}-{out.styled(text, 'dim')}")
        out.line(f"{path}:{match.line}:{_marked(out, match.text, match.spans)}")
        for offset, text in enumerate(match.after, match.line + 1):
            out.line(f"{path}-{offset}-{out.styled(text, 'dim')}")


def _marked(out: Output, text: str, spans: tuple[tuple[int, int], ...]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [out.styled(text[at:start]), out.styled(text[start:end], "bold", "red")]
        at = end
    return "".join([*parts, out.styled(text[at:])])
