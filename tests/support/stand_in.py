"""Providers on this machine: servers that speak the streamed API of each, answer from a script and keep every request.

Used by the tests of the wire and by the figure for prompt caches. They check nothing; whoever uses them does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        value: Json = json.loads(self.body)
        return value


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of a model, as pieces of text and calls; or an error with a status."""

    text: tuple[str, ...] = ()
    calls: tuple[tuple[str, Json], ...] = ()
    thinking: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: Json | None = None
    pause: float = 0.0
    """Seconds before each event."""
    pause_from: int = 0
    """The first event that is waited for."""
    cut_after: int | None = None
    """Break the connection off after so many events."""
    finish: str = "stop"
    input_tokens: int = 100
    output_tokens: int = 20
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None


Speak = Callable[[Request, Reply, int], Iterable[str]]


class StandIn:
    """One server: `async with StandIn(anthropic, [Reply(…)]) as server: server.url`. The last reply is repeated."""

    def __init__(self, speak: Speak, replies: Iterable[Reply] | Callable[[Request, int], Reply]) -> None:
        self._speak = speak
        self._replies = replies if callable(replies) else list(replies)
        self.requests: list[Request] = []
        self.closed_early = 0
        self.url = ""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed_early += 1
        finally:
            writer.close()

    def _reply(self, request: Request) -> Reply:
        number = len(self.requests) - 1
        if callable(self._replies):
            return self._replies(request, number)
        return self._replies[min(number, len(self._replies) - 1)]

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        reply = self._reply(request)
        if reply.status != 200:
            body = json.dumps(reply.error or {"error": {"message": f"status {reply.status}"}}).encode()
            _head(
                writer,
                reply.status,
                {"content-type": "application/json", "content-length": str(len(body)), **reply.headers},
            )
            writer.write(body)
            await writer.drain()
            return True
        _head(writer, 200, {"content-type": "text/event-stream", "transfer-encoding": "chunked", **reply.headers})
        gone = asyncio.ensure_future(
            reader.read(1)
        )  # the client sends nothing while it listens: end of file is its leaving
        try:
            for sent, event in enumerate(self._speak(request, reply, len(self.requests))):
                if sent == reply.cut_after:
                    writer.transport.abort()
                    return False
                if reply.pause and sent >= reply.pause_from:
                    done, _ = await asyncio.wait({gone}, timeout=reply.pause)
                    if done:
                        raise ConnectionResetError
                chunk = event.encode()
                writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return False
        finally:
            gone.cancel()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode().rstrip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


def _head(writer: asyncio.StreamWriter, status: int, headers: dict[str, str]) -> None:
    connection = {"connection": "close"} if status == 200 else {}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in {**headers, **connection}.items())]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())


def anthropic(request: Request, reply: Reply, number: int) -> Iterable[str]:
    """The Messages API."""

    def event(kind: str, **data: object) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"

    usage = {
        "input_tokens": reply.input_tokens - reply.cache_read - reply.cache_write,
        "cache_read_input_tokens": reply.cache_read,
        "cache_creation_input_tokens": reply.cache_write,
        "output_tokens": 1,
    }
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.json["model"],
        "content": [],
    }
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    index = 0
    if reply.thinking:
        yield event(
            "content_block_start", index=index, content_block={"type": "thinking", "thinking": "", "signature": ""}
        )
        yield event("content_block_delta", index=index, delta={"type": "thinking_delta", "thinking": reply.thinking})
        yield event(
            "content_block_delta", index=index, delta={"type": "signature_delta", "signature": f"sig-{number}=="}
        )
        yield event("content_block_stop", index=index)
        index += 1
    if reply.text:
        yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for piece in reply.text:
            yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=index)
        index += 1
    for place, (name, arguments) in enumerate(reply.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": {}}
        yield event("content_block_start", index=index, content_block=block)
        yield event(
            "content_block_delta",
            index=index,
            delta={"type": "input_json_delta", "partial_json": json.dumps(arguments)},
        )
        yield event("content_block_stop", index=index)
        index += 1
    stop = (
        "tool_use"
        if reply.calls
        else {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[reply.finish]
    )
    yield event(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={**usage, "output_tokens": reply.output_tokens},
    )
    yield event("message_stop")


def chat(request: Request, reply: Reply, number: int) -> Iterable[str]:
    """Chat completions: OpenAI, OpenRouter, Ollama and everybody like them."""

    def chunk(delta: Json | None, finish: str | None = None, **more: object) -> str:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        body = {"id": f"c{number}", "object": "chat.completion.chunk", "created": 1, "model": request.json["model"]}
        return f"data: {json.dumps({**body, 'choices': choices, **more})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    for piece in reply.text:
        yield chunk({"content": piece})
    for place, (name, arguments) in enumerate(reply.calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        yield chunk(
            {"tool_calls": [{"index": place, "id": f"call_{number}_{place}", "type": "function", "function": function}]}
        )
    yield chunk({}, "tool_calls" if reply.calls else reply.finish)
    usage: Json = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cache_read},
    }
    if reply.cost is not None:
        usage["cost"] = reply.cost
    yield chunk(None, usage=usage)
    yield "data: [DONE]\n\n"


def openrouter(request: Request, reply: Reply, number: int) -> Iterable[str]:
    """Chat completions with the fields that OpenRouter adds."""
    for event in chat(request, reply, number):
        if event.startswith("data: {"):
            body = json.loads(event[6:])
            body["provider"] = "Somebody"
            for choice in body["choices"]:
                choice["native_finish_reason"] = choice["finish_reason"]
            yield f"data: {json.dumps(body)}\n\n"
        else:
            yield event


def responses(request: Request, reply: Reply, number: int) -> Iterable[str]:
    """OpenAI's Responses API."""
    count = 0

    def event(kind: str, **data: object) -> str:
        nonlocal count
        count += 1
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': count, **data})}\n\n"

    whole: Json = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": request.json["model"],
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    yield event("response.created", response=whole)
    output: list[Json] = []
    if reply.thinking:
        item: Json = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"enc-{number}=="}
        yield event("response.output_item.added", output_index=len(output), item=item)
        yield event("response.output_item.done", output_index=len(output), item=item)
        output.append(item)
    if reply.text:
        place = {"item_id": f"msg_{number}", "output_index": len(output), "content_index": 0}
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "in_progress", "content": []}
        yield event("response.output_item.added", output_index=len(output), item=item)
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.content_part.added", **place, part=part)
        for piece in reply.text:
            yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
        done = {**part, "text": "".join(reply.text)}
        yield event("response.output_text.done", **place, text=done["text"], logprobs=[])
        yield event("response.content_part.done", **place, part=done)
        item = {**item, "status": "completed", "content": [done]}
        yield event("response.output_item.done", output_index=len(output), item=item)
        output.append(item)
    for at, (name, arguments) in enumerate(reply.calls):
        ids = {"id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}"}
        text = json.dumps(arguments)
        item = {"type": "function_call", **ids, "name": name, "arguments": "", "status": "in_progress"}
        index = len(output)
        yield event("response.output_item.added", output_index=index, item=item)
        yield event("response.function_call_arguments.delta", item_id=ids["id"], output_index=index, delta=text)
        yield event(
            "response.function_call_arguments.done", item_id=ids["id"], output_index=index, name=name, arguments=text
        )
        item = {**item, "arguments": text, "status": "completed"}
        yield event("response.output_item.done", output_index=index, item=item)
        output.append(item)
    usage = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": reply.cache_read},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    yield event("response.completed", response={**whole, "status": "completed", "output": output, "usage": usage})


def google(_request: Request, reply: Reply, number: int) -> Iterable[str]:
    """`streamGenerateContent` of the Gemini API."""

    def chunk(parts: list[Json], finish: str | None = None) -> str:
        candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        usage = {
            "promptTokenCount": reply.input_tokens,
            "candidatesTokenCount": reply.output_tokens,
            "cachedContentTokenCount": reply.cache_read,
            "totalTokenCount": reply.input_tokens + reply.output_tokens,
        }
        body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": f"r{number}"}
        return f"data: {json.dumps(body)}\r\n\r\n"

    for piece in reply.text:
        yield chunk([{"text": piece}])
    signed = {"thoughtSignature": "c2lnbmF0dXJl"} if reply.thinking else {}
    calls: list[Json] = [
        {"functionCall": {"name": name, "args": arguments}, **signed} for name, arguments in reply.calls
    ]
    yield chunk(
        calls or [{"text": ""}], {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[reply.finish]
    )
