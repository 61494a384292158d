"""What a repository tells agents: instruction files, and skills that are named first and read when used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import yaml

from forge.context.summaries import Redact, printable
from forge.errors import ForgeError, NotFound
from forge.git import VFS, DirKind, Entry, InvalidPath, ObjectId

NAMES = ("AGENTS.md", "CLAUDE.md")
SKILL_FOLDERS = (".agents/skills", ".claude/skills")
_MOST_SKILLS = 100
_MOST_HEAD = 16_000
_MOST_BRACKETS = 100
"""Reading nested ones costs with the square of their depth."""
_MOST_BODY = 64_000
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


class SkillMissing(NotFound):
    code = "skill_missing"


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    description: str
    path: str


def instruction_files(
    vfs: VFS, active: Iterable[str] = (), *, names: Sequence[str] = NAMES, off: Sequence[str] = ()
) -> tuple[str, ...]:
    """Those at the root, and those in folders above active files, outermost first. Equal texts come once.

    A person may switch some `off`.
    """
    folders = {""}
    for path in active:
        folder = path.rpartition("/")[0]
        while folder:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    found: list[str] = []
    seen: set[ObjectId] = set()
    for folder in sorted(folders, key=lambda folder: (folder.count("/") + bool(folder), folder)):
        for name in names:
            path = f"{folder}/{name}" if folder else name
            entry = entry_at(vfs, path)
            # `CLAUDE.md` is often a link to `AGENTS.md`, or a copy of it.
            if entry is None or entry.is_tree or entry.is_submodule or entry.is_symlink or entry.id in seen:
                continue
            if path not in off:
                seen.add(entry.id)
                found.append(path)
    return tuple(found)


def entry_at(vfs: VFS, path: str) -> Entry | None:
    """Like `vfs.entry`; a path that people wrote by hand and that cannot be one names nothing."""
    try:
        return vfs.entry(path)
    except InvalidPath:
        return None


def skills(vfs: VFS) -> tuple[Skill, ...]:
    """By name; the first folder wins where two skills have the same."""
    found: dict[str, Skill] = {}
    for folder in SKILL_FOLDERS:
        above = vfs.entry(folder)
        if above is None or not above.is_tree:
            continue
        for inner in vfs.list_dir(folder)[: _MOST_SKILLS * 2]:
            path = f"{folder}/{inner.name}/SKILL.md"
            if inner.kind is DirKind.DIRECTORY and vfs.file_exists(path):
                skill = _skill(vfs, path, inner.name)
                found.setdefault(skill.name, skill)
    return tuple(found[name] for name in sorted(found)[:_MOST_SKILLS])


def skills_text(found: Sequence[Skill], redact: Redact) -> str:
    """The list that a model gets from the start; empty when there are none."""
    if not found:
        return ""
    lines = [f"- {skill.name}: {skill.description or 'no description'}" for skill in found]
    head = "Skills of this repository. Use one by its name when the task calls for it; its text comes then."
    return redact("\n".join([head, *lines]) + "\n")


def skill_body(vfs: VFS, name: str) -> str:
    """The text of a skill without its head, and the files that came with it."""
    for skill in skills(vfs):
        if skill.name == name:
            text = _text(vfs, skill.path)[:_MOST_BODY]
            folder = skill.path.removesuffix("SKILL.md")
            beside = [path for path in vfs.list_files(folder) if path != skill.path][:50]
            files = "\n\nFiles of this skill:\n" + "\n".join(map(printable, beside)) if beside else ""
            return _FRONT.sub("", text, count=1).strip() + files + "\n"
    known = ", ".join(skill.name for skill in skills(vfs)) or "none"
    raise SkillMissing(f"There is no skill {printable(name)[:80]!r}.", hint=f"There are: {known}.")


def _skill(vfs: VFS, path: str, folder: str) -> Skill:
    head = _front_matter(_text(vfs, path)[:_MOST_HEAD])
    name, description = head.get("name"), head.get("description")
    return Skill(
        _one_line(name, 64) if isinstance(name, str) and name.strip() else _one_line(folder, 64),
        _one_line(description, 500) if isinstance(description, str) else "",
        path,
    )


def _front_matter(text: str) -> dict[object, object]:
    found = _FRONT.match(text)
    if found is None or found[1].count("[") + found[1].count("{") > _MOST_BRACKETS:
        return {}
    try:
        data = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _text(vfs: VFS, path: str) -> str:
    try:
        return vfs.read_bytes(path).decode("utf-8", "replace")
    except ForgeError:
        return ""


def _one_line(text: str, most: int) -> str:
    short = printable(" ".join(text.split()))
    return short if len(short) <= most else short[: most - 1] + "…"
