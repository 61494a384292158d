"""What merge, rebase and cherry-pick share: showing a preview, reading resolutions, performing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from forge.cli.options import acting, short, tell_checkouts
from forge.cli.output import Output
from forge.cli.running import Exit
from forge.errors import InvalidInput
from forge.git import MergePreview, Repository

Preview = Annotated[bool, typer.Option("--preview", help="Only show what would happen; nothing is written.")]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        "--resolve",
        metavar="PATH=FILE",
        help="Content for a path in conflict; an empty FILE deletes the path. May be repeated.",
    ),
]


def carry_out(
    repo: Repository, out: Output, shown: MergePreview, *, only: bool, resolve: Sequence[str] | None, agent: str | None
) -> int:
    """Show the preview or perform it; conflicts that wait for a person have their own exit code."""
    contents = resolutions(resolve or ())
    if contents:
        shown = shown.resolved(repo.objects, contents)
    operation = None if only or shown.conflicts else repo.perform(shown, actor=acting(agent))
    out.result({**_document(shown), "performed": operation is not None, "operation": operation})
    _describe(out, shown)
    if shown.conflicts:
        out.line("Nothing was changed. Give the contents with --resolve PATH=FILE, or merge by hand.")
        return Exit.WAITING
    if operation is not None:
        out.line(f"{out.styled(shown.target, 'cyan')} → {out.styled(short(shown.result or ''), 'yellow')}")
        tell_checkouts(out, operation)
    return Exit.OK


def resolutions(words: Sequence[str]) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for word in words:
        path, sign, file = word.partition("=")
        if not sign:
            raise InvalidInput(f"{word!r} is not PATH=FILE.", hint="For example --resolve src/app.py=merged.py.")
        try:
            found[path] = Path(file).read_bytes() if file else None
        except OSError as e:
            raise InvalidInput(f"{file} cannot be read: {e.strerror}.", hint="Name a file with the content.") from e
    return found


def _document(preview: MergePreview) -> dict[str, object]:
    return {
        "kind": preview.kind,
        "outcome": preview.outcome,
        "target": preview.target,
        "target_tip": preview.target_tip,
        "result": preview.result,
        "tree": preview.tree,
        "files": {file.path: file.change for file in preview.files},
        "conflicts": preview.conflicts,
        "steps": preview.steps,
        "messages": preview.messages,
    }


def _describe(out: Output, preview: MergePreview) -> None:
    colour = {"conflicts": "yellow"}.get(preview.outcome, "green")
    place = "of" if preview.kind == "rebase" else "into" if preview.kind == "merge" else "onto"
    out.line(f"{preview.kind} {place} {out.styled(preview.target, 'cyan')}: {out.styled(preview.outcome, colour)}")
    out.table((f"  {file.change}", out.styled(file.path)) for file in preview.files)
    for step in preview.steps:
        result = f" → {short(step.result)}" if step.result else ""
        out.line(f"  {short(step.original)} {step.state}{result}")
    for conflict in preview.conflicts:
        out.line(f"  {out.styled('conflict', 'yellow')} {out.styled(conflict.path, 'bold')} ({conflict.kind})")
