"""What opening a conversation costs: the first request of one, in repositories of several sizes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.prompts import common
from benchmarks.timing import Figure
from forge.context.overview import tokens_of
from forge.git import Repository
from tests.support.sample_repositories import World
from tests.support.stand_in import Reply, Request, StandIn, anthropic

_SIZES = ("1k", "10k", "20k", "100k")
_BYTES_PER_TOKEN = 3.0
"""Of a whole request as JSON: 3.4 to 3.9 were measured with the tokenizers of Claude 2, GPT-4 and DeepSeek."""
_MODEL = "anthropic:claude-sonnet-5-5"


def first_requests(root: Path) -> Iterator[Figure]:
    """The first request by the size of the repository, and how much of it the next process sends again."""
    for size in _SIZES:
        bodies, overview = asyncio.run(_asked_twice(World(root, size)))
        name = f"{size} files"
        yield Figure(
            "first request of a conversation", name, len(bodies[0]) / _BYTES_PER_TOKEN, "tokens", at_most=12_000
        )
        yield Figure("of it, the overview of files", name, tokens_of(overview), "tokens", at_most=6_000)
        shared = 100 * common(*bodies) / len(bodies[0])
        yield Figure("of it, sent again by the second turn in a new process", name, shared, "%", at_least=97)


async def _asked_twice(world: World) -> tuple[list[bytes], str]:
    """A turn in each of two processes' places: nothing but the repository and the database is shared."""
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415
    from forge.app.sessions.messages import end_of, send_message  # noqa: PLC0415 - loads the engine
    from forge.settings import load  # noqa: PLC0415

    world.git("branch", "ai/first", "main")
    async with StandIn(anthropic, lambda _, __: Reply(text=("It is done.",))) as server:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(world.scratch),
            "ANTHROPIC_API_KEY": "sk-ant-stand-in",
            "ANTHROPIC_BASE_URL": server.url,
            "FORGE_DATA_DIR": str(world.scratch / "data"),
        }
        for wish in ("Add a field to the invoice table.", "And a test for it."):
            async with open_workshop(load(environ), environ) as shop:
                sent = await send_message(shop, Repository.open(world.path), "ai/first", wish, model=_MODEL)
                end = await end_of(shop, sent.run)
                assert end.status == "done", end.reason
    requests = [request for request in server.requests if b"messages" in request.body]
    return [request.body for request in requests], _overview(requests[0])


def _overview(request: Request) -> str:
    said = [block for message in request.json["messages"] for block in message["content"]]
    return next(block["text"] for block in said if "of the branch" in block["text"].partition("\n")[0])
