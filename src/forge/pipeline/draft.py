"""A change of a project's files in the making: read as they are, collected, written as one commit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from forge.pipeline import sections
from forge.projects import chat, context_file, fields, state
from forge.projects.chat import ChatMessage, Role
from forge.projects.info import FILE as INFO
from forge.projects.info import ProjectInfo
from forge.projects.status import HaltReason, Phase, ProjectStatus, moved

Read = Callable[[str], str | None]

STATUS = "status.json"
CHAT = "chat_history.json"


class Draft:
    """Handed to whoever changes a project. Nothing is written before all of it is known."""

    def __init__(self, read: Read, now: float) -> None:
        self._read = read
        self.now = now
        self._files: dict[str, str | bytes | None] = {}
        self.status = ProjectStatus.from_json(read(STATUS) or "")
        self.info = ProjectInfo.from_json(read(INFO) or "")
        self._chat: list[ChatMessage] | None = None
        self._before = (self.status, self.info)

    def read(self, path: str) -> str | None:
        if path in self._files:
            content = self._files[path]
            return content.decode() if isinstance(content, bytes) else content
        return self._read(path)

    def write(self, path: str, content: str | bytes | None) -> None:
        self._files[path] = content

    def redraft(self, path: str, fresh: str) -> tuple[str, ...]:
        """Write a new draft of a document; sections that a person changed stay. Gives their headings."""
        drafted = self.info.drafted
        base, present = drafted.get(path), self.read(path)
        kept: tuple[str, ...] = ()
        if base is not None and present is not None:
            kept = sections.edited(base, present)
            self.write(path, sections.merged(base, present, fresh))
        else:
            self.write(path, fresh)
        self.info = replace(self.info, drafted={**drafted, path: sections.marks(fresh)})
        return tuple(title.lstrip("# ") or "the title" for title in kept)

    def move(self, phase: Phase, *, halt_reason: HaltReason | None = None) -> None:
        """Only along a legal transition. A halt remembers where it happened, and times are kept for each phase."""
        before, back = self.status.phase, self.info.halted_in
        moment = datetime.fromtimestamp(self.now, UTC)
        self.status = moved(self.status, phase, now=moment, halt_reason=halt_reason, halted_in=back)
        if phase is not Phase.HALTED:
            back = None
        elif before is not Phase.HALTED:
            back = before
        times, entered = self.info.phase_times, self.info.phase_entered
        stay = 0.0 if entered is None else max(0.0, self.now - entered)
        times = {**times, str(before): round(times.get(str(before), 0.0) + stay, 3)}
        self.info = replace(self.info, halted_in=back, phase_times=times, phase_entered=self.now)

    @property
    def chat(self) -> list[ChatMessage]:
        if self._chat is None:
            self._chat = list(chat.parse(self._read(CHAT)))
        return self._chat

    def say(self, text: str, role: Role = "ai") -> None:
        """Into the chat, and into the conversation that `state.json` keeps whole, where the first message is a turn."""
        self.chat.append(ChatMessage(role, text, self.status.phase, stamp(self.now)))
        saved = state.loaded(self.read(state.FILE))
        message = {"role": "user" if role == "human" else "assistant", "content": text}
        turns = saved.values["turn_count"] + (role == "human" or not saved.values["messages"])
        values = {**saved.values, "messages": [*saved.values["messages"], message], "turn_count": turns}
        self.write(state.FILE, self._state(replace(saved, values=values)))

    def end_run(self, run: str) -> None:
        """Its work is done and in this very change; nobody has to begin it again."""
        named = self.info.run
        if named is not None and named.id == run:
            self.info = replace(self.info, run=replace(named, ended=True))

    def clear_chat(self) -> None:
        self._chat = []

    def name(self, name: str) -> None:
        """The heading of the intent becomes the project's name."""
        self.status = replace(self.status, project_name=name)
        saved = state.loaded(self.read(state.FILE))
        self.write(state.FILE, self._state(replace(saved, project_name=name)))

    def set_type(self, deliverable_type: str) -> None:
        self.status = replace(self.status, deliverable_type=deliverable_type)

    def lock(self, path: str) -> None:
        """Remember a document as a person confirmed it."""
        text = self.read(path) or ""
        self.info = replace(self.info, locked={**self.info.locked, path: blob_id(text)})

    def _state(self, saved: state.SavedState) -> str:
        saved = context_file.with_context(saved, context_file.parse(self.read(context_file.FILE)))
        return state.formatted(saved, now=datetime.fromtimestamp(self.now, UTC))

    def discard(self) -> None:
        """Nothing of it is to be written."""
        self._files, self._chat = {}, None
        self.status, self.info = self._before

    def files(self) -> Mapping[str, str | bytes | None]:
        if (self.status, self.info) != self._before:
            self._files[STATUS] = self.status.to_json()
            self._files[INFO] = self.info.to_json()
        if self._chat is not None:
            self._files[CHAT] = chat.format(self._chat)
        return self._files


def stamp(now: float) -> str:
    return fields.iso(datetime.fromtimestamp(now, UTC))


def blob_id(text: str) -> str:
    """As git names this content."""
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
