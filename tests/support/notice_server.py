"""A server on this machine that speaks as ntfy and as Telegram's Bot API do, and remembers what it was told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TELEGRAM_OK = {"ok": True, "result": {"message_id": 7, "chat": {"id": 42}, "date": 1, "text": "x"}}
TELEGRAM_REFUSED = {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}
NTFY_OK = {"id": "hwQ2YpKdmg", "time": 1, "event": "message", "topic": "forge", "message": "x"}
NTFY_REFUSED = {"code": 40301, "http": 403, "error": "forbidden", "link": "https://ntfy.sh/docs/publish/"}


@dataclass
class Told:
    path: str
    body: dict[str, Any]
    authorization: str | None


@dataclass
class Loopback:
    url: str = ""
    told: list[Told] = field(default_factory=list)
    answers: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Taken one by one; after the last, everything is accepted."""
    open: threading.Event = field(default_factory=threading.Event)
    """Cleared, the server takes requests and does not answer."""
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def messages(self) -> list[str]:
        return [told.body.get("message") or told.body["text"] for told in self.told]

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        if self.answers:
            return self.answers.pop(0)
        return 200, TELEGRAM_OK if path.startswith("/bot") else NTFY_OK


@contextmanager
def serving() -> Iterator[Loopback]:
    state = Loopback()
    state.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.told.append(Told(self.path, body, self.headers.get("Authorization")))
            state.arrived.release()
            state.open.wait(30)
            status, answer = state.answer(self.path)
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            return

        def finish(self) -> None:
            try:
                super().finish()
            except OSError:
                return

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # who asked has gone
                return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        state.open.set()
        server.shutdown()
        thread.join()
        server.server_close()
