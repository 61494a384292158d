"""Prompts by name, read from their files at each call, so that a change is used from the next call on."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from forge.git.process import disk
from forge.prompts.errors import PromptMissing, PromptUnusable, PromptUnwritable

LARGEST = 200 * 1024
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ENDING = ".md"
# Prompts that live beside the code that they belong to.
_ELSEWHERE = {"chat": ("forge.agents", "prompts/chat.md")}


class Origin(StrEnum):
    DEFAULT = "default"
    OVERRIDE = "override"
    """A person's file in the place of the default."""
    OWN = "own"
    """A person's file under a name of its own."""


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    origin: Origin
    path: Path | None
    """The person's file; None for a default."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""


class Prompts:
    """The prompts in force. `directory` holds a person's own; it need not exist. `more` is what plugins bring."""

    def __init__(self, directory: Path | None = None, more: Mapping[str, str] | None = None) -> None:
        self._directory = directory
        self._more = dict(more or {})

    def list(self) -> tuple[Prompt, ...]:
        """All prompts by name, those in the person's directory as they are now."""
        own = self._own_files()
        names = sorted({*self._defaults(), *own})
        return tuple(self._described(name, own.get(name)) for name in names)

    def get(self, name: str) -> str:
        """The text to use now: the person's file if there is one, else the default."""
        own = self._path(name)
        return self._checked(own, name) if own is not None and os.path.lexists(own) else self.default(name)

    def default(self, name: str) -> str:
        """The text that comes with Forge or with a plugin."""
        file = _shipped().get(name)
        if file is None and name in self._more:
            return self._more[name]
        if file is None:
            near = difflib.get_close_matches(name, [prompt.name for prompt in self.list()], 1)
            raise PromptMissing(
                f"There is no prompt `{name}`.",
                hint=f"Did you mean `{near[0]}`?" if near else "`forge prompts list` shows all of them.",
            )
        return file.read_text(encoding="utf-8")

    def save(self, name: str, text: str) -> Path:
        """Make `text` the person's own prompt under this name, wholly or not at all."""
        path = self._writable(name)
        data = text.encode("utf-8", "surrogateescape")
        if problem := _problem(data):
            raise PromptUnusable(f"This cannot be the prompt `{name}`: {problem}.", hint="Nothing was changed.")
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            disk.replace_synced(path.resolve() if path.is_file() else path, data)
        return path

    def reset(self, name: str) -> Path | None:
        """Back to the default. The person's file is kept beside, under the name returned; None if there was none."""
        if name not in self._defaults():
            raise PromptMissing(
                f"There is no default for `{name}` to go back to.",
                hint=f"Delete {self._path(name)} if you do not want it any more.",
            )
        path = self._path(name)
        if path is None or not os.path.lexists(path):
            return None
        number = 1
        while os.path.lexists(kept := path.with_name(f"{path.name}.replaced-{number}")):
            number += 1
        with _writing(path):
            path.rename(kept)
            disk.sync_directory(path.parent)
        return kept

    def diff(self, name: str) -> str:
        """What the person's file changes in the default, as a unified diff; empty if nothing."""
        old, new = (text.splitlines(keepends=True) for text in (self.default(name), self.get(name)))
        lines = difflib.unified_diff(old, new, f"default/{name}{_ENDING}", f"yours/{name}{_ENDING}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def _path(self, name: str) -> Path | None:
        if not _NAME.fullmatch(name):
            raise PromptMissing(
                f"`{name}` cannot be the name of a prompt.", hint="Use small letters, digits, `-` and `_`."
            )
        return self._directory / f"{name}{_ENDING}" if self._directory is not None else None

    def _writable(self, name: str) -> Path:
        path = self._path(name)
        if path is None:
            raise PromptUnwritable("There is no directory for prompts.", hint="Set `prompts.directory`.")
        return path

    def _own_files(self) -> dict[str, Path]:
        if self._directory is None:
            return {}
        try:
            entries = sorted(self._directory.iterdir())
        except FileNotFoundError:
            return {}
        except OSError as e:
            raise PromptUnusable(
                f"Your prompts in {self._directory} cannot be read: {e.strerror}.",
                hint="Check the directory, or set `prompts.directory` to another one.",
            ) from e
        return {path.stem: path for path in entries if path.suffix == _ENDING and _NAME.fullmatch(path.stem)}

    def _described(self, name: str, own: Path | None) -> Prompt:
        if own is None:
            return Prompt(name, Origin.DEFAULT, None)
        origin = Origin.OVERRIDE if name in self._defaults() else Origin.OWN
        try:
            self._checked(own, name)
        except PromptUnusable as e:
            return Prompt(name, origin, own, e.message)
        return Prompt(name, origin, own)

    def _defaults(self) -> frozenset[str]:
        return frozenset({*_shipped(), *self._more})

    def _checked(self, path: Path, name: str) -> str:
        """The text of a person's file, or why it cannot be one."""
        try:
            data = None
            if stat.S_ISREG(path.stat().st_mode):  # a pipe or a device would keep us waiting
                with path.open("rb") as file:
                    data = file.read(LARGEST + 1)
            problem = "it is not a file" if data is None else _problem(data)
        except OSError as e:
            data, problem = None, f"it cannot be read ({e.strerror})"
        if problem or data is None:
            back = (
                f"`forge prompts reset {name}` gives the default back"
                if name in self._defaults()
                else "Delete the file"
            )
            raise PromptUnusable(f"The prompt {path} cannot be used: {problem}.", hint=f"Mend it, or: {back}.")
        return data.decode("utf-8")


def _shipped() -> dict[str, Traversable]:
    folder = resources.files("forge.prompts") / "files"
    shipped = {file.name.removesuffix(_ENDING): file for file in folder.iterdir() if file.name.endswith(_ENDING)}
    return {**shipped, **{name: resources.files(package) / path for name, (package, path) in _ELSEWHERE.items()}}


def _problem(data: bytes) -> str:
    if len(data) > LARGEST:
        return f"it is larger than {LARGEST // 1024} KB"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        return f"it is not UTF-8 text (byte {e.start})"
    if not text.strip():
        return "it is empty"
    return "it holds NUL characters" if "\0" in text else ""


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        raise PromptUnwritable(
            f"{path} cannot be written: {e.strerror}; nothing was changed.", hint="Check the directory of your prompts."
        ) from e
