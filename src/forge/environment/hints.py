"""Hints of files that Forge reads but does not follow: `.tool-versions`, `devcontainer.json`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forge.environment.branch_files import existing, text
from forge.git import VFS

_DEVCONTAINERS = (".devcontainer/devcontainer.json", ".devcontainer.json")


@dataclass(frozen=True, slots=True)
class Hints:
    python: str = ""
    notes: tuple[str, ...] = ()


def hints(vfs: VFS) -> Hints:
    notes = []
    versions = dict(re.findall(r"^\s*([\w-]+)\s+(\S+)", text(vfs, ".tool-versions"), re.MULTILINE))
    if versions:
        told = ", ".join(f"{name} {version}" for name, version in sorted(versions.items())[:10])
        notes.append(f".tool-versions names {told}.")
    for path in existing(vfs, _DEVCONTAINERS):
        notes.extend(_devcontainer(path, text(vfs, path)))
    return Hints(versions.get("python", ""), tuple(notes))


def _devcontainer(path: str, content: str) -> list[str]:
    """Comments make it no JSON, so that only three well-known lines are read."""
    notes = []
    for key, words in (
        ("image", "{path} names the image {value}; Forge uses the programs of this machine."),
        (
            "postCreateCommand",
            "{path} runs `{value}` after creation; put it into .forge/environment.yaml if it is needed.",
        ),
        ("onCreateCommand", "{path} runs `{value}` on creation; put it into .forge/environment.yaml if it is needed."),
    ):
        if found := re.search(rf'^\s*"{key}"\s*:\s*"((?:[^"\\]|\\.)*)"', content, re.MULTILINE):
            notes.append(words.format(path=path, value=found[1][:200]))
    return notes
