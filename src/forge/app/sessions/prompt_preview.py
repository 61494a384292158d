"""What the agent of a branch would be shown next: which files, how much of each, and how many tokens in all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from forge.agents.model import Model
from forge.agents.models import registry
from forge.agents.stream import Past, Stream, past_of
from forge.app.access.identity import Who
from forge.app.admin.models import refuse_paths
from forge.app.admin.prompts import prompts
from forge.app.process.workshop import Workshop
from forge.app.repositories.branches import tip_of
from forge.app.repositories.catalog import repository
from forge.app.sessions.conversation import sessions_of
from forge.app.sessions.turn_run import context_settings
from forge.context import tokens
from forge.context.files import InContext, Shown, file_text, in_context
from forge.context.instructions import entry_at, instruction_files
from forge.context.source import ContextSettings, Source
from forge.context.summary_cache import SummaryCache
from forge.errors import ForgeError
from forge.git import Mode, Repository, WorkInProgressVFS
from forge.sessions.conversation import read_head
from forge.sessions.head import ActiveFile

_WINDOW = 128_000
_SECONDS = 1.0
"""For summaries that nobody has made yet; a turn takes longer for them, and has them then."""


@dataclass(frozen=True, slots=True)
class FileInContext:
    path: str
    ranges: tuple[tuple[int, int], ...]
    state: InContext
    why: Literal["active", "instructions"]
    """Instructions are there by themselves."""
    tokens: int


@dataclass(frozen=True, slots=True)
class NextPrompt:
    files: tuple[FileInContext, ...]
    """What is not among them is not in context."""
    total_tokens: int
    """Of the prompt before the next message, estimated; with all that was said and the overview of the files."""
    window: int
    """How many the model can take."""
    model: str


def next_prompt(shop: Workshop, who: Who, repo_id: str, branch: str, *, model: str | None = None) -> NextPrompt:
    """For `model`, or who answered last on the branch, or who would answer there."""
    repo = repository(shop, who, repo_id)
    refuse_paths(who, model)
    tip_of(repo, branch)
    sessions = sessions_of(repo, shop.settings)
    said_in = sessions.at(branch)
    files = repo.workspace(branch)
    sessions.mount(files, said_in, sessions.marks(branch))
    past = past_of(sessions.files(branch, said_in))
    name = model or _last(past) or registry.choose("chat", shop.settings)
    window = _window(shop, who, name)
    settings = replace(context_settings(shop.settings, window), seconds=_SECONDS)
    stream = Stream(_source(shop, repo), settings, window)
    sent = stream.messages(past, stream.beginning(files, past).items)
    system = prompts(shop.settings).get("chat")
    total = tokens.of_text(system) + stream.tokens(sent)
    return NextPrompt(_files(files, stream.source, settings), total, window, name)


def _files(files: WorkInProgressVFS, source: Source, settings: ContextSettings) -> tuple[FileInContext, ...]:
    head = read_head(files)
    active = {file.path: file for file in head.active_files}
    told = instruction_files(files, active, names=settings.instructions, off=head.off)
    shown = [ActiveFile(path) for path in told] + [file for path, file in active.items() if path not in told]
    return tuple(
        FileInContext(
            file.path,
            file.ranges,
            in_context(file.path, active.values(), told),
            "instructions" if file.path in told else "active",
            _tokens(files, file, source, settings),
        )
        for file in shown
    )


def _tokens(files: WorkInProgressVFS, file: ActiveFile, source: Source, settings: ContextSettings) -> int:
    entry = entry_at(files, file.path)
    blob, mode = (entry.id, entry.mode) if entry is not None else (None, Mode.FILE)
    return tokens.of_text(
        file_text(Shown(file.path, blob, file.ranges, mode, settings.file_tokens), source.objects, source.redact)
    )


def _last(past: Past) -> str | None:
    return past.turns[-1].model if past.turns else None


def _window(shop: Workshop, who: Who, name: str) -> int:
    """A program's own, or that of a model without a key by now, is not known.

    Who answered last is read from the branch, where anybody may have written any name.
    """
    try:
        refuse_paths(who, name)
        found: Model = registry.resolve(name, shop.settings)
    except ForgeError:
        return _WINDOW
    return found.context_window


def _source(shop: Workshop, repo: Repository) -> Source:
    return Source(repo.objects, SummaryCache(repo.common_dir / "forge" / "summaries"), shop.redactor.text)
