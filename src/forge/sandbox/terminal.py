"""Gives a command a terminal of its own, and carries keys in and output out over its standard streams.

Started as a program of its own inside the sandbox, so it imports little, and nothing of Forge. Frames come in: a
letter, four bytes of length, then the bytes. `i` is input for the terminal, `r` its size as two numbers of two bytes.
What the terminal shows goes out as it is. The end of the input hangs up.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

_CHUNK = 65536
_HEAD = struct.Struct(">cI")
_SIZE = struct.Struct(">HH")
_LARGEST = 1 << 20
_LAST_WORDS = 2.0
_FIRST_SIZE = 0.25
"""Seconds for the first frame: a program that asks for the size as it starts is to find it."""


def keys(data: bytes) -> bytes:
    """A frame with what somebody typed."""
    return _HEAD.pack(b"i", len(data)) + data


def resized(rows: int, columns: int) -> bytes:
    """A frame with the size of the screen."""
    return _HEAD.pack(b"r", _SIZE.size) + _SIZE.pack(rows, columns)


def serve(command: list[str]) -> int:
    """Run the command in a terminal until it ends; its exit code."""
    received = os.read(0, _CHUNK) if select.select([0], [], [], _FIRST_SIZE)[0] else b""
    child, terminal = pty.fork()
    if child == 0:
        _taken(0, received)
        try:
            os.execvp(command[0], command)  # noqa: S606 - a list of words, by design without a shell
        except OSError as e:
            os.write(2, f"forge: {command[0]}: {e.strerror}\n".encode())
            os._exit(127)
    hung_up = _carry(terminal, received)
    code = os.waitstatus_to_exitcode(_status(child, terminal, 0.0 if hung_up else _LAST_WORDS))
    return code if code >= 0 else 128 - code  # as shells tell of a signal


def _status(child: int, terminal: int, seconds: float) -> int:
    """How it ended. A program that has closed the terminal may still be at its end, and has these seconds for it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.005)
    os.close(terminal)
    os.kill(child, signal.SIGHUP)  # not waited for yet, so the number is still its own
    return os.waitpid(child, 0)[1]


def _carry(terminal: int, received: bytes) -> bool:
    """Until either end closes; whether it was the end of the input."""
    received, typed = _taken(terminal, received)
    sources = [0, terminal]
    while True:
        readable, writable, _ = select.select(sources, [terminal] if typed else [], [])
        if terminal in readable:
            try:
                data = os.read(terminal, _CHUNK)
            except OSError:  # the last process that had it open has ended
                return False
            if not data:
                return False
            _write(data)
        if 0 in readable:
            data = os.read(0, _CHUNK)
            if not data:
                return True
            received, more = _taken(terminal, received + data)
            typed += more
        if terminal in writable:
            # A little at a time: what nobody reads would block, and the output with it.
            typed = typed[os.write(terminal, typed[:512]) :]


def _taken(terminal: int, received: bytes) -> tuple[bytes, bytes]:
    """What is left of the last frame, and what was typed."""
    typed = b""
    while len(received) >= _HEAD.size:
        kind, size = _HEAD.unpack_from(received)
        if size > _LARGEST:
            raise SystemExit(2)
        if len(received) < _HEAD.size + size:
            break
        body, received = received[_HEAD.size : _HEAD.size + size], received[_HEAD.size + size :]
        if kind == b"i":
            typed += body
        elif kind == b"r" and size == _SIZE.size:
            rows, columns = _SIZE.unpack(body)
            with contextlib.suppress(OSError):
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return received, typed


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1:]))
