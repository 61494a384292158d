"""Running one command, confined by bubblewrap, or plainly where somebody allowed that."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from forge.sandbox import bubblewrap, seccomp, supervisor, view
from forge.sandbox.errors import InvalidCommand, SandboxFailed, SandboxUnavailable
from forge.sandbox.limits import DEFAULT_LIMITS, Limits, Result
from forge.sandbox.process import Ended, Launch, follow
from forge.sandbox.usage import Watch, processes_visible

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


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
) -> Result:
    """Run `command` in `directory` and wait for the end of its whole process tree.

    Confined, it can write only there, sees neither homes nor secrets nor other processes, and reaches no network
    unless `network`. It gets `env` and a few safe variables, nothing of the caller's. `readonly` paths become
    visible too. `plain` allows running without bubblewrap where that is missing; the result then says so.
    """
    words = _checked(command)
    place = view.checked_directory(Path(directory))
    variables = _environment(env or {})
    found = bubblewrap.available()
    if found.works and found.path:
        return _confined(found.path, words, place, limits, variables, network=network, stdin=stdin, readonly=readonly)
    if not plain:
        raise SandboxUnavailable(f"The command was not run: {found.reason}.", hint=found.hint)
    return _plain(words, place, limits, variables, stdin=stdin, reason=found.reason)


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
            "The command holds a NUL byte or a broken character.", hint="Pass binary data through stdin or a file."
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
                f"{name!r} cannot be an environment variable.", hint="Names hold no '=', and no part holds a NUL byte."
            )
    safe = {
        "PATH": _PATH, "HOME": view.HOME, "TMPDIR": view.TMP, "LANG": "C.UTF-8", "TERM": "dumb",
        "USER": view.USER, "LOGNAME": view.USER, "SHELL": "/bin/sh",
    }  # fmt: skip
    return safe | dict(wanted)


def _confined(
    bwrap: Path,
    command: tuple[str, ...],
    directory: Path,
    limits: Limits,
    variables: dict[str, str],
    *,
    network: bool,
    stdin: bytes,
    readonly: Sequence[Path],
) -> Result:
    launch = bubblewrap.launch(
        bwrap,
        command,
        directory,
        limits,
        network=network,
        environment=variables,
        readonly=readonly,
        with_input=bool(stdin),
    )
    ended = follow(launch, stdin=stdin, limits=limits, watch=Watch(limits, directory))
    notes = () if seccomp.known() else ("no system call filter: this processor is not known",)
    return _result(ended, sandboxed=True, notes=notes)


def _plain(
    command: tuple[str, ...],
    directory: Path,
    limits: Limits,
    variables: dict[str, str],
    *,
    stdin: bytes,
    reason: str,
) -> Result:
    notes = [f"not confined: {reason}; the command could read and write whatever its user can, and use the network"]
    if not processes_visible():
        notes.append("memory and processes were not limited: the kernel does not list child processes in /proc")
    status, status_end = os.pipe()
    with tempfile.TemporaryDirectory(prefix="forge-run-", ignore_cleanup_errors=True) as scratch:
        launch = Launch(
            (sys.executable, "-I", "-S", supervisor.__file__, str(status_end), str(limits.file_bytes), *command),
            environment=_with_private_home(variables, Path(scratch)),
            directory=directory,
            status=status,
            passed=(status_end,),
        )
        ended = follow(launch, stdin=stdin, limits=limits, watch=Watch(limits, directory))
    return _result(ended, sandboxed=False, notes=tuple(notes))


def _with_private_home(variables: dict[str, str], scratch: Path) -> dict[str, str]:
    own = {"HOME": view.HOME, "TMPDIR": view.TMP}
    for name in own:
        (scratch / name.lower()).mkdir()
    return {name: str(scratch / name.lower()) if own.get(name) == value else value for name, value in variables.items()}


def _result(ended: Ended, *, sandboxed: bool, notes: tuple[str, ...]) -> Result:
    if ended.exit_code is None:
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise SandboxFailed(f"The command could not be started: {said}", hint="`forge doctor` checks this machine.")
    return Result(
        exit_code=ended.exit_code,
        stdout=ended.stdout,
        stderr=ended.stderr,
        duration=ended.duration,
        timed_out="time" in ended.limited,
        limited=ended.limited,
        sandboxed=sandboxed,
        notes=notes,
    )
