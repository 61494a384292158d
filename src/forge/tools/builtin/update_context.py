"""`update_context`: which files, or which of their lines, stay in the agent's context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.sessions.active import ActiveFile, read_active, write_active
from forge.tools.places import existing, nearest, refuse_internal, spelled
from forge.tools.result_text import lines_of, plural, text_of
from forge.tools.tool import ToolRetry

MOST_FILES = 100
_MOST_RANGES = 50

Range = tuple[int, int]


def get_schema() -> Json:
    return {
        "name": "update_context",
        "description": (
            "Put files into your context, where their present text is shown to you each turn, or take them out. "
            'Example: {"add": [{"path": "src/app.py"}, {"path": "src/big.py", "ranges": [[10, 80]]}], "remove": '
            '["old.py"]}. Without ranges the whole file is shown; ranges are added to those already there.'
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "add": {
                    "type": "array",
                    "maxItems": MOST_FILES,
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string"},
                            "ranges": {
                                "type": "array",
                                "maxItems": _MOST_RANGES,
                                "description": "First and last line of each part, from 1.",
                                "items": {
                                    "type": "array",
                                    "items": {"type": "integer", "minimum": 1},
                                    "minItems": 2,
                                    "maxItems": 2,
                                },
                            },
                        },
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                },
                "remove": {"type": "array", "maxItems": MOST_FILES, "items": {"type": "string"}},
            },
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    add, remove = args.get("add", []), args.get("remove", [])
    if not add and not remove:
        raise ToolRetry("Give `add`, `remove` or both.")
    files = {file.path: file for file in read_active(vfs)}
    for path in remove:
        _drop(vfs, files, path)
    for wanted in add:
        path = existing(vfs, wanted["path"])
        refuse_internal(path)
        text = text_of(vfs, path)
        ranges = _checked(path, wanted.get("ranges", ()), len(lines_of(text)))
        files[path] = added(files.get(path), path, ranges)
    return saved(vfs, files.values())


def added(old: ActiveFile | None, path: str, ranges: Sequence[Range]) -> ActiveFile:
    """A file with more of it in the context; a whole file stays whole."""
    if not ranges or (old is not None and not old.ranges):
        return ActiveFile(path)
    return ActiveFile(path, merged([*(old.ranges if old else ()), *ranges]))


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Sorted, with those that touch made one."""
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def saved(vfs: WorkInProgressVFS, files: Iterable[ActiveFile]) -> str:
    """Write the context and tell what is in it now."""
    wanted = tuple(files)
    if len(wanted) > MOST_FILES:
        raise ToolRetry(f"The context would hold {len(wanted)} files; {MOST_FILES} are the most. Remove some first.")
    write_active(vfs, wanted)
    if not wanted:
        return "The context has no files now."
    return f"In the context now ({plural(len(wanted), 'file')}):\n" + "\n".join(map(_row, wanted))


def _row(file: ActiveFile) -> str:
    return f"{file.path} ({_said(file.ranges)})" if file.ranges else file.path


def _said(ranges: Sequence[Range]) -> str:
    return "lines " + ", ".join(f"{first}-{last}" for first, last in ranges)


def _drop(vfs: WorkInProgressVFS, files: dict[str, ActiveFile], path: str) -> None:
    plain = path if path in files else spelled(vfs, path)
    if plain not in files:
        near = ", ".join(nearest(plain, list(files))) or "nothing"
        raise ToolRetry(f"{plain} is not in the context; near it is {near}.")
    del files[plain]


def _checked(path: str, ranges: Sequence[Sequence[int]], count: int) -> tuple[Range, ...]:
    for first, last in ranges:
        if last < first:
            raise ToolRetry(f"The range {first}-{last} of {path} ends before it begins.")
        if first > count:
            raise ToolRetry(f"{path} has only {plural(count, 'line')}; the range {first}-{last} is beyond them.")
    return merged((first, min(last, count)) for first, last in ranges)
