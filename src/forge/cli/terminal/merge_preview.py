"""What merge, rebase and cherry-pick share: showing a preview, reading resolutions, performing it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from forge.app.admin.settings import load_settings
from forge.app.repositories.catalog import CommitId, Repository
from forge.app.repositories.diff import without_sessions
from forge.app.repositories.merges import (
    Conversation,
    Entry,
    MergeOrder,
    MergePreview,
    brought_along,
    perform,
    previewed,
    resolved,
    taken_away,
    with_terms,
)
from forge.cli.terminal.options import acting, short, tell_checkouts
from forge.cli.terminal.output import Output, cut
from forge.cli.terminal.progress import waiting
from forge.cli.terminal.session import BadUsage, Exit
from forge.errors import InvalidInput

Preview = Annotated[bool, typer.Option("--preview", help="Only show what would happen; nothing is written.")]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        "--resolve",
        metavar="PATH=FILE",
        help="Content for a path in conflict; without FILE the path is deleted. In a chain of commits, "
        "COMMIT:PATH=FILE says at which one.",
    ),
]
Along = Annotated[
    Conversation | None,
    typer.Option(
        "--conversation",
        help="What comes along of the conversations that come in: every turn, a summary, or nothing. Onto a default "
        "branch what `merged_sessions` says, elsewhere every turn.",
    ),
]

Contents = dict[str, bytes | None]
_STEP = re.compile(r"([0-9a-f]{7,40}):(.+)", re.DOTALL)


def carry_out(
    repo: Repository,
    out: Output,
    order: MergeOrder,
    *,
    doing: str,
    only: bool,
    resolve: Sequence[str] | None,
    agent: str | None,
) -> int:
    """Show the preview or perform it; conflicts that wait for a person have their own exit code."""
    actor = acting(agent)
    with waiting(out, doing):
        order = with_terms(repo, order, load_settings(repo, os.environ).merged_sessions)
        preview = previewed(repo, order)
        if resolve:
            preview = resolved(repo, preview, resolutions(preview, resolve))
    operation = None if only else perform(repo, preview, actor=actor)
    terms = order.conversation
    out.result({**_document(repo, preview, terms), "performed": operation is not None, "operation": operation})
    _describe(repo, out, preview, terms)
    if preview.conflicts:
        step = f"{short(preview.stopped_at)}:" if preview.steps else ""
        example = out.styled(f"--resolve {step}{preview.conflicts[0].path}=FILE")
        out.line(f"Nothing was changed. Give each content, for example {example}")
        return Exit.WAITING
    if operation is not None:
        tip = out.styled(short(preview.result or ""), "yellow")
        out.line(f"{out.styled(preview.target, 'cyan')} → {tip}")
        tell_checkouts(out, operation)
    return Exit.OK


def resolutions(preview: MergePreview, words: Sequence[str]) -> dict[CommitId, Contents]:
    """Contents by the commit that they belong to and by path."""
    found: dict[CommitId, Contents] = {}
    for word in words:
        place, sign, file = word.partition("=")
        if not sign or not place:
            raise BadUsage(f"{word!r} is not PATH=FILE.", hint="For example --resolve src/app.py=merged.py.")
        commit, path = _place(preview, place)
        try:
            found.setdefault(commit, {})[path] = Path(file).read_bytes() if file else None
        except OSError as e:
            raise InvalidInput(f"{file} cannot be read: {e.strerror}.", hint="Name a file with the content.") from e
    return found


def _place(preview: MergePreview, place: str) -> tuple[CommitId, str]:
    step = _STEP.fullmatch(place)
    if step:
        for original in (s.original for s in preview.steps):
            if original.startswith(step[1]):
                return original, step[2]
    return preview.stopped_at, place


def _document(repo: Repository, preview: MergePreview, terms: Conversation | None) -> dict[str, object]:
    return {
        "kind": preview.kind,
        "outcome": preview.outcome,
        "target": preview.target,
        "target_tip": preview.target_tip,
        "result": preview.result,
        "tree": preview.tree,
        "files": {file.path: file.change for file in without_sessions(preview.files)},
        "conflicts": [
            {
                "path": conflict.path,
                "kind": conflict.kind,
                "base": _side(conflict.base),
                "ours": _side(conflict.ours),
                "theirs": _side(conflict.theirs),
                "marked": conflict.marked,
            }
            for conflict in preview.conflicts
        ],
        "steps": [
            {
                "original": step.original,
                "subject": repo.commit(step.original).subject,
                "state": step.state,
                "result": step.result,
            }
            for step in preview.steps
        ],
        "messages": preview.messages,
        "conversation": brought_along(preview),
        "conversation_removed": taken_away(preview),
        "conversation_choice": terms if preview.has_conversation else None,
    }


def _side(entry: Entry | None) -> dict[str, str] | None:
    return {"mode": f"{entry.mode:o}", "id": entry.id} if entry else None


def _describe(repo: Repository, out: Output, preview: MergePreview, terms: Conversation | None) -> None:
    colour = "yellow" if preview.conflicts else "green"
    out.line(f"{out.styled(preview.reason)}: {out.styled(preview.outcome, colour)}")
    rows = [
        (
            f"  {step.state}",
            out.styled(short(step.original), "yellow"),
            out.styled(cut(repo.commit(step.original).subject, 60)),
        )
        for step in preview.steps
    ]
    out.table(rows)
    if not (preview.steps and preview.conflicts):  # half a chain says nothing about the files in the end
        out.table((f"  {file.change}", out.styled(file.path)) for file in without_sessions(preview.files))
        _describe_conversation(out, preview, terms)
    for conflict in preview.conflicts:
        out.line(f"  {out.styled('conflict', 'yellow')}  {out.styled(conflict.path, 'bold')} ({conflict.kind})")


def _describe_conversation(out: Output, preview: MergePreview, terms: Conversation | None) -> None:
    along, gone = brought_along(preview), taken_away(preview)
    if along is not None:
        out.line(f"  + {along}")
    if gone is not None:
        out.line(f"  − {gone}")
    if preview.has_conversation and terms == "drop":
        out.line("  The conversation is left out.")
    elif along is not None and preview.has_conversation:
        out.aside("--conversation drop leaves the conversation out.")
