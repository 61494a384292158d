"""Running an agent program on a branch: a directory of its own, the sandbox, its model API, and what it changed."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from forge.agents.listener import Retry, tell_retry, tell_spent
from forge.agents.model import OnText
from forge.agents.programs.access import Access
from forge.agents.programs.api_proxy import PLACEHOLDER, serving
from forge.agents.programs.installed import InstalledProgram, environment
from forge.agents.programs.kept_out import Before
from forge.agents.programs.outcome import ERROR_TAIL, counted, failure, kind_of, refusal
from forge.agents.programs.patience import Patience
from forge.agents.programs.program import Program
from forge.agents.programs.reports import REPORTS, Said
from forge.environment.mounted import NOTHING, Mounted
from forge.git import CollectedChange, GitCommitVFS, MaterializedDirectory, WorkInProgressVFS
from forge.sandbox import DEFAULT_LIMITS, CommandResult, Limits, run
from forge.sessions.messages import Usage

ATTEMPTS = 2
TIMEOUT = 300.0

_PORT = 4571  # of the sandbox's own loopback, which nobody else is on
_COLLECTING = 10.0  # seconds to take over what it changed, even where it used up its time
_NOTES = 100
_ONLINE = "{name} ran with network: it could reach anything, and knows its key or login"
_NO_IMAGE = "without its environment: a program of this machine cannot run in a container image"


class Materialise(Protocol):
    """`Repository.materialize`."""

    def __call__(
        self, view: GitCommitVFS | WorkInProgressVFS, *, keep_ignored: bool = True
    ) -> AbstractContextManager[MaterializedDirectory]: ...


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How a program ended. Its changes are in the workspace only if that was a success."""

    program: str
    version: str
    success: bool
    output: str
    """Its last words to the person."""
    exit_code: int
    timed_out: bool
    cancelled: bool
    error: str = ""
    """Why it is no success, with the end of what it wrote to standard error."""
    changes: tuple[CollectedChange, ...] = ()
    usage: Usage = field(default_factory=Usage)
    attempts: int = 1
    duration: float = 0.0
    notes: tuple[str, ...] = ()


async def run_program(
    found: InstalledProgram,
    prompt: str,
    vfs: WorkInProgressVFS,
    materialise: Materialise,
    *,
    model: str = "",
    env: Mapping[str, str] | None = None,
    logins: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    network: bool | None = None,
    on_text: OnText | None = None,
    timeout: float = TIMEOUT,
    silence: float | None = None,
    cancel: threading.Event | None = None,
    readonly: tuple[Path, ...] = (),
    mounted: Mounted = NOTHING,
) -> ProgramRun:
    """Let the program work on the files of `vfs`. A failure is tried once more, from a clean directory.

    Of `env`, the program gets only the variables that it is known to need, and its key only with network: without, a
    proxy puts the key in. `logins` is the home of the person, for a program that may have a copy of its login.
    It may read what is in `readonly`, and has the environment `mounted`. `timeout` bounds each attempt, `silence` the
    time in it without output and without a byte from its model API.
    Cancelling the task ends the program before the cancellation continues. Where `on_text` is `Watching`, it is told of
    trouble between the program and its model.
    """
    loop = asyncio.get_running_loop()
    halt = cancel or threading.Event()

    def show(text: str) -> None:
        if on_text:
            loop.call_soon_threadsafe(on_text, text)

    def retrying(retry: Retry) -> None:
        if on_text:
            loop.call_soon_threadsafe(tell_retry, on_text, retry)

    job = _Job(
        found,
        prompt,
        vfs,
        materialise,
        access=Access.of(found.program, model, env or {}, logins, network=network),
        limits=replace(limits, seconds=timeout),
        show=show if on_text else None,
        retrying=retrying,
        silence=silence,
        halt=halt,
        readonly=readonly,
        mounted=mounted,
    )
    work = asyncio.ensure_future(asyncio.to_thread(job.run))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        halt.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([work])
        # Whatever it was, the caller has turned away; but what was asked was asked.
        if work.done() and not work.cancelled() and work.exception() is None and on_text:
            tell_spent(on_text, work.result().usage)
        raise


class _Job:
    """Both attempts, in a thread of their own."""

    def __init__(
        self,
        found: InstalledProgram,
        prompt: str,
        vfs: WorkInProgressVFS,
        materialise: Materialise,
        *,
        access: Access,
        limits: Limits,
        show: Callable[[str], None] | None,
        retrying: Callable[[Retry], None],
        silence: float | None,
        halt: threading.Event,
        readonly: tuple[Path, ...],
        mounted: Mounted,
    ) -> None:
        # A program of this machine cannot run on the system of an image.
        self._mounted = mounted if mounted.root is None else Mounted(notes=(_NO_IMAGE,))
        self._readonly = readonly
        self._retrying = retrying
        self._patience = Patience(silence, halt)
        self._troubles = 0
        self._found = found
        self._prompt = prompt.encode("utf-8", "replace")
        self._vfs = vfs
        self._materialise = materialise
        self._access = access
        self._limits = limits
        self._show = show
        self._halt = halt

    def run(self) -> ProgramRun:
        started = time.monotonic()
        notes = [_ONLINE.format(name=self._found.program.name)] if self._access.network else []
        usage = Usage()
        with contextlib.ExitStack() as stack:
            base, sockets = self._access.upstream, {}
            proxy = None
            if self._access.api and not self._access.network:
                proxy = stack.enter_context(serving(base, self._access.key or "none", self._heard))
                base, sockets = f"http://127.0.0.1:{_PORT}", {_PORT: proxy.socket}
            for attempt in range(1, ATTEMPTS + 1):
                ended = self._attempt(attempt, base, sockets)
                usage += ended.usage
                if ended.success or ended.cancelled or attempt == ATTEMPTS:
                    break
                notes.append(f"the first attempt failed: {ended.error}")
                self._retrying(Retry("program", attempt, ATTEMPTS - 1, 0.0, usage))
            usage = counted(usage, proxy.usage if proxy is not None else None)
        return replace(
            ended,
            usage=usage,
            attempts=attempt,
            duration=time.monotonic() - started,
            notes=tuple(dict.fromkeys((*notes, *ended.notes))),
        )

    def _heard(self, status: int) -> None:
        """Something passed between the program and its model."""
        self._patience.touch()
        if kind := kind_of(status):
            self._troubles += 1
            self._retrying(Retry(kind, self._troubles, None, None, Usage()))

    def _attempt(self, attempt: int, base: str, sockets: dict[int, Path]) -> ProgramRun:
        program = self._found.program
        listener = _Listener(program, self._limits.output_bytes, self._show, self._patience.touch)
        # What the failed attempt left behind, ignored files too, is gone when the directory is taken again.
        with self._materialise(self._vfs, keep_ignored=attempt == 1) as directory, self._patience.watching() as stop:
            until = time.monotonic() + self._limits.seconds + _COLLECTING
            result = run(
                self._mounted.command(self._command(base)),
                directory.path,
                self._limits,
                network=self._access.network,
                env=self._environment(base),
                stdin=self._prompt,
                readonly=(*self._found.visible, *self._readonly),
                home=self._access.home,
                sockets=sockets,
                on_output=listener.hear,
                cancel=stop,
                at=self._mounted.at,
                mounts=self._mounted.mounts,
            )
            self._mounted.tidy(directory.path)
            if self._patience.is_over:
                result = replace(result, cancelled=False, timed_out=True)
            if self._halt.is_set():  # also when it came just as the program ended: nobody waits for its changes
                result = replace(result, cancelled=True)
            said = listener.said()
            error = failure(result, said, self._limits, self._patience)
            changes: tuple[CollectedChange, ...] = ()
            notes = [*result.notes, *self._mounted.notes]
            if not error:
                before, pending = Before(self._vfs), dict(self._vfs.pending)
                changes, refused = before.restored(directory.collect_changes(until=until))
                if directory.incomplete:
                    self._vfs.restore(pending)
                    changes, error = (), f"What it changed could not be taken over: {directory.incomplete}"
                notes += [f"{path} belongs to Forge: the change was dropped" for path in refused]
                error = error or refusal(said, changes)
            notes += map(str, directory.notes[:_NOTES])
        if said.denied and not error:
            notes.append(f"{program.name} was refused: {', '.join(said.denied)}")
        return self._ended(result, said, error, changes, notes)

    def _ended(
        self, result: CommandResult, said: Said, error: str, changes: tuple[CollectedChange, ...], notes: list[str]
    ) -> ProgramRun:
        if error and (tail := result.stderr_text.strip()[-ERROR_TAIL:]) and not result.cancelled:
            error = f"{error}\n{tail}"
        return ProgramRun(
            self._found.program.name,
            self._found.version,
            success=not error,
            output=self._redacted(said.text),
            exit_code=result.exit_code,
            timed_out=result.timed_out,
            cancelled=result.cancelled,
            error=self._redacted(error),
            changes=changes,
            usage=said.usage,
            notes=tuple(notes),
        )

    def _command(self, base: str) -> tuple[str, ...]:
        program, access = self._found.program, self._access
        manner = program.online if access.network else program.confined
        words = (
            *program.command[1:],
            *manner.arguments,
            *(program.model if access.model else ()),
            *(access.api.arguments if access.api else ()),
            *program.last,
        )
        return (str(self._found.executable), *(self._filled(word, base) for word in words))

    def _environment(self, base: str) -> dict[str, str]:
        program, access = self._found.program, self._access
        manner = program.online if access.network else program.confined
        pointed = {name: self._filled(value, base) for name, value in (access.api.env if access.api else {}).items()}
        own = environment(self._found)
        own["PATH"] = ":".join((*self._mounted.search_path, own["PATH"]))
        return {**self._mounted.variables, **own, **program.env, **manner.env, **access.variables, **pointed}

    def _filled(self, word: str, base: str) -> str:
        key = self._access.key if self._access.network else PLACEHOLDER
        return word.replace("{base}", base).replace("{key}", key).replace("{model}", self._access.model)

    def _redacted(self, text: str) -> str:
        for secret in self._access.secrets:
            text = text.replace(secret, "[secret]")
        return text


class _Listener:
    """Hears the program's output, passes on what a person wants to see, and no more than the limit of it."""

    def __init__(
        self, program: Program, size: int, show: Callable[[str], None] | None, touch: Callable[[], None]
    ) -> None:
        self._touch = touch
        self._report = REPORTS[program.report](size)
        self._show = show
        self._room = size

    def hear(self, stream: str, data: bytes) -> None:
        self._touch()
        if stream != "stdout":
            return
        text = self._report.take(data)
        if text and self._show and self._room > 0:
            self._show(text[: self._room])
            self._room -= len(text)

    def said(self) -> Said:
        return self._report.said()
