"""What goes into a command and comes out of it: pipes served without waiting, output kept within bounds."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO

_CHUNK = 65536
_MOST_WAITING = 1 << 20

OnOutput = Callable[[str, bytes], None]
"""Called with `stdout` or `stderr` and the bytes as they arrive, in the thread that runs the command."""


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


class Pipes:
    """Descriptors that are read and written whenever they are ready."""

    def __init__(self, stack: ExitStack) -> None:
        self._selector = stack.enter_context(selectors.DefaultSelector())

    def serve(self, timeout: float) -> None:
        """Wait for something to be ready, and do what is to be done with it."""
        for key, _ in self._selector.select(timeout):
            key.data()

    def drain(self) -> None:
        """Take in whatever can be read without waiting."""
        for key in [*self._selector.get_map().values()]:
            while key.events == selectors.EVENT_READ and key.data():
                pass

    def wake_for(self, descriptor: int) -> None:
        """Let `serve` return when this one is ready."""
        self._selector.register(descriptor, selectors.EVENT_READ, lambda: None)

    def when_writable(self, pipe: IO[bytes], write: Callable[[], bool]) -> None:
        """Call `write` whenever the pipe has room, until it says that nothing is left."""
        descriptor = pipe.fileno()

        def wrote() -> None:
            if not write():
                self._selector.unregister(descriptor)

        self._selector.register(descriptor, selectors.EVENT_WRITE, wrote)

    def listen(
        self,
        source: IO[bytes] | int | None,
        take: Callable[[bytes], None],
        *,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Hand what is read to `take`, until the end."""
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
                ended()
            return bool(data)

        self._selector.register(descriptor, selectors.EVENT_READ, read)

    def feed(self, pipe: IO[bytes] | None, data: bytes) -> None:
        """Write all of `data` and close the pipe, also when nobody reads it to the end."""
        if pipe is None:
            return
        os.set_blocking(pipe.fileno(), False)
        left = memoryview(data)

        def write() -> None:
            nonlocal left
            try:
                left = left[os.write(pipe.fileno(), left[:_CHUNK]) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                left = left[:0]
            if not left:
                self._selector.unregister(pipe)
                pipe.close()

        self._selector.register(pipe, selectors.EVENT_WRITE, write)


class Relay:
    """Passes on what comes from one descriptor to a pipe, within bounded memory; the end of one ends the other."""

    def __init__(self, pipes: Pipes, source: int, sink: IO[bytes]) -> None:
        self._pipes = pipes
        self._sink = sink
        self._waiting = bytearray()
        self._ended = False
        os.set_blocking(sink.fileno(), False)
        pipes.listen(source, self._take, ended=self._end)

    def _take(self, data: bytes) -> None:
        if self._sink.closed or self._ended:
            return
        if len(self._waiting) > _MOST_WAITING:
            # Nobody reads. A part left out would garble the rest: the input ends here.
            del self._waiting[1:]
            self._ended = True
            return
        was_empty = not self._waiting
        self._waiting += data
        if was_empty:
            self._pipes.when_writable(self._sink, self._write)

    def _end(self) -> None:
        self._ended = True
        if not self._waiting and not self._sink.closed:
            self._sink.close()

    def _write(self) -> bool:
        """Whether there is more to write."""
        try:
            del self._waiting[: os.write(self._sink.fileno(), self._waiting[:_CHUNK])]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._waiting.clear()
        if not self._waiting and self._ended:
            self._sink.close()
        return bool(self._waiting)


class Output:
    """Both streams of a command: the end of each, and word of them to whoever listens."""

    def __init__(self, size: int, on_output: OnOutput | None) -> None:
        self.stdout, self.stderr = Tail(size), Tail(size)
        self._on_output = on_output

    @property
    def cut(self) -> bool:
        return self.stdout.cut or self.stderr.cut

    def take_output(self, data: bytes) -> None:
        self.stdout.add(data)
        self._tell("stdout", data)

    def take_error(self, data: bytes) -> None:
        self.stderr.add(data)
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
