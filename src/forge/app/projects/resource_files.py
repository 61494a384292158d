"""What a person gave to a project, for whoever builds it: a tool for models, a directory of texts for programs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forge.agents.profile import READ_RESOURCE
from forge.json_value import Json
from forge.pipeline import resources
from forge.tools.tool import FunctionTool, ToolRetry

_PAGE = 20_000
_DESCRIPTION = (
    "Read a file that the person gave to this project: a sample, a document, a specification. PDF, DOCX come as text. "
    "Without `path`, lists them. Long ones come in pages: the last line says how to read on."
)
_PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "As it is listed."},
        "offset": {"type": "integer", "minimum": 0, "description": "Where to begin, in characters."},
    },
    "additionalProperties": False,
}


def resource_tool(directory: Path, max_file_size_mb: float) -> FunctionTool:
    def read(arguments: Json) -> str:
        path = str(arguments.get("path", "")).removeprefix("resources/")
        return _page(directory, path, int(arguments.get("offset", 0)), max_file_size_mb) if path else _listed(directory)

    return FunctionTool(READ_RESOURCE, _DESCRIPTION, _PARAMETERS, read, outside=True)


@contextmanager
def resource_texts(directory: Path, max_file_size_mb: float, redact: Callable[[str], str]) -> Iterator[Path | None]:
    """Readable copies without secrets; None where the person gave nothing that can be read."""
    found = resources.read(directory, vision=False, max_file_size_mb=max_file_size_mb)
    if not found.texts:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="forge-resources-") as made:
        for each in found.texts:
            ending = ".txt" if each.kind in (resources.ResourceKind.PDF, resources.ResourceKind.DOCX) else ""
            place = Path(made) / f"{each.path}{ending}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(redact(each.text), encoding="utf-8")
        yield Path(made)


def _listed(directory: Path) -> str:
    names = [f"{path} ({size:,} bytes)" for path, size in resources.listed(directory)]
    return "\n".join(names) or "The person gave no files."


def _page(directory: Path, path: str, offset: int, max_file_size_mb: float) -> str:
    found = resources.read(directory, vision=False, max_file_size_mb=max_file_size_mb, only={path})
    if found.skipped:
        raise ToolRetry(f"{path} cannot be read: {found.skipped[0].reason}.")
    if not found.texts:
        raise ToolRetry(f"There is no file {path}. There are:\n{_listed(directory)}")
    text = found.texts[0].text
    end = offset + _PAGE
    more = f"\n[More follows: read on with offset={end}.]" if end < len(text) else ""
    return f"{text[offset:end]}{more}"
