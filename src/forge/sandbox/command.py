"""Running one command, confined by bubblewrap, or plainly where somebody allowed that."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox import bubblewrap, forwarder, own_python, seccomp, supervisor, view
from forge.sandbox.errors import InvalidCommand, SandboxFailed, SandboxUnavailable
from forge.sandbox.launch import Ended, Launch
from forge.sandbox.limits import DEFAULT_LIMITS, CommandResult, Limits
from forge.sandbox.process import follow
from forge.sandbox.streams import OnOutput
from forge.sandbox.usage import Watch, processes_visible

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SOCKETS = "/run/forge"


def run(
    command: Sequence[str],
    directory: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    network: bool = False,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    readonly: Sequence[Path] = (),
    plain: bool = False,
    home: Mapping[str, bytes] | None = None,
    sockets: Mapping[int, Path] | None = None,
    on_output: OnOutput | None = None,
    cancel: threading.Event | None = None,
    at: str | None = None,
    mounts: Sequence[view.Mount] = (),
    source: int | None = None,
    root: Path | None = None,
    needs_own_python: bool = False,
) -> CommandResult:
    """Run `command` in `directory` and wait for the end of its whole process tree.

    Confined, it can write only there, sees neither homes nor secrets nor other processes, and reaches no network
    unless `network`. It gets `env` and a few safe variables, nothing of the caller's. `readonly` paths become
    visible too. `plain` allows running without bubblewrap where that is missing; the result then says so.

    `home` are files for its private home, by their path there. `sockets` are unix sockets of the caller, which the
    command reaches as ports of 127.0.0.1. `on_output` hears the output as it comes; setting `cancel`, from any
    thread, ends the whole tree. Confined, the command sees `directory` as `at` and `mounts` at their places.
    `source` is a descriptor whose bytes are its input as they come, after `stdin`. `root` holds an unpacked image
    whose system it sees in place of this machine's. With `needs_own_python`, `OWN_PYTHON` starts Forge's own Python.
    """
    wanted = _Wanted(
        _checked(command),
        view.checked_directory(Path(directory)),
        limits,
        _environment(env or {}),
        stdin,
        _checked_home(home or {}),
        _checked_sockets(sockets or {}, network=network),
        on_output,
        cancel,
        source,
    )
    found = bubblewrap.available()
    if found.works and found.path:
        seen = _Seen(tuple(readonly), at, tuple(mounts), root, own_python=needs_own_python)
        return _confined(found.path, wanted, seen, network=network)
    if not plain or root is not None or needs_own_python:
        raise SandboxUnavailable(f"The command was not run: {found.reason}.", hint=found.hint)
    return _plain(wanted, reason=found.reason)


@dataclass(frozen=True, slots=True)
class _Wanted:
    command: tuple[str, ...]
    directory: Path
    limits: Limits
    variables: dict[str, str]
    stdin: bytes
    home: Mapping[str, bytes]
    sockets: Mapping[int, Path]
    on_output: OnOutput | None
    cancel: threading.Event | None
    source: int | None = None

    def follow(self, launch: Launch) -> Ended:
        watch = Watch(self.limits, self.directory)
        return follow(
            launch,
            stdin=self.stdin,
            limits=self.limits,
            watch=watch,
            on_output=self.on_output,
            cancel=self.cancel,
            source=self.source,
        )


def _checked(command: Sequence[str]) -> tuple[str, ...]:
    if isinstance(command, str):
        raise InvalidCommand("The command is one string.", hint="Give a list of words, such as ['make', 'test'].")
    words = tuple(command)
    if not words or not words[0]:
        raise InvalidCommand("The command is empty.", hint="Name the program to run.")
    if words[0].startswith("-"):
        raise InvalidCommand(f"{words[0]} looks like an option.", hint="A program of that name is run as ./-name.")
    if not all(map(_passable, words)):
        raise InvalidCommand(
            "The command contains a NUL byte or a broken character.", hint="Pass binary data through stdin or a file."
        )
    return words


def _passable(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _environment(wanted: Mapping[str, str]) -> dict[str, str]:
    for name, value in wanted.items():
        if not name or "=" in name or not _passable(name + value):
            raise InvalidCommand(
                f"{name!r} cannot be an environment variable.",
                hint="Neither may contain NUL, nor a name '='.",
            )
    safe = {
        "PATH": _PATH, "HOME": view.HOME, "TMPDIR": view.TMP, "LANG": "C.UTF-8", "TERM": "dumb",
        "USER": view.USER, "LOGNAME": view.USER, "SHELL": "/bin/sh",
    }  # fmt: skip
    return safe | dict(wanted)


def _checked_home(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    for name in files:
        if not name or name != os.path.normpath(name) or name.startswith(("/", "..")) or not _passable(name):
            raise InvalidCommand(f"{name!r} is no path below a home.", hint="Give it like '.config/program.json'.")
    return files


def _checked_sockets(sockets: Mapping[int, Path], *, network: bool) -> Mapping[int, Path]:
    if sockets and network:
        raise InvalidCommand(
            "A command with network cannot have sockets as well.", hint="With network it reaches the service itself."
        )
    for port, path in sockets.items():
        if not 1024 <= port <= 65535:
            raise InvalidCommand(f"{port} cannot be a port.", hint="Ports are numbers from 1024 to 65535.")
        if not path.is_socket():
            raise InvalidCommand(f"{path} is not a socket.", hint="Start listening before the command is run.")
    return sockets


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a confined command sees besides the system."""

    readonly: tuple[Path, ...]
    at: str | None
    mounts: tuple[view.Mount, ...]
    root: Path | None
    own_python: bool


def _confined(bwrap: Path, wanted: _Wanted, seen: _Seen, *, network: bool) -> CommandResult:
    command, root = wanted.command, seen.root
    sockets = {f"{_SOCKETS}/{port}": path for port, path in wanted.sockets.items()}
    files = {f"{view.HOME}/{name}": content for name, content in wanted.home.items()}
    if sockets:
        command = _forwarding(own_python.words(root), f"{_SOCKETS}/forward", dict.fromkeys(wanted.sockets), command)
        files[f"{_SOCKETS}/forward"] = Path(forwarder.__file__).read_bytes()
    if seen.own_python:
        files |= own_python.files(root)
    launch = bubblewrap.launch(
        bwrap,
        command,
        wanted.directory,
        wanted.limits,
        network=network,
        environment=wanted.variables,
        readonly=seen.readonly,
        with_input=bool(wanted.stdin) or wanted.source is not None,
        sockets=sockets,
        files=files,
        at=seen.at,
        mounts=(*seen.mounts, *(own_python.mounts(root) if sockets or seen.own_python else ())),
        root=root,
    )
    notes = () if seccomp.known() else ("no system call filter: this processor is not known",)
    return _result(wanted.follow(launch), sandboxed=True, notes=notes)


def _forwarding(
    python: Sequence[str], script: str, sockets: Mapping[int, Path | None], command: tuple[str, ...]
) -> tuple[str, ...]:
    places = [f"{port}={path or f'{_SOCKETS}/{port}'}" for port, path in sockets.items()]
    return (*python, "-I", "-S", script, *places, "--", *command)


def _plain(wanted: _Wanted, *, reason: str) -> CommandResult:
    notes = [f"not confined: {reason}; the command could read and write whatever its user can, and use the network"]
    if not processes_visible():
        notes.append("memory and processes were not limited: the kernel does not list child processes in /proc")
    command = wanted.command
    if wanted.sockets:
        command = _forwarding((sys.executable,), forwarder.__file__, wanted.sockets, command)
    status, status_end = os.pipe()
    with tempfile.TemporaryDirectory(prefix="forge-run-", ignore_cleanup_errors=True) as scratch:
        launch = Launch(
            (sys.executable, "-I", "-S", supervisor.__file__, str(status_end), str(wanted.limits.file_bytes), *command),
            environment=_with_private_home(wanted.variables, Path(scratch), wanted.home),
            directory=wanted.directory,
            status=status,
            passed=(status_end,),
        )
        ended = wanted.follow(launch)
    return _result(ended, sandboxed=False, notes=tuple(notes))


def _with_private_home(variables: dict[str, str], scratch: Path, files: Mapping[str, bytes]) -> dict[str, str]:
    own = {"HOME": view.HOME, "TMPDIR": view.TMP}
    for name in own:
        (scratch / name.lower()).mkdir()
    for name, content in files.items():
        place = scratch / "home" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return {name: str(scratch / name.lower()) if own.get(name) == value else value for name, value in variables.items()}


def _result(ended: Ended, *, sandboxed: bool, notes: tuple[str, ...]) -> CommandResult:
    if ended.exit_code is None:
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise SandboxFailed(f"The command could not be started: {said}", hint="`forge doctor` checks this machine.")
    return CommandResult(
        exit_code=ended.exit_code,
        stdout=ended.stdout,
        stderr=ended.stderr,
        duration=ended.duration,
        timed_out="time" in ended.limited,
        limited=ended.limited,
        sandboxed=sandboxed,
        notes=notes,
        cancelled=ended.cancelled,
    )
