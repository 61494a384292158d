"""Runs one command without bubblewrap and ends every process it leaves behind.

Started as a program of its own, so it imports little, and nothing of Forge. The kernel hands orphans to the nearest
"subreaper" above them: as that one, this process keeps the whole tree in sight, whatever daemonises itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator

GIVES_WAY = 5
"""Niceness of every command: who is at the machine, or asks its server something, comes first."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAUSE = 0.002
_AWAITED = (signal.SIGCHLD, signal.SIGTERM)
_GONE = (FileNotFoundError, ProcessLookupError)


def descendants(root: int) -> Iterator[int]:
    """Every process below `root`, parents first. What ends meanwhile is skipped."""
    queue = [root]
    while queue:
        for child in _children(queue.pop()):
            yield child
            queue.append(child)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(*_GONE):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(*_GONE), open(f"/proc/{pid}/task/{task}/children", "rb") as listing:
                found += map(int, listing.read().split())
    return found


def kill_groups(root: int) -> None:
    """Kill every process group below `root`, each with one signal, so that a fork bomb stops at once.

    The first process below must have opened a session of its own: then no group reaches outside the tree.
    """
    killed = {os.getpgrp()}
    for pid in descendants(root):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            group = os.getpgid(pid)
            if group not in killed:
                killed.add(group)
                os.killpg(group, signal.SIGKILL)


def supervise(status: int, file_bytes: int, command: list[str]) -> int:
    """Run the command; report its process and its exit code on `status` as bubblewrap does."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        return _complain("this kernel cannot keep a process tree together (PR_SET_CHILD_SUBREAPER)")
    # Signals are taken when this process asks for them, so none can come between the child's end and the cleaning.
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    os.set_inheritable(status, False)
    child = os.fork()
    if child == 0:
        _become(command, file_bytes)
    code = 128 + signal.SIGKILL
    # A caller that died before the signal of its death was asked for has closed the other end.
    with contextlib.suppress(BrokenPipeError):
        os.write(status, b'{ "child-pid": %d }\n' % child)
        code = _exit_code_of(child)
    _end_all()
    with contextlib.suppress(BrokenPipeError):
        os.write(status, b'{ "exit-code": %d }\n' % code)
    return 0


def _become(command: list[str], file_bytes: int) -> None:
    os.setsid()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, programs expect them
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    size = file_bytes if hard == resource.RLIM_INFINITY else min(file_bytes, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    os.nice(GIVES_WAY)
    try:
        os.execvp(command[0], command)  # noqa: S606 - a list of words, by design without a shell
    except OSError as e:
        _complain(f"{command[0]}: {e.strerror}")
        os._exit(127 if isinstance(e, FileNotFoundError) else 126)


def _exit_code_of(child: int) -> int:
    """Wait for the command's own end, or for the caller's wish or death, which counts as killed."""
    while signal.sigwait(_AWAITED) == signal.SIGCHLD:
        for pid, status in _reaped():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
    return 128 + signal.SIGKILL


def _end_all() -> None:
    """Kill until nothing is left, without giving up: what gets away from here is never found again."""
    with contextlib.suppress(ChildProcessError):
        while True:
            kill_groups(os.getpid())
            for _ in _reaped():
                pass
            time.sleep(_PAUSE)


def _reaped() -> Iterator[tuple[int, int]]:
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        yield pid, status


def _complain(text: str) -> int:
    os.write(2, f"forge: {text}\n".encode("utf-8", "surrogateescape"))
    return 1


if __name__ == "__main__":
    sys.exit(supervise(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
