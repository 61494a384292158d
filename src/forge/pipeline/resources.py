"""What a person put into a project's `resources/`, as values: text to read, pictures to look at, and what is neither.

All paths are relative to that directory.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from forge.context.kinds import Role, kind_of
from forge.errors import InvalidInput
from forge.git.process.disk import reporting, sync_directory, write_synced
from forge.pipeline import docx, pdf
from forge.pipeline.answerer import Picture
from forge.pipeline.text_decoder import decoded, media_type

MAX_FILE_SIZE_MB = 50
TEXT_BUDGET = 400_000
_MB = 1_000_000
_FILES = 1_000
_PICTURES_BYTES = 20 * _MB
_PDFS_SECONDS = 120.0
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
_PLACEHOLDER = ".gitkeep"
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class ResourceRefused(InvalidInput):
    """The file cannot become a resource."""

    code = "resource_refused"


class ResourceKind(StrEnum):
    TEXT = "text"
    CODE = "code"
    PDF = "pdf"
    DOCX = "docx"


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that was read. `note` says what is special about `text`: its encoding, or that it was cut."""

    path: str
    kind: ResourceKind
    text: str
    bytes_size: int
    note: str = ""
    pages: tuple[int, ...] = ()
    """Where each page of a PDF begins in `text`."""


@dataclass(frozen=True, slots=True)
class Skipped:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Resources:
    """Everything that was found, each sorted by path."""

    texts: tuple[Resource, ...] = ()
    pictures: tuple[Picture, ...] = ()
    skipped: tuple[Skipped, ...] = ()


Found = Resource | Picture | Skipped


def read(
    directory: Path,
    *,
    vision: bool,
    max_file_size_mb: float = MAX_FILE_SIZE_MB,
    text_budget: int = TEXT_BUDGET,
    only: Collection[str] | None = None,
) -> Resources:
    """Read all files below `directory`. Nothing of it raises: what cannot be read is named with the reason.

    `vision` tells whether the agent can look at pictures. Where all texts together exceed `text_budget` characters,
    the longest ones are cut. `only` names the paths to read; others are passed by.
    """
    reader = _Reader(directory, vision=vision, limit=int(max_file_size_mb * _MB), characters=text_budget)
    wanted = (path for path in _files(directory) if only is None or _name(path, directory) in only)
    found = [reader.read(path) if isinstance(path, Path) else path for path in wanted]
    texts = [each for each in found if isinstance(each, Resource)]
    return Resources(
        tuple(_within(texts, text_budget)),
        tuple(each for each in found if isinstance(each, Picture)),
        tuple(each for each in found if isinstance(each, Skipped)),
    )


def listed(directory: Path) -> tuple[tuple[str, int], ...]:
    """Paths and sizes of the files that `read` would open."""
    found = (path for path in _files(directory) if isinstance(path, Path))
    return tuple((shown(path.relative_to(directory).as_posix()), path.lstat().st_size) for path in found)


def add(resources: Path, source: Path, *, max_file_size_mb: float = MAX_FILE_SIZE_MB) -> str:
    """Copy a person's file into `resources`, under a name that is free there; gives that name."""
    return put(resources, source.name, content_of(source, max_file_size_mb=max_file_size_mb))


def content_of(source: Path, *, max_file_size_mb: float = MAX_FILE_SIZE_MB) -> bytes:
    """What a person's file contains. A file that cannot become a resource raises `ResourceRefused`."""
    _refuse_hidden(source.name)
    try:
        return _content(source, int(max_file_size_mb * _MB))
    except OSError as e:
        raise ResourceRefused(f"{source} cannot be read: {_words(e)}.", hint="Name a file that you may read.") from e
    except _Unfit as e:
        raise ResourceRefused(f"{source}: {e}.", hint="Name a single file within the limit.") from e


def put(resources: Path, name: str, data: bytes) -> str:
    """Keep content that a person sent, under a name that is free; gives that name."""
    _refuse_hidden(name)
    if not data:
        raise ResourceRefused(f"{shown(name)}: empty file.", hint="Send a file with something in it.")
    kept = "".join(letter if letter.isprintable() else "_" for letter in shown(name))
    with reporting():
        resources.mkdir(parents=True, exist_ok=True)
        return _put(resources, kept, data)


def _refuse_hidden(name: str) -> None:
    if name.startswith("."):
        raise ResourceRefused(f"{name} is a hidden file.", hint="Copy it under another name if it should be read.")


def _put(resources: Path, name: str, data: bytes) -> str:
    beside = resources / f".{os.urandom(8).hex()}"
    write_synced(beside, data)
    try:
        stem, ending = os.path.splitext(name)
        number, free = 1, name
        while True:
            try:
                os.link(beside, resources / free)  # fails where something has that name, unlike a rename
                break
            except FileExistsError:
                number += 1
                free = f"{stem}-{number}{ending}"
    finally:
        os.unlink(beside)
    sync_directory(resources)
    return free


def shown(path: str) -> str:
    """A path that can be written anywhere, whatever bytes its name is made of."""
    return os.fsencode(path).decode("utf-8", "replace")


class _Unfit(Exception):
    """Why a file is not taken, as a phrase."""


class _Reader:
    def __init__(self, root: Path, *, vision: bool, limit: int, characters: int) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._vision = vision
        self._limit = limit
        self._characters = characters
        self._pictures_room = _PICTURES_BYTES
        self._pdfs_room = _PDFS_SECONDS

    def read(self, path: Path) -> Found:
        name = shown(path.relative_to(self._root).as_posix())
        try:
            return self._read(path, name)
        except _Unfit as e:
            return Skipped(name, str(e))
        except OSError as e:
            return Skipped(name, f"cannot be opened: {_words(e)}")

    def _read(self, path: Path, name: str) -> Found:
        real = os.path.realpath(path)
        if path.is_symlink() and not Path(real).is_relative_to(self._real_root):
            raise _Unfit("symbolic link that leads out of the resources")
        ending = path.suffix.lower()
        if ending in _PICTURES and not self._vision:
            raise _Unfit("image: the agent cannot look at images")
        kind = kind_of(name)
        if kind.role is Role.ASSET and ending not in (*_PICTURES, ".pdf", ".docx", ".svg"):
            raise _Unfit(f"unsupported format: {ending.lstrip('.')} ({kind.name})")
        data = _content(Path(real), self._limit)
        if ending in _PICTURES:
            return self._picture(name, data)
        if ending == ".pdf":
            return self._pdf(name, data)
        if ending == ".docx":
            return self._docx(name, data)
        text = decoded(data, text_expected=kind.name != "file")
        if text is None:
            raise _Unfit("unsupported format: not text, not a PDF and not an image")
        if not text.content.strip():
            raise _Unfit("empty file")
        written = ResourceKind.CODE if kind.role in (Role.SOURCE, Role.CONFIG) else ResourceKind.TEXT
        return Resource(name, written, text.content, len(data), text.note)

    def _picture(self, name: str, data: bytes) -> Picture:
        found = media_type(data)
        if found is None:
            raise _Unfit("not an image, whatever its name says")
        if len(data) > self._pictures_room:
            raise _Unfit(f"no room: all images together may have {_PICTURES_BYTES // _MB} MB")
        self._pictures_room -= len(data)
        return Picture(name, found, data)

    def _docx(self, name: str, data: bytes) -> Resource:
        found = docx.extract(data, self._characters)
        if found.reason:
            raise _Unfit(found.reason)
        return Resource(name, ResourceKind.DOCX, found.text, len(data))

    def _pdf(self, name: str, data: bytes) -> Resource:
        if self._pdfs_room <= 0:
            raise _Unfit(f"PDF left out: the others took longer than {_PDFS_SECONDS:g} seconds")
        started = time.monotonic()
        found = pdf.extract(data, pdf.Bounds(characters=self._characters))
        self._pdfs_room -= time.monotonic() - started
        if found.reason:
            raise _Unfit(found.reason)
        return Resource(name, ResourceKind.PDF, found.text, len(data), found.note, found.pages)


def _files(directory: Path) -> Iterator[Path | Skipped]:
    """Files in the order of their paths; hidden ones, linked folders and what is too many are named only."""
    count = 0
    for folder, folders, names in os.walk(directory):
        here = Path(folder)
        for name in sorted(folders):
            if name.startswith(".") or (here / name).is_symlink():
                what = "hidden folder" if name.startswith(".") else "symbolic link to a folder"
                yield Skipped(shown((here / name).relative_to(directory).as_posix()) + "/", what)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(set(names) - {_PLACEHOLDER}):
            count += 1
            if count > _FILES:
                yield Skipped(
                    shown(here.relative_to(directory).as_posix()), f"more than {_FILES} files: the rest is left out"
                )
                return
            path = here / name
            hidden = name.startswith(".")
            yield Skipped(shown(path.relative_to(directory).as_posix()), "hidden file") if hidden else path


def _name(found: Path | Skipped, directory: Path) -> str:
    return found.path if isinstance(found, Skipped) else shown(found.relative_to(directory).as_posix())


def _content(path: Path, limit: int) -> bytes:
    """The whole of a regular file. Opened without waiting, so that a pipe without a writer holds nobody up."""
    fd = os.open(path, _OPEN)
    try:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise _Unfit("a folder, not a file")
        if not stat.S_ISREG(status.st_mode):
            raise _Unfit("not a regular file")
        if status.st_size > limit:
            raise _Unfit(f"larger than {limit / _MB:g} MB ({status.st_size:,} bytes)")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(limit)
    finally:
        os.close(fd)
    if not data:
        raise _Unfit("empty file")
    return data


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _within(texts: list[Resource], budget: int) -> Iterator[Resource]:
    """All short texts whole; what they leave is shared evenly by the longer ones."""
    room: dict[str, int] = {}
    for number, each in enumerate(sorted(texts, key=lambda text: len(text.text))):
        share = budget // (len(texts) - number)
        room[each.path] = min(len(each.text), share)
        budget -= room[each.path]
    for each in texts:
        kept = room[each.path]
        if kept == len(each.text):
            yield each
        else:
            cut = f"cut: the first {kept:,} of {len(each.text):,} characters"
            yield replace(each, text=each.text[:kept], note=f"{each.note}; {cut}" if each.note else cut)
