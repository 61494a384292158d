"""What became of the files of a branch between two trees, in a few lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from forge.context.folders import counts
from forge.context.overview import HIDDEN
from forge.context.summaries import File, printable, summaries
from forge.errors import ForgeError
from forge.git.objects.tree_diff import ChangedEntry, changed_entries
from forge.git.search.globs import accepting

if TYPE_CHECKING:
    from forge.context.source import ContextSettings, Source
    from forge.git import ObjectId

_HEAD = "Files of the branch that changed since the list above (+ new, ~ changed, - gone):"
_UNKNOWN = "The branch was moved; the list of files above may be out of date. List the files first."
_SECONDS = 3.0
_MOST_FOLDERS = 8


def changes_text(old: ObjectId, new: ObjectId, but: Collection[str], source: Source, settings: ContextSettings) -> str:
    """Summary lines of files that differ, without those in `but`, which are told of otherwise; empty if none do."""
    if old == new:
        return ""
    try:
        found = [change for change in _relevant(old, new, source, settings) if change[0] not in but]
    except ForgeError:  # the older tree is gone: somebody rewound the branch and collected garbage
        return source.redact(f"{_UNKNOWN}\n")
    shown = found[: settings.change_lines]
    after = _lines([(path, entry) for path, _, entry in shown if entry is not None], source)
    before = _lines([(path, entry) for path, entry, now in shown if entry is not None and now is not None], source)
    lines = []
    for path, was, now in shown:
        if now is None:
            lines.append(f"- {printable(path)}")
        elif was is None:
            lines.append(f"+ {after[path]}")
        elif before[path] != after[path]:  # what the model knows of it is still right
            lines.append(f"~ {after[path]}")
    rest = [path for path, _, _ in found[len(shown) :]]
    if rest:
        lines.append(f"and {len(rest):,} more, by folder:")
        lines += counts(rest, (), most=_MOST_FOLDERS)
    return source.redact("\n".join([_HEAD, *lines]) + "\n") if lines else ""


def _relevant(old: ObjectId, new: ObjectId, source: Source, settings: ContextSettings) -> Iterator[ChangedEntry]:
    wanted = accepting((), (*HIDDEN, *settings.exclude))
    for change in changed_entries(source.objects, old, new):
        if wanted is None or wanted(change[0]):
            yield change


def _lines(files: list[File], source: Source) -> dict[str, str]:
    made = summaries(source.objects, files, source.summaries, source.redact, budget_seconds=_SECONDS)
    return {path: line or printable(path) for (path, _), line in zip(files, made.lines, strict=True)}
