"""The system call filter of the sandbox, as a classic BPF program for bubblewrap's `--seccomp`.

It closes what namespaces leave open:
- the caller's kernel keyrings, and kernel tracing;
- sockets of families that know no network namespace (a virtual machine's vsock), and io_uring, which opens
  sockets and files past any filter;
- set-user-id files in the writable directory, which outside would run with the caller's rights;
- tracing of the first process, which ties the sandbox to the life of its caller.
"""

from __future__ import annotations

import errno
import platform
import socket
import stat
import struct
from dataclasses import dataclass, field

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32_CALLS = 0x40000000
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_FIRST_PROCESS = 1
_PRIVILEGED = stat.S_ISUID | stat.S_ISGID
_CREATES = 0o100 | 0o20000000  # O_CREAT, or O_TMPFILE: without them the mode argument means nothing


@dataclass(frozen=True, slots=True)
class _Machine:
    """System call numbers; `modes` and `opens` say which argument holds the file mode, and the flags before it."""

    architecture: int
    socket: int
    refused: tuple[int, ...]
    modes: dict[int, int]
    opens: dict[int, int]
    traces: dict[int, int]
    """Calls that reach into another process, and which argument names it."""
    missing: tuple[int, ...] = field(default=(425, 426, 427, 437))  # io_uring_*, openat2: callers fall back


_MACHINES = {  # refused: add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd
    "x86_64": _Machine(
        architecture=0xC000003E,
        socket=41,
        refused=(248, 249, 250, 298, 321, 323),
        # chmod, fchmod, fchmodat, fchmodat2, creat, mkdir, mkdirat, mknod, mknodat
        modes={90: 1, 91: 1, 268: 2, 452: 2, 85: 1, 83: 1, 258: 2, 133: 1, 259: 2},
        opens={2: 1, 257: 2},
        # ptrace, process_vm_readv, process_vm_writev, pidfd_open
        traces={101: 1, 310: 0, 311: 0, 434: 0},
    ),
    "aarch64": _Machine(
        architecture=0xC00000B7,
        socket=198,
        refused=(217, 218, 219, 241, 280, 282),
        # fchmod, fchmodat, fchmodat2, mkdirat, mknodat
        modes={52: 1, 53: 2, 452: 2, 34: 2, 33: 2},
        opens={56: 2},
        traces={117: 1, 270: 0, 271: 0, 434: 0},
    ),
}


def known() -> bool:
    """Whether this processor's system call numbers are listed here; without them there is no filter."""
    return platform.machine() in _MACHINES


def program() -> bytes:
    """The filter for this processor."""
    numbers = _MACHINES[platform.machine()]
    # Calls of another architecture (32-bit on a 64-bit kernel) have other numbers: none of them passes.
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        *_unless(_IF_EQUAL, numbers.architecture, [_refuse(errno.ENOSYS)]),
        _step(_LOAD, _NUMBER),
        *_when(_IF_AT_LEAST, _X32_CALLS, [_refuse(errno.ENOSYS)]),
    ]
    for number in numbers.missing:
        steps += _when(_IF_EQUAL, number, [_refuse(errno.ENOSYS)])
    for number in numbers.refused:
        steps += _when(_IF_EQUAL, number, [_refuse(errno.EPERM)])
    for number, mode in numbers.modes.items():
        steps += _when(_IF_EQUAL, number, _plain_mode(mode))
    for number, flags in numbers.opens.items():
        creating = _when(_IF_ANY_BIT, _CREATES, _plain_mode(flags + 1))
        steps += _when(_IF_EQUAL, number, [_load_argument(flags), *creating, _allow()])
    for number, process in numbers.traces.items():
        first = _when(_IF_EQUAL, _FIRST_PROCESS, [_refuse(errno.EPERM)])
        steps += _when(_IF_EQUAL, number, [_load_argument(process), *first, _allow()])
    known = [step for family in _FAMILIES for step in _when(_IF_EQUAL, family, [_allow()])]
    steps += _when(_IF_EQUAL, numbers.socket, [_load_argument(0), *known, _refuse(errno.EPERM)])
    return b"".join([*steps, _allow()])


def _plain_mode(argument: int) -> list[bytes]:
    return [_load_argument(argument), *_when(_IF_ANY_BIT, _PRIVILEGED, [_refuse(errno.EPERM)]), _allow()]


def _when(condition: int, value: int, steps: list[bytes]) -> list[bytes]:
    return [_step(condition, value, 0, len(steps)), *steps]


def _unless(condition: int, value: int, steps: list[bytes]) -> list[bytes]:
    return [_step(condition, value, len(steps), 0), *steps]


def _load_argument(index: int) -> bytes:
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _allow() -> bytes:
    return _step(_RETURN, _ALLOW)


def _step(code: int, value: int, skip_if_true: int = 0, skip_if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, skip_if_true, skip_if_false, value)
