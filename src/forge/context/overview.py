"""The whole of a branch in one text within a budget: the nearest files with summaries, more by name, the rest counted.

A function of the tree and what is asked for: the same in every process, byte for byte, now and later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from forge.context import tokens
from forge.context.folders import counts, upwards
from forge.context.kinds import Role, kind_of
from forge.context.summaries import File, Redact, printable, summaries
from forge.context.summary_cache import SummaryCache
from forge.git.objects import Objects
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

_FOR_SUMMARIES, _FOR_NAMES = 0.75, 0.15
_LEAST_LINE = 12
_LEAST_NAME = 1
_AT_ONCE = 64
_MOST_NEAR = 64
_HEAD = (
    "Files of the branch, one line each: path — kind, lines: main symbols. "
    "Read a file before you rely on what is in it."
)
_NAMES_HEAD = "Further files, by name:"
_COUNTS_HEAD = "Files that are not named here:"
_HEADS = tokens.of_text(_HEAD + _NAMES_HEAD + _COUNTS_HEAD) + 3


@dataclass(frozen=True, slots=True)
class Overview:
    text: str
    summarised: int
    """How many files have a summary; given back as `summarise`, the same text comes out again."""
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
    """Within `asked.budget` tokens; with `summarise`, exactly that many of the nearest files get a summary."""
    shown, excluded = _sorted_out(objects, tree, asked.exclude)
    files = sum(map(len, shown.values()))
    # No more than these can be named, so the order of the others does not matter.
    most = max(asked.budget // _LEAST_NAME, summarise or 0) + 1
    ranked = list(islice(_ranked(shown, asked.near), most))
    space = max(asked.budget - _HEADS, 0)
    room = int(space * _FOR_SUMMARIES) if files * _LEAST_LINE > space // 4 else space
    lines, complete, computed = _summary_lines(
        objects, ranked, cache, redact, room=room, summarise=summarise, budget_seconds=budget_seconds
    )
    named = _named(ranked[len(lines) :], int(space * _FOR_NAMES))
    paths = {path for path, _ in ranked[: len(lines) + named.count]}
    left_out = [path for group in shown.values() for path, _ in group if path not in paths]
    room = space - tokens.of_text("\n".join([*lines, *named.lines]))
    counted = _within(counts(left_out, paths, excluded=excluded, most=min(60, room // _LEAST_LINE)), room)
    parts = [_HEAD, *sorted(lines)]
    if named.lines:
        parts += ["", _NAMES_HEAD, *named.lines]
    if counted:
        parts += ["", _COUNTS_HEAD, *counted]
    return Overview("\n".join(parts) + "\n", len(lines), complete, files + len(excluded), computed)


Folders = dict[str, list[File]]


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


def _ranked(folders: Folders, near: Sequence[str]) -> Iterator[File]:
    """Assets last; else nearest to what is worked on, then shallow, then source before settings, then by path."""
    distance = _distances(folders.keys(), near)
    assets: list[File] = []
    for folder in sorted(folders, key=lambda path: (distance[path], path.count("/") + bool(path), path)):
        roles = [(kind_of(file[0]).role, file) for file in folders[folder]]
        assets += [file for role, file in roles if role >= Role.ASSET]
        yield from (file for _, file in sorted((item for item in roles if item[0] < Role.ASSET), key=_role_and_path))
    yield from assets


def _role_and_path(item: tuple[Role, File]) -> tuple[Role, str]:
    return item[0], item[1][0]


def _distances(folders: Iterable[str], near: Sequence[str]) -> dict[str, int]:
    """Steps from each folder to the nearest of those that hold a file in `near`; without any, from the root."""
    every = {""}
    for folder in folders:
        every.update(takewhile(lambda above: above not in every, upwards(folder)))
    far = len(every) + 1
    starts = {path.rpartition("/")[0] for path in near[-_MOST_NEAR:]} & every or {""}
    steps = {folder: 0 if folder in starts else far for folder in every}
    downwards = sorted(every, key=lambda folder: (folder.count("/") + bool(folder), folder))
    for folder in reversed(downwards):
        if folder:
            above = folder.rpartition("/")[0]
            steps[above] = min(steps[above], steps[folder] + 1)
    for folder in downwards:
        if folder:
            steps[folder] = min(steps[folder], steps[folder.rpartition("/")[0]] + 1)
    return steps


def _summary_lines(
    objects: Objects,
    ranked: Sequence[File],
    cache: SummaryCache,
    redact: Redact,
    *,
    room: int,
    summarise: int | None,
    budget_seconds: float | None,
) -> tuple[list[str], bool, int]:
    """Lines of the first files: as many as asked for, or as fit and can be made in time."""
    if summarise is not None:
        made = summaries(objects, ranked[:summarise], cache, redact)
        return [line or printable(ranked[at][0]) for at, line in enumerate(made.lines)], True, made.computed
    lines: list[str] = []
    computed = 0
    for batch in _batches(ranked[: room // _LEAST_LINE + 1]):
        made = summaries(objects, batch, cache, redact, budget_seconds=budget_seconds)
        computed += made.computed
        if budget_seconds is not None and made.computed:
            budget_seconds = max(0.0, budget_seconds - made.seconds)
        for (path, _), line in zip(batch, made.lines, strict=True):
            if line is None and budget_seconds is not None:
                return lines, False, computed
            text = line or printable(path)
            room -= tokens.of_bytes(tokens.size(text) + 1)
            if room < 0:
                return lines, True, computed
            lines.append(text)
    return lines, True, computed


def _batches(files: Sequence[File]) -> Iterator[Sequence[File]]:
    for start in range(0, len(files), _AT_ONCE):
        yield files[start : start + _AT_ONCE]


@dataclass(frozen=True, slots=True)
class _Named:
    lines: list[str]
    count: int


def _named(files: Sequence[File], room: int) -> _Named:
    """Names only, one line for each folder, as many of the first files as fit."""
    by_folder: dict[str, list[str]] = {}
    count = 0
    for path, _ in files:
        folder, _, name = path.rpartition("/")
        taken = tokens.size(name) + 2 + (0 if folder in by_folder else tokens.size(folder) + 3)
        room -= tokens.of_bytes(taken)
        if room < 0:
            break
        by_folder.setdefault(folder, []).append(name)
        count += 1
    lines = [
        f"{printable(folder) or '.'}/: {', '.join(printable(name) for name in sorted(by_folder[folder]))}"
        for folder in sorted(by_folder)
    ]
    return _Named(lines, count)


def _within(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= tokens.of_bytes(tokens.size(line) + 1)
        if room < 0:
            break
        kept.append(line)
    return kept
