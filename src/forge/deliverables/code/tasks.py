"""The build's queue: the tasks of the specification in its order, and the acceptance tests at the end. Small tasks that
follow each other are done in one turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ACCEPTANCE = "acceptance-tests"
WHOLE = "build-it"
"""The task of a specification that names none."""
MOST_TOGETHER = 3
"""Small tasks in one turn, without the acceptance tests."""
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)[\s#]*")
_ITEM = re.compile(r"(\s*)(?:[-*+•–—]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)*(.*)")
_MARKS = re.compile(r"(?:\s*\((?:tests|small)\))+$", re.IGNORECASE)
_MARKUP = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class BuildTask:
    """`id` is the slug of the title: the same however often the list is made from the same specification."""

    id: str
    title: str
    tests: bool = False
    """Whether it has to leave tests behind."""
    is_small: bool = False
    """Whether it may share a turn with other tasks."""
    parts: tuple[BuildTask, ...] = ()
    """The tasks that are done together; empty for one alone."""

    @property
    def each(self) -> tuple[BuildTask, ...]:
        return self.parts or (self,)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.each)

    @property
    def has_acceptance(self) -> bool:
        return ACCEPTANCE in self.ids


def turns(tasks: Sequence[BuildTask]) -> tuple[BuildTask, ...]:
    """What is ordered at once: small tasks in a row together, and with the last of them, or with the only task, the
    acceptance tests. What was together has the id of its first task.
    """
    groups: list[list[BuildTask]] = []
    for task in tasks:
        last = groups[-1] if groups else []
        is_only = task.id == ACCEPTANCE and len(tasks) == 2 and last[0].id != WHOLE
        fits = task.id == ACCEPTANCE or (task.is_small and len(last) < MOST_TOGETHER)
        if last and (is_only or (fits and all(each.is_small for each in last))):
            last.append(task)
        else:
            groups.append([task])
    return tuple(_together(group) for group in groups)


def _together(group: Sequence[BuildTask]) -> BuildTask:
    if len(group) == 1:
        return group[0]
    title = "; ".join(task.title for task in group if task.id != ACCEPTANCE)
    return BuildTask(group[0].id, title, tests=any(task.tests for task in group), parts=tuple(group))


def queue(spec: str, constraints: str) -> tuple[BuildTask, ...]:
    """Derived again from the documents whenever it is needed; never kept."""
    count = len(criteria_of(constraints))
    each = f" and one acceptance test for each of the {count} criteria" if count else ""
    acceptance = BuildTask(ACCEPTANCE, f"Write the integration tests{each}", tests=True)
    named = tuple(task for task in spec_tasks(spec) if task.id != ACCEPTANCE)
    return (*(named or (BuildTask(WHOLE, "Build what is specified"),)), acceptance)


def spec_tasks(spec: str) -> tuple[BuildTask, ...]:
    """The tasks that a specification lists, in its order; a title that comes again gets a number."""
    found: dict[str, BuildTask] = {}
    for text in _items(spec, "tasks"):
        marks = found_marks[0].lower() if (found_marks := _MARKS.search(text)) else ""
        title = _MARKS.sub("", text) or text
        slug = _MARKUP.sub("-", title.casefold()).strip("-") or "task"
        id_ = next(i for n in range(1, len(found) + 2) if (i := slug if n == 1 else f"{slug}-{n}") not in found)
        found[id_] = BuildTask(id_, title, tests="(tests)" in marks, is_small="(small)" in marks)
    return tuple(found.values())


def criteria_of(constraints: str) -> tuple[str, ...]:
    return _items(constraints, "acceptance criteria")


def _items(document: str, title: str) -> tuple[str, ...]:
    """The points of the lists under a heading, each on one line with what is indented under it."""
    found: list[list[str]] = []
    base: int | None = None
    belongs = False
    for line in _under(document, title):
        item = _ITEM.fullmatch(line.expandtabs(4))
        if item and (base is None or len(item[1]) <= base + 1):
            base = len(item[1]) if base is None else min(base, len(item[1]))
            found.append([item[2]])
            belongs = True
        elif not line.strip():
            belongs = False
        elif found and (belongs or line[0].isspace()):
            found[-1].append(item[2] if item else line)
    return tuple(text for words in found if (text := " ".join(" ".join(words).split())))


def _under(document: str, title: str) -> Iterator[str]:
    """The lines under a heading, those under deeper headings included."""
    inside, fence = 0, ""
    for line in document.splitlines():
        mark = _FENCE.match(line)
        if mark and fence in {"", mark[1]}:
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.fullmatch(line)
        if heading and " ".join(heading[2].split()).strip("*_: ").casefold() == title:
            inside = len(heading[1])
        elif heading:
            inside = inside if len(heading[1]) > inside else 0
        elif inside:
            yield line
