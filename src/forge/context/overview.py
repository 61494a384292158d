"""The whole of a branch in one text within a budget.

A small branch gets a line for each file. A large one gets a map of its folders, then some files of every folder: those
near the active files and the words of the message first. A function of the tree and what is asked for: the same in
every process, byte for byte, now and later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from forge.context import tokens
from forge.context.file_order import Folders, ordered
from forge.context.folders import Folder, counts, folder_map, folder_tree
from forge.context.summaries import File, Redact, printable, summaries
from forge.context.summary_cache import SummaryCache
from forge.git.objects.object_store import Objects
from forge.git.search.globs import accepting
from forge.git.values import ObjectId

EXCLUDED = (
    "node_modules/",
    "bower_components/",
    "vendor/",
    "third_party/",
    "site-packages/",
    ".venv/",
    "venv/",
    "dist/",
    "build/",
    "out/",
    "target/",
    "coverage/",
    "__pycache__/",
    "__snapshots__/",
    ".next/",
    ".nuxt/",
    ".idea/",
    ".yarn/",
    "*.lock",
    "*.min.js",
    "*.min.css",
    "*.map",
    "*.snap",
    "package-lock.json",
    "pnpm-lock.yaml",
    "go.sum",
)
"""Counted by folder, but neither summarised nor named."""
HIDDEN = (".forge/session*",)
"""Changes with every turn and is the conversation itself."""

BYTES_PER_TOKEN = 2.8
"""Of overview text. Measured: 2.97 to 3.67 in overviews of seven repositories (Django, Prometheus, pyenv, Forge, three
generated ones) with the tokenizers of Claude 2, GPT-4 (cl100k) and DeepSeek. A little less than the least of them, so
that a budget holds."""

_LEAST_MAP = 100
_LEAST_LINE = 20
_LEAST_NAME = 2
_MOST_COUNTS = 60
_AT_ONCE = 64
_HEAD = (
    "Files of the branch, one line each: path — kind, lines: main symbols. "
    "Read a file before you rely on what is in it."
)
_MAP_HEAD = "Folders of the branch, with the number of files in each:"
_SOME_HEAD = (
    "Some of the files, one line each: path — kind, lines: main symbols. "
    "List a folder or search for others; read a file before you rely on what is in it."
)
_NAMES_HEAD = "Further files, by name:"
_COUNTS_HEAD = "Files that are not named here:"
_HEADS = tokens.size(_MAP_HEAD + _SOME_HEAD + _NAMES_HEAD) + 6


@dataclass(frozen=True, slots=True)
class Overview:
    text: str
    summarised: int
    """How many files have a summary; returned as `summarise`, the same text comes out again."""
    complete: bool
    """Whether time was no reason to leave a summary out."""
    files: int
    computed: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """What an overview is made of, besides the tree."""

    budget: int
    near: tuple[str, ...] = ()
    """Paths whose surroundings matter most."""
    exclude: tuple[str, ...] = EXCLUDED
    words: tuple[str, ...] = ()
    """Files that are called by these come first."""


def tokens_of(text: str) -> int:
    """How many tokens an overview takes, at most."""
    return -int(-tokens.size(text) // BYTES_PER_TOKEN)


def overview(
    objects: Objects,
    tree: ObjectId,
    asked: Asked,
    cache: SummaryCache,
    redact: Redact,
    *,
    summarise: int | None = None,
    budget_seconds: float | None = None,
) -> Overview:
    """Within `asked.budget` tokens; with `summarise`, exactly that many of the first files get a summary."""
    shown, excluded = _sorted_out(objects, tree, asked.exclude)
    files = sum(map(len, shown.values()))
    size = int(asked.budget * BYTES_PER_TOKEN)
    space = max(size - _HEADS, 0)
    # No more than these can be named, so the order of the others does not matter.
    most = max(space // _LEAST_NAME, summarise or 0) + 1
    first = list(islice(ordered(shown, asked.near, asked.words), most))
    room = None if summarise is not None else space
    made = _summary_lines(objects, first[:summarise], cache, redact, room=room, budget_seconds=budget_seconds)
    if len(made.lines) == files:
        text = _each_file(made.lines, [path for path, _ in first], excluded)
        if tokens.size(text) <= size:
            return Overview(text, files, True, files + len(excluded), made.computed)
    folders = folder_tree([path for group in shown.values() for path, _ in group], (), excluded)
    mapped = _folder_lines(folders, min(max(space // 4, _LEAST_MAP), size - tokens.size(_MAP_HEAD) - 2))
    left = space - _taken(mapped)
    lines = made.lines if summarise is not None else _within(made.lines, left * 3 // 4)
    named = _named(first[len(lines) :], left - _taken(lines))
    text = _part(_MAP_HEAD, mapped) + _part(_SOME_HEAD, sorted(lines)) + _part(_NAMES_HEAD, named)
    return Overview(text.lstrip("\n"), len(lines), made.in_time, files + len(excluded), made.computed)


def _each_file(lines: Sequence[str], paths: Sequence[str], excluded: Sequence[str]) -> str:
    counted = counts((), paths, excluded=excluded, most=_MOST_COUNTS)
    return "\n".join([_HEAD, *sorted(lines)]) + "\n" + _part(_COUNTS_HEAD, counted)


def _part(head: str, lines: Sequence[str]) -> str:
    return "\n".join(["", head, *lines]) + "\n" if lines else ""


def _folder_lines(folders: Folder, room: int) -> list[str]:
    """As many lines as fit, all of them: which folders are opened depends on how many lines there may be."""
    folders.named = False  # all files are counted, whether they are named below or not
    most = room // _LEAST_LINE
    while most > 0:
        lines = folder_map(folders, most=most)
        taken = _taken(lines)
        if taken <= room:
            return lines
        most = min(most - 1, len(lines) * room // taken)
    return []


def _taken(lines: Sequence[str]) -> int:
    return sum(tokens.size(line) + 1 for line in lines)


def _sorted_out(objects: Objects, tree: ObjectId, exclude: Sequence[str]) -> tuple[Folders, list[str]]:
    """Files to show by folder, and paths that are only counted."""
    in_folder = accepting((), [*HIDDEN, *(glob for glob in exclude if glob.endswith("/"))])
    by_itself = accepting((), [*HIDDEN, *(glob for glob in exclude if not glob.endswith("/"))])
    assert in_folder is not None
    assert by_itself is not None
    hidden = accepting(HIDDEN, ())
    assert hidden is not None
    shown: Folders = {}
    left_out: list[str] = []
    known: dict[str, list[File] | None] = {}
    for path, entry in objects.files(tree):
        folder = path[: path.rfind("/") + 1]
        if folder not in known:  # what excludes a folder excludes all in it: one question for many files
            known[folder] = shown.setdefault(folder[:-1], []) if in_folder(f"{folder}x") else None
        place = known[folder]
        if place is not None and by_itself(path):
            place.append((path, entry))
        elif not (path.startswith(".forge/") and hidden(path)):
            left_out.append(path)
    return shown, left_out


@dataclass(frozen=True, slots=True)
class _Lines:
    lines: list[str]
    in_time: bool
    computed: int


def _summary_lines(
    objects: Objects,
    files: Sequence[File],
    cache: SummaryCache,
    redact: Redact,
    *,
    room: int | None,
    budget_seconds: float | None,
) -> _Lines:
    """Lines of the first files: all of them, or as many as fit into `room` bytes and can be made in time."""
    if room is None:
        made = summaries(objects, files, cache, redact)
        lines = [line or printable(path) for (path, _), line in zip(files, made.lines, strict=True)]
        return _Lines(lines, True, made.computed)
    lines = []
    computed = 0
    for batch in _batches(files[: room // _LEAST_LINE + 1]):
        made = summaries(objects, batch, cache, redact, budget_seconds=budget_seconds)
        computed += made.computed
        if budget_seconds is not None and made.computed:
            budget_seconds = max(0.0, budget_seconds - made.seconds)
        for (path, _), line in zip(batch, made.lines, strict=True):
            if line is None and budget_seconds is not None:
                return _Lines(lines, False, computed)
            text = line or printable(path)
            room -= tokens.size(text) + 1
            if room < 0:
                return _Lines(lines, True, computed)
            lines.append(text)
    return _Lines(lines, True, computed)


def _batches(files: Sequence[File]) -> Iterator[Sequence[File]]:
    for start in range(0, len(files), _AT_ONCE):
        yield files[start : start + _AT_ONCE]


def _named(files: Sequence[File], room: int) -> list[str]:
    """Names only, one line for each folder, as many of the first files as fit into `room` bytes."""
    by_folder: dict[str, list[str]] = {}
    for path, _ in files:
        folder, _, name = path.rpartition("/")
        room -= tokens.size(name) + 2 + (0 if folder in by_folder else tokens.size(folder) + 3)
        if room < 0:
            break
        by_folder.setdefault(folder, []).append(name)
    return [
        f"{printable(folder) or '.'}/: {', '.join(printable(name) for name in sorted(by_folder[folder]))}"
        for folder in sorted(by_folder)
    ]


def _within(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= tokens.size(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
