"""Bubblewrap: whether it works here, and how a command is started in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox import seccomp, view
from forge.sandbox.limits import DEFAULT_LIMITS, Limits
from forge.sandbox.process import Launch
from forge.sandbox.usage import processes_visible

_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns",
    "--uid", str(view.UID), "--gid", str(view.GID), "--hostname", "sandbox",
    # Without this a root caller keeps its capabilities and can remount what is read-only.
    "--cap-drop", "ALL",
    "--die-with-parent", "--new-session",
)  # fmt: skip
# bubblewrap's first process stays visible as /proc/1 inside, so its own environment must hold nothing.
_OWN_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
# Limits are set on bubblewrap itself and inherited; the score makes the kernel take the sandbox first when memory
# runs out. A hard limit that is lower already is left alone.
_LIMITED = """
ulimit -c 0 2>/dev/null; ulimit -f "$1" 2>/dev/null
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
shift; exec "$@"
"""
_PROBE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether commands can be confined on this machine; `reason` says why not."""

    path: Path | None
    version: str
    works: bool
    reason: str = ""

    @property
    def hint(self) -> str:
        if self.works:
            return ""
        if self.path is None:
            return (
                "Install bubblewrap 0.8 or newer (package `bubblewrap`), or allow plain execution in the settings: "
                "commands then run unconfined."
            )
        return (
            "Bubblewrap 0.8 or newer needs user namespaces (sysctl kernel.unprivileged_userns_clone and "
            "user.max_user_namespaces, or AppArmor's profile for bwrap). Or allow plain execution in the settings: "
            "commands then run unconfined."
        )


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
    trial = (path, *_NAMESPACES, "--unshare-net", *view.base(DEFAULT_LIMITS), "--remount-ro", "/", "--", "/bin/true")
    try:
        version = _answer((path, "--version"))
        _answer(trial)
    except subprocess.CalledProcessError as e:
        reason = e.stderr.decode("utf-8", "replace").strip() or f"it ended with exit code {e.returncode}"
        return Availability(Path(path), "", works=False, reason=reason)
    except (OSError, subprocess.TimeoutExpired) as e:
        return Availability(Path(path), "", works=False, reason=str(e))
    number = version.decode("utf-8", "replace").removeprefix("bubblewrap").strip()
    if not processes_visible():
        return Availability(Path(path), number, works=False, reason="the kernel does not list child processes in /proc")
    return Availability(Path(path), number, works=True)


def _answer(argv: Sequence[str]) -> bytes:
    return subprocess.run(
        argv, check=True, capture_output=True, stdin=subprocess.DEVNULL, env=_OWN_ENVIRONMENT, timeout=_PROBE_SECONDS
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
) -> Launch:
    """Everything goes to bubblewrap through one descriptor: other users see no paths and no values in `ps`."""
    arguments = [*_NAMESPACES, *view.base(limits), *view.etc_directories()]
    arguments += [] if network else ["--unshare-net"]
    arguments += [*view.places(directory, readonly), "--remount-ro", "/", "--chdir", str(directory), "--clearenv"]
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    passed: list[int] = []

    def handed(content: bytes) -> str:
        descriptor = os.memfd_create("forge")
        passed.append(descriptor)
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return str(descriptor)

    for path, content in view.etc_files():
        arguments[0:0] = ["--perms", "0444", "--file", handed(content), path]
    if program := seccomp.program():
        arguments += ["--seccomp", handed(program)]
    status, status_end = os.pipe()
    gate_end, gate = os.pipe()
    passed += [status_end, gate_end]
    arguments += ["--json-status-fd", str(status_end), "--block-fd", str(gate_end)]
    script = handed(b"\0".join(os.fsencode(word) for word in arguments))
    blocks = str(max(1, limits.file_bytes // 512))
    return Launch(
        ("/bin/sh", "-c", _LIMITED, "forge", blocks, str(bwrap), "--args", script, "--", *command),
        environment=_OWN_ENVIRONMENT,
        directory=Path("/"),
        status=status,
        passed=tuple(passed),
        gate=gate,
    )
