"""A project: its directory, and what its files say now."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from forge.projects import chat, context_file, files, log, pending, polish, state, status
from forge.projects.chat import ChatMessage
from forge.projects.errors import InvalidRecord, ProjectUnreadable
from forge.projects.info import FILE as INFO_FILE
from forge.projects.info import ProjectInfo
from forge.projects.log import OperationalLog
from forge.projects.records import LOCK, Records
from forge.projects.state import SavedState
from forge.projects.status import ProjectStatus
from forge.subjects import Subject, project_subject

T = TypeVar("T")
_UNNAMED = ("", "Untitled")


@dataclass(frozen=True)
class Project:
    directory: Path
    id: str

    @classmethod
    def at(cls, directory: Path) -> Project:
        """The project in `directory`; `ProjectUnreadable` if there is none that can be read or recovered."""
        return cls.read(directory)[0]

    @classmethod
    def read(cls, directory: Path) -> tuple[Project, ProjectInfo]:
        """As `at`, with what was read to find it."""
        found = cls(directory, "")
        info = found.info()
        project = cls(directory, info.id)
        if "records" in found.__dict__:
            # They had to recover something, and have it still to tell.
            project.__dict__["records"] = found.records
        return project, info

    @cached_property
    def records(self) -> Records:
        return Records.open(self.directory)

    @cached_property
    def log(self) -> OperationalLog:
        return OperationalLog(self.directory)

    @property
    def subject(self) -> Subject:
        return project_subject(self.id)

    @property
    def name(self) -> str:
        """As it was typed, else the heading of its intent, else its id."""
        typed = self._read(state.FILE, state.loaded).project_name
        return typed if typed not in _UNNAMED else self.status().project_name or self.id

    def status(self) -> ProjectStatus:
        return self._read(status.FILE, ProjectStatus.from_json)

    def info(self) -> ProjectInfo:
        return self._read(INFO_FILE, ProjectInfo.from_json)

    def chat(self) -> tuple[ChatMessage, ...]:
        return self._read(chat.FILE, chat.parse, default="[]")

    def polish(self) -> polish.PolishState:
        return self._read(polish.FILE, polish.parse, default=polish.format(polish.PolishState()))

    def state(self) -> SavedState:
        """Saved values over defaults, with the team context as `context.md` has it now."""
        saved = self._read(state.FILE, state.loaded)
        return context_file.with_context(saved, context_file.parse(self._text(context_file.FILE)))

    def changed_at(self) -> float:
        """When a file was last changed, by whomever, in seconds."""
        try:
            marks = files.marks(self.directory)
        except OSError as e:
            raise _unreadable(self.directory.name, e) from e
        return max((mark[2] for path, mark in marks.items() if path != log.FILE), default=0) / 1e9

    def _read(self, path: str, parse: Callable[[str], T], *, default: str | None = None) -> T:
        """What `parse` makes of a file; if it cannot, the file is restored from history first."""
        try:
            return parse(_present(self._text(path), path))
        except InvalidRecord:
            # Somebody's own repository with a file of that name is none of our business.
            ours = (self.directory / ".git" / LOCK).exists()
        if ours:
            self.records.restore()
        text = self._text(path)
        try:
            return parse(_present(default if text is None else text, path))
        except InvalidRecord as e:
            raise ProjectUnreadable(
                f"{self.directory.name} cannot be read: {e.message}", hint=f"Look at {self.directory}."
            ) from e

    def _text(self, path: str) -> str | None:
        if "records" in self.__dict__ or os.path.lexists(self.directory / ".git" / pending.FILE):
            return self.records.read(path)
        # Lists of many projects read a file of each; opening every repository for that takes far longer.
        try:
            return (self.directory / path).read_bytes().decode("utf-8-sig", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as e:
            raise _unreadable(path, e) from e


def _unreadable(what: str, error: OSError) -> ProjectUnreadable:
    return ProjectUnreadable(f"{what} cannot be read: {error.strerror}.", hint="Check who may read it.")


def _present(text: str | None, path: str) -> str:
    if text is None:
        raise InvalidRecord(f"{path} is missing.", hint="Open the project again; it is restored from history.")
    return text
