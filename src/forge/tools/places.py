"""Where a tool may read and write: how paths are spelled, what is near a wrong one, and what only Forge changes."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename

from forge.git import VFS, DirKind
from forge.git.workspace import forge_records
from forge.tools.tool import ToolFailed, ToolRetry

FORGE = forge_records.FOLDER
SUGGESTIONS = 5
_LIKENESS = 55.0
_LISTED = 20

is_internal = forge_records.is_inside


def spelled(vfs: VFS, path: str) -> str:
    """`path` as the repository spells it. A foreign spelling passes when it names something that is there."""
    if vfs.file_exists(path):
        return path
    if "\0" in path:
        raise ToolRetry("The path contains a NUL character.")
    plain = _normalised(path)
    if not plain:
        raise ToolRetry(f"`{path}` names no file. Paths start at the root of the repository, such as src/app.py.")
    if (path.startswith("/") or "\\" in path) and vfs.entry(plain) is None:
        raise ToolRetry(
            f"`{path}` is not a path here: paths start at the root of the repository, without a leading slash, and "
            f"use / between folders. Did you mean `{plain}`?{_near(vfs, plain)}"
        )
    return plain


def folder(vfs: VFS, path: str) -> str:
    """An existing folder, the root as the empty text."""
    plain = _normalised(path)
    if not plain:
        return ""
    found = vfs.entry(plain)
    if found is None:
        raise ToolRetry(f"No such folder: {plain}.{_near(vfs, plain)}")
    if not found.is_tree:
        raise ToolRetry(f"{plain} is not a folder. read_file shows a file.")
    return plain


def existing(vfs: VFS, path: str) -> str:
    """The file that `path` names."""
    plain = spelled(vfs, path)
    found = vfs.entry(plain)
    if found is None:
        raise ToolRetry(f"No such file: {plain}.{_near(vfs, plain)}")
    if found.is_tree:
        raise ToolRetry(f"{plain} is a folder. It holds: {_inside(vfs, plain)}")
    if found.is_submodule:
        raise ToolFailed(f"{plain} is a submodule: its files are in another repository.")
    return plain


def writable(vfs: VFS, path: str) -> str:
    """A path that a tool may write, delete or rename, whether or not something is there."""
    plain = spelled(vfs, path)
    refuse_internal(plain)
    return plain


def refuse_internal(path: str) -> None:
    if is_internal(path):
        raise ToolFailed(
            f"{path} was not changed: {FORGE}/ holds Forge's own records (sessions, approvals), and no tool writes "
            "them. update_context changes which files are in the context; approvals are given by a person."
        )


def nearest(path: str, files: Sequence[str], most: int = SUGGESTIONS) -> list[str]:
    """Paths that `path` may have meant: the same name elsewhere first, then similar ones."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only wrong paths need it

    name = basename(path)
    same = [file for file in files if basename(file) == name]
    same.sort(key=lambda file: (-fuzz.ratio(path, file), file))
    similar = process.extract(path, files, scorer=fuzz.ratio, limit=most, score_cutoff=_LIKENESS)
    ranked = sorted(similar, key=lambda found: (-found[1], found[0]))
    return list(dict.fromkeys([*same[:most], *(file for file, _, _ in ranked)]))[:most]


def visible_files(vfs: VFS, prefix: str = "") -> list[str]:
    """Files without Forge's own records, unless `prefix` asks for those."""
    files = vfs.list_files(prefix)
    return files if is_internal(prefix) else [file for file in files if not file.startswith(f"{FORGE}/")]


def _near(vfs: VFS, path: str) -> str:
    found = nearest(path, visible_files(vfs))
    return f" Near it: {', '.join(found)}." if found else " list_files shows the files."


def _inside(vfs: VFS, path: str) -> str:
    names = [entry.name + "/" * (entry.kind is DirKind.DIRECTORY) for entry in vfs.list_dir(path)]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more + "."


def _normalised(path: str) -> str:
    names: list[str] = []
    for name in path.replace("\\", "/").split("/"):
        if name == "..":
            if not names:
                raise ToolRetry(f"`{path}` leads out of the repository. Paths start at its root, such as src/app.py.")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return "/".join(names)
