"""One started process tree: feeds it, reads it, watches its limits, and ends it whatever happens."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time

from forge.sandbox.errors import SandboxFailed
from forge.sandbox.launch import Ended, Launch
from forge.sandbox.limits import Limits
from forge.sandbox.streams import OnOutput, Output, Pipes, Relay
from forge.sandbox.supervisor import kill_groups
from forge.sandbox.usage import Watch, parent_of

_LOOK_EVERY = 0.025
_END_WITHIN = 10.0
_CANCELLED = "cancelled"


def follow(
    launch: Launch,
    *,
    stdin: bytes,
    limits: Limits,
    watch: Watch,
    on_output: OnOutput | None = None,
    cancel: threading.Event | None = None,
    source: int | None = None,
) -> Ended:
    """Start the tree and stay with it until none of it is left. `source` is further input, as it comes."""
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, launch.status)
        leader = launch.start(with_input=launch.namespaced or bool(stdin) or source is not None)
        for pipe in filter(None, (leader.stdin, leader.stdout, leader.stderr)):
            stack.callback(pipe.close)
        tree = _Tree(leader, stdin, stack, launch=launch, output=Output(limits.output_bytes, on_output), source=source)
        try:
            limit = tree.attend(started + limits.seconds, watch, cancel)
        finally:
            # On KeyboardInterrupt too, nothing of the tree outlives this call.
            tree.end()
    return tree.ended(limit, time.monotonic() - started)


class _Tree:
    def __init__(
        self,
        leader: subprocess.Popen[bytes],
        stdin: bytes,
        stack: contextlib.ExitStack,
        *,
        launch: Launch,
        output: Output,
        source: int | None,
    ) -> None:
        self._leader = leader
        self._source = source
        self._stack = stack
        self._namespaced = launch.namespaced
        self._waits = launch.namespaced
        self._input = b"\n" + stdin if launch.namespaced else stdin
        self._output = output
        self._report = b""
        self._facts: dict[str, int] = {}
        self._child: int | None = None
        self._ending = False
        self._pipes = Pipes(stack)
        self._pipes.listen(leader.stdout, self._take_output)
        self._pipes.listen(leader.stderr, output.take_error)
        self._pipes.listen(launch.status, self._take_report)
        if not self._waits:
            self._give_input()

    def attend(self, deadline: float, watch: Watch, cancel: threading.Event | None) -> str | None:
        """Serve the tree until its leader has ended, or until it breaks the limit whose name is returned."""
        exited = os.pidfd_open(self._leader.pid)
        self._stack.callback(os.close, exited)
        self._pipes.wake_for(exited)
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
            self._pipes.serve(min(_LOOK_EVERY, deadline - now))
        return None

    def end(self) -> None:
        """Kill what is left of the tree, see it gone and take in its last words."""
        self._ending = True
        # bubblewrap's child is tied to bubblewrap's life only at the end of the setup: learn of it before killing.
        patience = time.monotonic() + _END_WITHIN
        while self._namespaced and self._child is None and self._leader.poll() is None and time.monotonic() < patience:
            self._pipes.serve(_LOOK_EVERY)
        if self._leader.poll() is None and (root := self._root()):
            # A namespace's first process needs its turn before it takes the others along: they could continue forking.
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
        self._pipes.drain()

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
        # Not `select`, which knows descriptors below 1,024 only: a server may have more.
        waits = select.poll()
        waits.register(self._child, select.POLLIN)
        gone = waits.poll(_END_WITHIN * 1000)
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
        if self._output.cut:
            limited.append("output")
        out, err = self._output.stdout.value(), self._output.stderr.value()
        return Ended(code, out, err, duration, tuple(limited), limit == _CANCELLED)

    def _root(self) -> int | None:
        """The process below which everything belongs to the command; None while it is not known yet."""
        if not self._namespaced:
            return self._leader.pid
        return self._facts["child-pid"] if self._child is not None else None

    def _take_output(self, data: bytes) -> None:
        if self._waits:
            self._waits = False
            data = data[1:]
            # A caller that dies before this point closes the pipe, and the command ends without having started.
            if not self._ending:
                self._give_input()
        self._output.take_output(data)

    def _give_input(self) -> None:
        if self._source is None or self._leader.stdin is None:
            self._pipes.feed(self._leader.stdin, self._input)
            return
        # The pipe is empty and takes these few bytes at once.
        os.write(self._leader.stdin.fileno(), self._input)
        Relay(self._pipes, self._source, self._leader.stdin)

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
