"""Opens loopback ports that lead to unix sockets, then becomes the command.

Started as a program of its own inside the sandbox, so it imports little, and nothing of Forge. A command without
network reaches through these ports what the caller serves on the sockets, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time

_CHUNK = 65536
_BACKLOG = 64
_PAUSE = 0.05


def forward(places: list[str], command: list[str]) -> int:
    """`places` are words of the form `port=socket path`. The ports listen before the command starts."""
    try:
        listeners = [(_listener(int(port)), path) for port, _, path in (place.partition("=") for place in places)]
    except OSError as e:
        return _complain(f"a local port could not be opened: {e.strerror}", 1)
    if os.fork() == 0:
        _serve(listeners)
    for listener, _ in listeners:
        listener.close()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, programs expect them
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - a list of words, by design without a shell
    except OSError as e:
        return _complain(f"{command[0]}: {e.strerror}", 127 if isinstance(e, FileNotFoundError) else 126)


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(_BACKLOG)
    return listener


def _serve(listeners: list[tuple[socket.socket, str]]) -> None:
    # The command's own pipes must close when it closes them. This process ends with the rest of the tree.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    threads = [threading.Thread(target=_accept, args=pair) for pair in listeners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(0)


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        try:
            inner, _ = listener.accept()
        except OSError:  # too many files are open: some will close
            time.sleep(_PAUSE)
            continue
        outer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            outer.connect(path)
        except OSError:
            inner.close()
            continue
        ends = threading.Thread(target=_pump, args=(inner, outer)), threading.Thread(target=_pump, args=(outer, inner))
        for end in ends:
            end.start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _complain(text: str, code: int) -> int:
    os.write(2, f"forge: {text}\n".encode("utf-8", "surrogateescape"))
    return code


if __name__ == "__main__":
    split = sys.argv.index("--")
    sys.exit(forward(sys.argv[1:split], sys.argv[split + 1 :]))
