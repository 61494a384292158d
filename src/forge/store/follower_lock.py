"""Whether other processes follow what happens here: a lock on a file, which the kernel takes back when they end."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from contextlib import suppress
from pathlib import Path

# Of Linux: each opened file has its own lock, so that two followers in one process are two.
_SET, _GET = getattr(fcntl, "F_OFD_SETLK", None), getattr(fcntl, "F_OFD_GETLK", None)
_LOCK = "hhqqi4x"
_PRIVATE = 0o600


class Following:
    """One for each process and database. Where the system cannot tell, somebody else may follow."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None
        self._opening = threading.Lock()

    def begin(self) -> None:
        """From here on, others know of this one."""
        if _SET is not None and (fd := self._opened()) is not None:
            with suppress(OSError):  # a file system without locks: nobody can tell there
                fcntl.fcntl(fd, _SET, struct.pack(_LOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))

    def has_others(self) -> bool:
        if _GET is None or (fd := self._opened()) is None:
            return True
        try:
            told = fcntl.fcntl(fd, _GET, struct.pack(_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        except OSError:
            return True
        return bool(struct.unpack(_LOCK, told)[0] != fcntl.F_UNLCK)

    def end(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _opened(self) -> int | None:
        with self._opening:
            if self._fd is None:
                with suppress(OSError):
                    self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
            return self._fd
