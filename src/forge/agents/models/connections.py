"""Connections to providers. Each provider's library is imported only when one of its models is first asked."""

from __future__ import annotations

import json
import ssl
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import httpx2
import pydantic_ai
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

import forge
from forge.agents.errors import ModelUnknown
from forge.agents.models.endpoint import BASE_URLS, Endpoint
from forge.agents.relay.http_client import JournaledClient

pydantic_ai.BANNER_ENABLED = False

_GROWING = ("messages", "input", "contents")
NO_KEY = "none"
"""For servers that ask for no key, where the library insists on one."""


@dataclass(frozen=True, slots=True)
class Connection:
    model: Model[Any]
    settings: ModelSettings
    client: httpx2.AsyncClient
    takes_cache_key: bool = False
    """Whether a name for the conversation helps the provider to find its cache."""


def connect(endpoint: Endpoint) -> Connection:
    client = http_client(endpoint)
    makers: dict[str, Callable[[Endpoint, httpx2.AsyncClient], Connection]] = {
        "anthropic": _anthropic,
        "openrouter": _openrouter,
        "google": _google,
        "ollama": _ollama,
    }
    try:
        return makers.get(endpoint.provider, _openai)(endpoint, client)
    except UserError as e:
        raise ModelUnknown(f"`{endpoint.name}` cannot be used: {endpoint.without_key(str(e))}") from None


def http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    network = endpoint.network
    timeout = httpx2.Timeout(network.idle_seconds, connect=network.connect_seconds, pool=network.connect_seconds)

    async def prepare(request: httpx2.Request) -> None:
        # Libraries of providers send their own timeouts and a description of the machine with each request.
        request.extensions = {**request.extensions, "timeout": timeout.as_dict()}
        for name in [name for name in request.headers if name.startswith(("x-stainless-", "x-goog-api-client"))]:
            del request.headers[name]
        request.headers["user-agent"] = f"forge/{forge.__version__}"
        _conversation_last(request)

    # A proxy of the environment is for the outside world; a server on this machine is asked directly.
    outside = not endpoint.is_on_this_machine
    return JournaledClient(
        timeout=timeout, trust_env=outside, verify=_trusted(trust_env=outside), event_hooks={"request": [prepare]}
    )


@cache
def _trusted(*, trust_env: bool) -> ssl.SSLContext:
    """Whom to believe. Read once for all connections: it takes 25 ms and most of a megabyte."""
    return httpx2.create_ssl_context(trust_env=trust_env)


def _conversation_last(request: httpx2.Request) -> None:
    """Put the growing part of a body behind the standing one: each request then begins with the one before it."""
    if request.headers.get("content-type") != "application/json":
        return
    body = json.loads(request.content)
    growing = {key: body.pop(key) for key in _GROWING if key in body}
    content = json.dumps({**dict(sorted(body.items())), **growing}, ensure_ascii=False, separators=(",", ":")).encode()
    request.stream = httpx2.ByteStream(content)
    request.headers["content-length"] = str(len(content))


def _settings(endpoint: Endpoint, **more: object) -> ModelSettings:
    chosen: dict[str, object] = {"max_retries": 0, **more}  # retrying is ours: it honours one budget of time
    if endpoint.output_tokens is not None:
        chosen["max_tokens"] = endpoint.output_tokens
    return cast("ModelSettings", chosen)


def _key(endpoint: Endpoint) -> str:
    return endpoint.key.value if endpoint.key else NO_KEY


def _anthropic(endpoint: Endpoint, client: httpx2.AsyncClient) -> Connection:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    if endpoint.base_url != BASE_URLS["anthropic"]:
        client.headers["x-api-key"] = _key(endpoint)  # gateways before Anthropic may know only the older header
    provider = AnthropicProvider(api_key=_key(endpoint), base_url=endpoint.base_url, http_client=client)
    # Marks the last tool, the system text and, moving along, the latest message.
    return Connection(AnthropicModel(endpoint.model, provider=provider), _settings(endpoint, cache=True), client)


def _openai_client(endpoint: Endpoint, client: httpx2.AsyncClient) -> Any:
    from openai import AsyncOpenAI  # noqa: PLC0415

    return AsyncOpenAI(api_key=_key(endpoint), base_url=endpoint.base_url, http_client=client, max_retries=0)


def _openai(endpoint: Endpoint, client: httpx2.AsyncClient) -> Connection:
    """OpenAI itself and every server that speaks like it."""
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    provider = OpenAIProvider(openai_client=_openai_client(endpoint, client))
    own = endpoint.provider == "openai"
    if endpoint.responses_api:
        model: Model[Any] = OpenAIResponsesModel(endpoint.model, provider=provider)
        return Connection(model, _settings(endpoint, openai_store=False), client, takes_cache_key=True)
    return Connection(
        OpenAIChatModel(endpoint.model, provider=provider), _settings(endpoint), client, takes_cache_key=own
    )


def _openrouter(endpoint: Endpoint, client: httpx2.AsyncClient) -> Connection:
    from pydantic_ai.models.openrouter import OpenRouterModel  # noqa: PLC0415
    from pydantic_ai.providers.openrouter import OpenRouterProvider  # noqa: PLC0415

    provider = OpenRouterProvider(openai_client=_openai_client(endpoint, client))
    settings = _settings(endpoint, cache=True, openrouter_usage={"include": True})
    return Connection(OpenRouterModel(endpoint.model, provider=provider), settings, client)


def _google(endpoint: Endpoint, client: httpx2.AsyncClient) -> Connection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's source warns when Python compiles it for the first time
        from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
        from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    provider = GoogleProvider(api_key=_key(endpoint), base_url=endpoint.base_url, http_client=client)
    settings = _settings(endpoint)
    settings.pop("max_retries")  # this library does not retry unless told to
    return Connection(GoogleModel(endpoint.model, provider=provider), settings, client)


def _ollama(endpoint: Endpoint, client: httpx2.AsyncClient) -> Connection:
    from pydantic_ai.models.ollama import OllamaModel  # noqa: PLC0415
    from pydantic_ai.providers.ollama import OllamaProvider  # noqa: PLC0415

    provider = OllamaProvider(openai_client=_openai_client(endpoint, client))
    return Connection(OllamaModel(endpoint.model, provider=provider), _settings(endpoint), client)
