"""`list_files`: paths below a folder or matching a glob; counts by folder when there are many."""

from __future__ import annotations

from collections import Counter

from forge.git import WorkInProgressVFS
from forge.git.search.globs import accepting
from forge.json_value import Json
from forge.tools.places import folder, visible_files
from forge.tools.result_text import fitting, plural

_MANY = 300


def get_schema() -> Json:
    return {
        "name": "list_files",
        "description": (
            "List files of the repository. Up to 300 come as full paths; of more, each folder comes with its number of "
            "files: list one of those next, or give a glob."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Only below this folder, such as src/api."},
                "glob": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Only matching paths: *.py at any depth, src/**/test_*.py from the root.",
                },
            },
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    at = folder(vfs, args.get("path", ""))
    prefix = f"{at}/" if at else ""
    files = visible_files(vfs, prefix)
    where = f" below {prefix}" if prefix else ""
    if "glob" in args:
        accepts = accepting((args["glob"],), ())
        files = [file for file in files if accepts is None or accepts(file)]
        where += f" matching {args['glob']}"
    if not files:
        return f"No files{where}."
    if len(files) <= _MANY:
        return _listed(f"{plural(len(files), 'file')}{where}:", files, len(files))
    if "glob" in args:
        return _listed(f"{plural(len(files), 'file')}{where}; the first {_MANY} are:", files[:_MANY], len(files))
    return _listed(f"{plural(len(files), 'file')}{where}, by folder:", _counted(files, prefix), len(files))


def _counted(files: list[str], prefix: str) -> list[str]:
    """One row for each file directly in the folder and for each folder in it; a lone folder is looked into."""
    counts: Counter[str] = Counter()
    for file in files:
        name, slash, _ = file[len(prefix) :].partition("/")
        counts[f"{prefix}{name}{slash}"] += 1
    if len(counts) == 1 and (inner := next(iter(counts))).endswith("/"):
        return _counted(files, inner)
    return [f"{name} ({plural(count, 'file')})" if name.endswith("/") else name for name, count in counts.items()]


def _listed(header: str, rows: list[str], total: int) -> str:
    count = fitting(rows)
    cut = count < len(rows) or (len(rows) == _MANY < total)
    footer = "\n[Not all are shown: give a folder as `path` or a narrower `glob`.]" if cut else ""
    return f"{header}\n" + "\n".join(rows[:count]) + footer
