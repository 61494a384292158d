"""Models that talk to stand-ins of their providers, and prompts to ask them with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forge.agents.model import Prompt
from forge.agents.models.api import ApiModel
from forge.agents.models.endpoint import Endpoint
from forge.sessions.messages import Message, UserMessage
from forge.settings import Key, Network
from forge.tools.tool import ToolSchema
from tests.support.stand_in import Reply, Speak, StandIn, anthropic, chat, google, openrouter, responses

KEY = "sk-test-secret-0123456789"
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ = ToolSchema("read_file", "Read a file.", PATH)
DELETE = ToolSchema("delete_file", "Delete a file.", PATH)
CALL = ("read_file", {"path": "a.txt"})

SPEAKS: dict[str, Speak] = {
    "anthropic": anthropic,
    "openai": chat,
    "responses": responses,
    "openrouter": openrouter,
    "ollama": chat,
    "google": google,
    "workshop": chat,
}
MODELS = {
    "anthropic": "claude-sonnet-5",
    "openai": "gpt-5.4",
    "responses": "gpt-5.4",
    "openrouter": "anthropic/claude-sonnet-5",
    "ollama": "qwen3",
    "google": "gemini-3.5-flash",
    "workshop": "any",
}
EVERY = tuple(SPEAKS)


def stand_in(kind: str, *replies: Reply) -> StandIn:
    return StandIn(SPEAKS[kind], replies)


def model_at(server: StandIn, kind: str, **options: Any) -> ApiModel:
    path = {"anthropic": "", "google": ""}.get(kind, "/v1")
    endpoint = Endpoint(
        provider="openai" if kind == "responses" else kind,
        model=MODELS[kind],
        base_url=server.url + path,
        key=Key(KEY, "variable SOME_KEY"),
        network=Network(connect_seconds=2, idle_seconds=5, retry_seconds=5),
        responses_api=kind == "responses",
        first_wait=0.01,
    )
    return ApiModel(replace(endpoint, **options))


def prompt(
    *messages: Message, system: str = "You work on a branch.", tools: tuple[ToolSchema, ...] = (READ, DELETE)
) -> Prompt:
    return Prompt(system, tools, messages or (UserMessage("What is in a.txt?"),))


class Listener:
    """Hears text and takes a restart."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.restarts = 0

    def __call__(self, text: str) -> None:
        self.pieces.append(text)

    def restart(self) -> None:
        self.pieces.clear()
        self.restarts += 1
