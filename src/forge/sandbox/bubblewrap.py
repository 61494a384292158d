"""Bubblewrap: whether it works here, and how a command is started in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from forge.sandbox import seccomp, view
from forge.sandbox.errors import SandboxFailed
from forge.sandbox.launch import Launch
from forge.sandbox.limits import DEFAULT_LIMITS, Limits
from forge.sandbox.supervisor import GIVES_WAY
from forge.sandbox.usage import processes_visible

_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns",
    "--uid", str(view.UID), "--gid", str(view.GID), "--hostname", "sandbox", "--die-with-parent", "--new-session",
    # Without this a root caller keeps its capabilities and can remount what is read-only.
    "--cap-drop", "ALL",
)  # fmt: skip
# bubblewrap's first process stays visible as /proc/1 inside, so its own environment must hold nothing.
_OWN_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
# Limits are set on bubblewrap itself and inherited; one that is lower already is left alone. The score makes the
# kernel take the sandbox first when memory runs out; niceness leaves the processors to the people at the machine.
_LIMITED = f"""
ulimit -c 0 2>/dev/null; ulimit -f "$1" 2>/dev/null
{{ echo 1000 >/proc/self/oom_score_adj; }} 2>/dev/null
shift; exec nice -n {GIVES_WAY} "$@"
"""
# The command starts when the caller says so, who by then watches it and whose death would end it.
_READY = """\
echo; read -r _ || exit
command -v -- "$1" >/dev/null || { echo "forge: $1: not found, neither on PATH nor on the branch" >&2; exit 127; }
exec "$@"
"""
_PROBE_SECONDS = 10
_OLDEST = (0, 8)
"""The first with --disable-userns."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether commands can be confined on this machine; `reason` says why not, `hint` what to do about it."""

    path: Path | None
    version: str
    works: bool
    reason: str = ""

    @property
    def hint(self) -> str:
        if self.works:
            return ""
        remedy = (
            "Install bubblewrap 0.8 or newer (package `bubblewrap`)"
            if self.path is None or _is_too_old(self.version)
            else "Bubblewrap 0.8 or newer must be allowed to make user namespaces (sysctl user.max_user_namespaces "
            "and kernel.unprivileged_userns_clone, or an AppArmor profile for bwrap)"
        )
        return f"{remedy}, or allow plain execution (`forge exec --allow-plain`): commands then run unconfined."


_working: dict[str, Availability] = {}


def available() -> Availability:
    """Find bubblewrap and try it. Success is remembered; after a failure the next call tries again."""
    path = shutil.which("bwrap")
    if path is None:
        return Availability(None, "", works=False, reason="bubblewrap (bwrap) is not on the PATH")
    if path not in _working:
        found = _probe(path)
        if not found.works:
            return found
        _working[path] = found
    return _working[path]


def _probe(path: str) -> Availability:
    version = ""
    try:
        version = _answer(path, "--version").removeprefix("bubblewrap").strip()
        if _is_too_old(version):
            return Availability(Path(path), version, works=False, reason=f"bubblewrap {version} is too old")
        alone = ("--unshare-net", "--as-pid-1")  # without a process of its own inside, bubblewrap leaves no orphan
        _answer(path, *_NAMESPACES, *alone, *view.base(DEFAULT_LIMITS), "--remount-ro", "/", "/bin/true")
    except subprocess.CalledProcessError as e:
        reason = e.stderr.strip() or f"it ended with exit code {e.returncode}"
    except (OSError, subprocess.TimeoutExpired) as e:
        reason = str(e)
    else:
        reason = "" if processes_visible() else "the kernel does not list child processes in /proc"
    return Availability(Path(path), version, works=not reason, reason=reason)


def _is_too_old(version: str) -> bool:
    parts = version.split(".")[:2]
    return all(part.isdigit() for part in parts) and tuple(map(int, parts)) < _OLDEST


def _answer(*argv: str) -> str:
    return subprocess.run(
        argv,
        check=True,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
        env=_OWN_ENVIRONMENT,
        timeout=_PROBE_SECONDS,
    ).stdout


def launch(
    bwrap: Path,
    command: Sequence[str],
    directory: Path,
    limits: Limits,
    *,
    network: bool,
    environment: Mapping[str, str],
    readonly: Sequence[Path],
    with_input: bool,
    sockets: Mapping[str, Path] = _NOTHING,
    files: Mapping[str, bytes] = _NOTHING,
    at: str | None = None,
    mounts: Sequence[view.Mount] = (),
    root: Path | None = None,
) -> Launch:
    """How to start `command`. Settings go over in files, so that other users' `ps` shows no paths and no values.

    `sockets` and `files` are put where their keys say; files are the command's own copies. The command sees `directory`
    as `at`, and `mounts` besides. With `root`, its system is that of an unpacked image.
    """
    places = view.places(directory, readonly, at=at, mounts=mounts)
    descriptors: list[int] = []
    try:
        status, status_end = os.pipe()
        descriptors += [status_end, status]
        arguments = [*_NAMESPACES, "--json-status-fd", str(status_end)]
        arguments += [] if network else ["--unshare-net"]
        if seccomp.known():
            arguments += ["--seccomp", _file(seccomp.program(), descriptors)]
        arguments += view.base(limits, root)
        if root is None:
            arguments += view.etc_directories()
            for path, content in view.etc_files():
                arguments += ["--perms", "0444", "--file", _file(content, descriptors), path]
        else:
            for path, content in view.etc_files_over(root):
                arguments += ["--ro-bind-data", _file(content, descriptors), path]
        for path, content in files.items():
            arguments += ["--perms", "0600", "--file", _file(content, descriptors), path]
        for path, host in sockets.items():
            arguments += ["--ro-bind", str(host), path]
        arguments += [*places, "--remount-ro", "/", "--chdir", at or str(directory), "--clearenv"]
        for name, value in environment.items():
            arguments += ["--setenv", name, value]
        words = _file(b"".join(os.fsencode(word) + b"\0" for word in arguments), descriptors)
    except OSError as e:
        for descriptor in descriptors:
            os.close(descriptor)
        raise SandboxFailed(
            f"The sandbox could not be prepared: {e}.", hint="Look at the limit of open files and at free memory."
        ) from e
    descriptors.remove(status)
    limited = ("/bin/sh", "-c", _LIMITED, "forge", str(max(1, limits.file_bytes // 512)))
    ready = ("/bin/sh", "-c", _READY if with_input else f"{_READY} </dev/null", "forge")
    return Launch(
        (*limited, str(bwrap), "--args", words, "--", *ready, *command),
        environment=_OWN_ENVIRONMENT,
        directory=Path("/"),
        status=status,
        passed=tuple(descriptors),
        namespaced=True,
    )


def _file(content: bytes, descriptors: list[int]) -> str:
    descriptor = os.memfd_create("forge")
    descriptors.append(descriptor)
    while content:
        content = content[os.write(descriptor, content) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return str(descriptor)
