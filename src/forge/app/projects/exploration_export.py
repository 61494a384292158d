"""What can be taken away of an exploration: briefs as documents, the register as a table, its views as pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.exploration_view import Exploration, briefs_of, shown
from forge.app.projects.lookup import project_for
from forge.errors import NotFound
from forge.explore import brief, paper, pictures
from forge.json_value import Json
from forge.projects.project import Project
from forge.settings import Settings

_COLUMNS = ("id", "claim", "type", "impact", "confidence", "status", "risk", "depends_on", "basis", "source", "owner")
_PICTURES: Mapping[str, Callable[[Exploration], str]] = {
    "matrix.svg": lambda seen: pictures.matrix(seen.assumptions),
    "dependencies.svg": lambda seen: pictures.dependencies(seen.assumptions),
    "tree.svg": lambda seen: pictures.tree(seen.tree),
}
_TABLES = ("assumptions.csv", "assumptions.md")
_TYPES = {
    "svg": "image/svg+xml",
    "csv": "text/csv",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_PAPERS: Mapping[str, Callable[[str], bytes]] = {"md": str.encode, "docx": paper.docx_of, "pdf": paper.pdf_of}
_RISKY = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for a formula."""


class ExportMissing(NotFound):
    code = "export_missing"


@dataclass(frozen=True, slots=True)
class Export:
    name: str
    media_type: str
    data: bytes


def export(shop: Workshop, who: Who, id_: str, name: str) -> Export:
    return exported(shop.settings, project_for(shop, who, id_), name)


def exported(settings: Settings, project: Project, name: str) -> Export:
    """By its name, such as `problem_brief.pdf` or `assumptions.csv`."""
    stem, _, ending = name.rpartition(".")
    kinds = {path.rpartition("/")[2].removesuffix(".md"): kind for kind, path in brief.FILES.items()}
    if name in _PICTURES:
        data = _PICTURES[name](shown(settings, project)).encode()
    elif name in _TABLES:
        rows = shown(settings, project).assumptions
        data = _csv(rows) if ending == "csv" else _markdown(rows).encode()
    elif stem in kinds and ending in _PAPERS:
        text = briefs_of(project).get(kinds[stem])
        if text is None:
            raise ExportMissing(f"{stem}.md is not written yet.", hint="Go on exploring; its mode writes it.")
        data = _PAPERS[ending](text)
    else:
        known = ", ".join([*_TABLES, *_PICTURES, *(f"{each}.{{{','.join(_PAPERS)}}}" for each in kinds)])
        raise ExportMissing(f"Nothing is exported as {name[:80]!r}.", hint=f"There are {known}.")
    return Export(name, _TYPES[ending], data)


def _row(each: Json) -> list[str]:
    values = (each[name] for name in _COLUMNS)
    return [", ".join(value) if isinstance(value, list | tuple) else str(value) for value in values]


def _csv(rows: tuple[Json, ...]) -> bytes:
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\r\n")
    write.writerow(_COLUMNS)
    write.writerows([f"'{cell}" if cell.startswith(_RISKY) else cell for cell in _row(each)] for each in rows)
    return out.getvalue().encode("utf-8-sig")  # so that a spreadsheet reads it as UTF-8


def _markdown(rows: tuple[Json, ...]) -> str:
    lines = [_COLUMNS, ["---"] * len(_COLUMNS), *(_row(each) for each in rows)]
    cells = ([" ".join(str(cell).split()).replace("|", "\\|") for cell in line] for line in lines)
    return "# Assumptions, riskiest first\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in cells)
