"""Writes the list of settings in `docs/configuration.md` from the default file and the model:
`python -m forge.settings.reference FILE`.
"""

from __future__ import annotations

import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, SecretStr

from forge.settings.loader import default_text
from forge.settings.values import Settings

MARK = "<!-- From here on written by `python -m forge.settings.reference docs/configuration.md`. -->"
_TRAILING = re.compile(r"^  (\w+):.*?\s# (.*)$")
_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "directory"}


def updated(document: str) -> str:
    """The document with the part below the mark written anew; what is above is for people to write."""
    head = document.partition(MARK)[0].rstrip()
    return f"{head}\n\n{MARK}\n\n{reference()}"


def reference() -> str:
    return "\n".join(_sections())


def _sections() -> Iterator[str]:
    values = yaml.safe_load(default_text())
    for name, about, lines in _blocks(default_text()):
        yield f"## {name}\n"
        yield f"{about}\n"
        model = Settings.model_fields[name].annotation
        notes = {found[1]: found[2] for line in lines if (found := _TRAILING.match(line))}
        fields = model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else {}
        if fields:
            yield "| setting | default | kind | |\n|---|---|---|---|"
            for key, field in fields.items():
                shown = _shown(values[name][key])
                yield f"| `{name}.{key}` | {shown} | {_kind(field.annotation)} | {notes.get(key, '')} |"
            yield ""
        elif isinstance(values[name], Mapping) and values[name]:
            yield "| setting | default |\n|---|---|"
            yield from (f"| `{name}.{key}` | {_shown(value)} |" for key, value in values[name].items())
            yield ""
        else:
            yield f"Default: {_shown(values[name])}; {_kind(model)}.\n"


def _blocks(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each top-level name of the default file with the comment above it and its own lines."""
    for block in text.split("\n\n"):
        lines = block.splitlines()
        comment = [line for line in lines if line.startswith("#")]
        body = [line for line in lines if not line.startswith("#")]
        if body:
            yield body[0].partition(":")[0], _prose(comment), body


def _prose(comment: list[str]) -> str:
    """Comment lines as Markdown; what is indented in them is an example."""
    out: list[str] = []
    for line in (each[2:] for each in comment):
        example = line.startswith("  ")
        if example and not (out and out[-1].startswith("    ")):
            out.append("")
        if not example and out and out[-1].startswith("    "):
            out.append("")
        out.append(f"  {line}" if example else line)
    return "\n".join(out)


def _shown(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1_000_000, sort_keys=False, allow_unicode=True)
    return f"`{text.removesuffix(chr(10)).removesuffix('...').strip()}`"


def _kind(annotation: Any) -> str:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{each}`" for each in inner)
    if origin in (typing.Union, types.UnionType):
        kinds = [_kind(each) for each in inner if each is not type(None)]
        return " or ".join([*kinds, *(["null"] if type(None) in inner else [])])
    if origin is tuple:
        return f"list of {_kind(inner[0])}"
    if origin is not None:
        return "by name"
    return "text, secret" if annotation is SecretStr else _TYPES.get(annotation, "text")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(updated(file.read_text()))
