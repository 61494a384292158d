"""A stand-in for the model APIs that agent programs speak to: asks for one file to be written, then says it is done."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
SAID = "The file is written."


@dataclass
class ProgramApi:
    """What the programs asked, and how to answer: with a file to be written at `path`, or a `command` to be run, or a
    `deny` status."""

    path: str = "made.txt"
    content: str = "by the program\n"
    command: str = ""
    said: str = SAID
    """At the end."""
    deny: int = 0
    silent: bool = False
    patch: bool = False
    """Codex is asked to apply a patch instead of writing through its shell."""
    hang: bool = False
    port: int = 0
    asked: list[tuple[str, Json, Json]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def program_api(**options: Any) -> Iterator[ProgramApi]:
    api = ProgramApi(**options)

    class Handler(_Handler):
        state = api

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    state: ProgramApi

    def do_GET(self) -> None:
        self._answer(200, "application/json", b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.state.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if self.state.hang:
            self.connection.recv(1)  # returns when the program hangs up
            self.close_connection = True
        elif self.state.deny:
            error = {
                "error": {"type": "authentication_error", "message": "that key is not known", "code": self.state.deny}
            }
            self._answer(self.state.deny, "application/json", json.dumps(error).encode())
        elif "/messages" in self.path and "count_tokens" not in self.path:
            self._stream(_anthropic(self.state, body), with_names=True)
        elif "/responses" in self.path:
            self._stream(_responses(self.state, body), with_names=True)
        elif "enerateContent" in self.path:
            self._gemini(body)
        elif "/chat/completions" in self.path:
            self._stream(_chat(self.state, body), with_names=False)
        else:
            self._answer(200, "application/json", b'{"input_tokens": 10, "totalTokens": 10}')

    def _gemini(self, body: Json) -> None:
        answer = _gemini(self.state, body)
        if "streamGenerateContent" in self.path:
            self._stream([answer], with_names=False)
        else:
            self._answer(200, "application/json", json.dumps(answer).encode())

    def _stream(self, events: list[Json], *, with_names: bool) -> None:
        lines = []
        for event in events:
            name = f"event: {event['type']}\n" if with_names else ""
            lines.append(f"{name}data: {json.dumps(event)}\n\n")
        self._answer(200, "text/event-stream", "".join(lines).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _tool_names(body: Json) -> list[str]:
    return [tool.get("name") or tool.get("function", {}).get("name", "") for tool in body.get("tools", [])]


def _said(api: ProgramApi) -> str:
    return "" if api.silent else api.said


def _anthropic(api: ProgramApi, body: Json) -> list[Json]:
    names = _tool_names(body)
    done = "tool_result" in json.dumps(body.get("messages", []))
    tool = "bash" if api.command else "write"
    write = next((name for name in names if name.lower() == tool), None)
    start = {
        "type": "message_start",
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": body.get("model", "m"),
            "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 40},
        },
    }  # fmt: skip
    if write and not done:
        where = "filePath" if write == "write" else "file_path"
        given = {where: api.path, "content": api.content}
        if api.command:
            given = {"command": api.command, "description": "does it"}
        block: Json = {"type": "tool_use", "id": "toolu_1", "name": write, "input": {}}
        delta: Json = {
            "type": "input_json_delta",
            "partial_json": json.dumps(given),
        }
        stop = "tool_use"
    else:
        block, stop = {"type": "text", "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": _said(api)}
    return [
        start,
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 20},
        },
        {"type": "message_stop"},
    ]


def _responses(api: ProgramApi, body: Json) -> list[Json]:
    done = "_output" in json.dumps([item.get("type", "") for item in body.get("input", []) if isinstance(item, dict)])
    names = _tool_names(body)
    script = api.command or f"printf %s '{api.content}' > {api.path}"
    item: Json
    if done or not names:
        text = {"type": "output_text", "text": _said(api), "annotations": []}
        item = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": [text]}
    elif api.patch:
        patch = f"*** Begin Patch\n*** Add File: {api.path}\n+{api.content.strip()}\n*** End Patch\n"
        item = {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_1", "name": "apply_patch", "input": patch}
    elif "exec_command" in names:
        item = _call("exec_command", {"cmd": script})
    elif "shell_command" in names:
        item = _call("shell_command", {"command": script})
    else:
        item = _call("shell", {"command": ["sh", "-c", script]})
    usage = {
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120,
    }  # fmt: skip
    response = {"id": "resp_1", "object": "response", "created_at": 1, "status": "in_progress", "output": []}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        },
    ]


def _call(name: str, arguments: Json) -> Json:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": name,
        "arguments": json.dumps(arguments),
    }


def _gemini(api: ProgramApi, body: Json) -> Json:
    contents = json.dumps(body.get("contents", []))
    part: Json
    if body.get("tools") and "functionResponse" not in contents:
        call: Json = {"name": "write_file", "args": {"file_path": api.path, "content": api.content}}
        if api.command:
            call = {"name": "run_shell_command", "args": {"command": api.command, "description": "does it"}}
        part = {"functionCall": call}
    else:
        part = {"text": _said(api)}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
        "modelVersion": "stand-in",
    }


def _chat(api: ProgramApi, body: Json) -> list[Json]:
    names = _tool_names(body)
    done = any(message.get("role") == "tool" for message in body.get("messages", []))
    delta: Json = {"role": "assistant", "content": _said(api)}
    stop = "stop"
    if "write" in names and not done:
        function = {"name": "write", "arguments": json.dumps({"filePath": api.path, "content": api.content})}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}],
        }
        stop = "tool_calls"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage},
    ]
