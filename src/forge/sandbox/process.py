"""One started process tree: feeds it, reads it, watches its limits, and ends it whatever happens."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from forge.sandbox.errors import InvalidCommand, SandboxFailed
from forge.sandbox.limits import Limits
from forge.sandbox.supervisor import kill_groups
from forge.sandbox.usage import Watch, parent_of

_LOOK_EVERY = 0.025
_END_WITHIN = 10.0
_CHUNK = 65536
_CANCELLED = "cancelled"

OnOutput = Callable[[str, bytes], None]
"""Called with `stdout` or `stderr` and the bytes as they arrive, in the thread that runs the command."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a leader process that reports as bubblewrap's `--json-status-fd` does."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: Path
    status: int
    """Read end of the report."""
    passed: tuple[int, ...]
    """Descriptors for the leader; closed here once it has started."""
    namespaced: bool = False
    """The child that the report names is a namespace's first process, and the command waits: it writes an empty line
    when it is ready and starts when it reads one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What remains of a process tree. Without `exit_code` the command itself was never started."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration: float
    limited: tuple[str, ...]
    cancelled: bool = False


def follow(
    launch: Launch,
    *,
    stdin: bytes,
    limits: Limits,
    watch: Watch,
    on_output: OnOutput | None = None,
    cancel: threading.Event | None = None,
) -> Ended:
    """Start the tree and stay with it until none of it is left."""
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, launch.status)
        leader = _start(launch, with_input=launch.namespaced or bool(stdin))
        for pipe in filter(None, (leader.stdin, leader.stdout, leader.stderr)):
            stack.callback(pipe.close)
        tree = _Tree(leader, stdin, stack, output_bytes=limits.output_bytes, launch=launch, on_output=on_output)
        try:
            limit = tree.attend(started + limits.seconds, watch, cancel)
        finally:
            # On KeyboardInterrupt too, nothing of the tree outlives this call.
            tree.end()
    return tree.ended(limit, time.monotonic() - started)


def _start(launch: Launch, *, with_input: bool) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            launch.argv,
            bufsize=0,
            stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=launch.environment,
            cwd=launch.directory,
            pass_fds=launch.passed,
            start_new_session=True,
        )
    except OSError as e:
        if e.errno == errno.E2BIG:
            raise InvalidCommand(
                "The command is longer than the system allows.", hint="Pass long input through stdin or a file."
            ) from e
        raise SandboxFailed(
            f"No process could be started: {e.strerror}.", hint="Look at the machine's free memory and processes."
        ) from e
    finally:
        for descriptor in launch.passed:
            os.close(descriptor)


class Tail:
    """The end of a stream of any length, in bounded memory."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        self._kept += data
        self._total += len(data)
        if len(self._kept) > 2 * self._size:
            del self._kept[: -self._size]

    @property
    def cut(self) -> bool:
        return self._total > self._size

    def value(self) -> bytes:
        if not self.cut:
            return bytes(self._kept)
        return b"[%d bytes dropped]\n" % (self._total - self._size) + bytes(self._kept[-self._size :])


class _Tree:
    def __init__(
        self,
        leader: subprocess.Popen[bytes],
        stdin: bytes,
        stack: contextlib.ExitStack,
        *,
        output_bytes: int,
        launch: Launch,
        on_output: OnOutput | None,
    ) -> None:
        self._leader = leader
        self._stack = stack
        self._namespaced = launch.namespaced
        self._waits = launch.namespaced
        self._input = memoryview(b"\n" + stdin if launch.namespaced else stdin)
        self._out, self._err = Tail(output_bytes), Tail(output_bytes)
        self._on_output = on_output
        self._report = b""
        self._facts: dict[str, int] = {}
        self._child: int | None = None
        self._ending = False
        self._selector = stack.enter_context(selectors.DefaultSelector())
        self._listen(leader.stdout, self._take_output)
        self._listen(leader.stderr, self._take_error)
        self._listen(launch.status, self._take_report)
        if not self._waits:
            self._feed()

    def attend(self, deadline: float, watch: Watch, cancel: threading.Event | None) -> str | None:
        """Serve the tree until its leader has ended, or until it breaks the limit whose name is returned."""
        exited = os.pidfd_open(self._leader.pid)
        self._stack.callback(os.close, exited)
        self._selector.register(exited, selectors.EVENT_READ, lambda: None)
        look_at = 0.0
        while self._leader.poll() is None:
            now = time.monotonic()
            if cancel is not None and cancel.is_set():
                return _CANCELLED
            if now >= deadline:
                return "time"
            if now >= look_at and (root := self._root()):
                if limit := watch.exceeded(root):
                    return limit
                done = time.monotonic()
                # A look at a large tree takes long: never spend more than a fifth of the time on looking.
                look_at = done + max(_LOOK_EVERY, 4 * (done - now))
            self._serve(min(_LOOK_EVERY, deadline - now))
        return None

    def end(self) -> None:
        """Kill what is left of the tree, see it gone and take in its last words."""
        self._ending = True
        # bubblewrap's child is tied to bubblewrap's life only at the end of the setup: learn of it before killing.
        patience = time.monotonic() + _END_WITHIN
        while self._namespaced and self._child is None and self._leader.poll() is None and time.monotonic() < patience:
            self._serve(_LOOK_EVERY)
        if self._leader.poll() is None and (root := self._root()):
            # A namespace's first process needs its turn before it takes the others along: they could go on forking.
            kill_groups(root)
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._child, signal.SIGKILL)
        if self._leader.poll() is None:
            self._leader.terminate()
        if not self._gone():
            raise SandboxFailed(
                f"Processes of the command did not end within {_END_WITHIN:.0f} s of being killed.",
                hint="They wait for a device or a network file system, or belong to another user; see `ps`.",
            )
        for key in [*self._selector.get_map().values()]:
            while key.events == selectors.EVENT_READ and key.data():
                pass

    def _gone(self) -> bool:
        # A namespace is empty when its first process is gone; the supervisor leaves only when nothing is left, and
        # is never killed, because then nobody could find the rest.
        try:
            self._leader.wait(_END_WITHIN)
        except subprocess.TimeoutExpired:
            if not self._namespaced:
                return False
            self._leader.kill()
            self._leader.wait()
        if self._child is None:
            return True
        gone, _, _ = select.select([self._child], [], [], _END_WITHIN)
        # bubblewrap does not wait for its child. As a container's first process we inherit it and must reap it.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._facts["child-pid"], os.WNOHANG)
        return bool(gone)

    def ended(self, limit: str | None, duration: float) -> Ended:
        code = self._facts.get("exit-code")
        if limit:
            code = 128 + signal.SIGKILL
        elif code is None and self._leader.returncode < 0:
            code = 128 - self._leader.returncode
        limited = [limit] if limit and limit != _CANCELLED else []
        if code == 128 + signal.SIGXFSZ:
            limited.append("file size")
        if self._out.cut or self._err.cut:
            limited.append("output")
        return Ended(code, self._out.value(), self._err.value(), duration, tuple(limited), limit == _CANCELLED)

    def _root(self) -> int | None:
        """The process below which everything belongs to the command; None while it is not known yet."""
        if not self._namespaced:
            return self._leader.pid
        return self._facts["child-pid"] if self._child is not None else None

    def _serve(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            key.data()

    def _listen(self, source: IO[bytes] | int | None, take: Callable[[bytes], None]) -> None:
        if source is None:
            return
        descriptor = source if isinstance(source, int) else source.fileno()
        os.set_blocking(descriptor, False)

        def read() -> bool:
            try:
                data = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                return False
            if data:
                take(data)
            else:
                self._selector.unregister(descriptor)
            return bool(data)

        self._selector.register(descriptor, selectors.EVENT_READ, read)

    def _feed(self) -> None:
        pipe = self._leader.stdin
        if pipe is None:
            return
        os.set_blocking(pipe.fileno(), False)

        def write() -> None:
            try:
                self._input = self._input[os.write(pipe.fileno(), self._input[:_CHUNK]) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._input = self._input[:0]
            if not self._input:
                self._selector.unregister(pipe)
                pipe.close()

        self._selector.register(pipe, selectors.EVENT_WRITE, write)

    def _take_output(self, data: bytes) -> None:
        if self._waits:
            self._waits = False
            data = data[1:]
            # A caller that dies before this point closes the pipe, and the command ends without having started.
            if not self._ending:
                self._feed()
        self._out.add(data)
        self._tell("stdout", data)

    def _take_error(self, data: bytes) -> None:
        self._err.add(data)
        self._tell("stderr", data)

    def _tell(self, stream: str, data: bytes) -> None:
        if self._on_output is None or not data:
            return
        try:
            self._on_output(stream, data)
        except BaseException:
            # Ending the tree takes in its last words: a listener that failed must not get in the way of that.
            self._on_output = None
            raise

    def _take_report(self, data: bytes) -> None:
        *lines, self._report = (self._report + data).split(b"\n")
        for line in lines:
            self._facts.update(json.loads(line))
        if self._namespaced and self._child is None and "child-pid" in self._facts:
            self._hold(self._facts["child-pid"])

    def _hold(self, child: int) -> None:
        # If the setup failed, the child is gone and its number may be a stranger's: hence the look at its parent.
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(child)
            self._stack.callback(os.close, descriptor)
            if parent_of(child) == self._leader.pid:
                self._child = descriptor
