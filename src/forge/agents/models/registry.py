"""From a name to a model, and from a role to a name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from forge.agents import pricing
from forge.agents.errors import ModelUnknown
from forge.agents.model import Model
from forge.agents.models import local_ollama
from forge.agents.models.api import ApiModel
from forge.agents.models.endpoint import BASE_URLS, Endpoint
from forge.agents.models.keyless import check_key, key_missing
from forge.agents.models.names import BUILTIN, RECORDED, default_model, known_providers, split_name
from forge.agents.pricing import Price
from forge.settings import Key, Settings, find_key
from forge.settings.keys import VARIABLES
from forge.settings.values import PROVIDERS, Network

_WITH_KEY = ("anthropic", "openai", "openrouter", "google")


@dataclass(frozen=True, slots=True)
class Availability:
    """A provider as `forge models` shows it."""

    provider: str
    usable: bool
    how: str
    """Where its key comes from, or what is missing. Never the key."""
    model: str | None
    """The full name of the model that is taken by itself."""
    price: Price | None = None


def resolve(name: str, settings: Settings) -> Model:
    """The model called `name`. Nothing is sent and no provider's library is loaded before it is asked something."""
    provider, model = split_name(name, settings)
    if provider == BUILTIN:
        from forge.agents.builtin import BuiltinEngine  # noqa: PLC0415

        return BuiltinEngine()
    if provider == RECORDED:
        from forge.agents.recorded import RecordedModel  # noqa: PLC0415

        return RecordedModel.named(model)
    return ApiModel(endpoint(provider, model, settings))


def endpoint(provider: str, model: str, settings: Settings) -> Endpoint:
    chosen = settings.provider(provider)
    base_url = chosen.base_url or BASE_URLS.get(provider)
    if base_url is None:
        raise ModelUnknown(
            f"There is no address for {provider}.", hint=f"Set providers.{provider}.base_url in the settings file."
        )
    if provider == "ollama":
        base_url = local_ollama.api_address(base_url)
    key = find_key(provider, settings)
    if key is None and provider in _WITH_KEY:
        raise key_missing(provider)
    if key is not None:
        check_key(provider, key)
    official = base_url == BASE_URLS["openai"]
    return Endpoint(
        provider=provider,
        model=model,
        base_url=base_url,
        key=key,
        network=_patience(settings),
        output_tokens=settings.limits.output_tokens,
        context_window=chosen.context_window,
        responses_api=provider == "openai" and (chosen.api == "responses" or (chosen.api == "auto" and official)),
    )


def _patience(settings: Settings) -> Network:
    """A call without any progress is given up after the time for calls, too."""
    network, most = settings.network, settings.agents.call_timeout_seconds
    return network if network.idle_seconds <= most else network.model_copy(update={"idle_seconds": most})


def choose(role: str, settings: Settings, found_programs: Collection[str] = ()) -> str:
    """Who answers for `role`: as set, else the first provider with a key, else Ollama, else the built-in engine."""
    named = settings.models.named(role)
    if named is not None:
        if named not in found_programs and named not in settings.agents:
            split_name(named, settings)
        return named
    for provider in _WITH_KEY:
        if find_key(provider, settings) is not None:
            return f"{provider}:{default_model(provider, settings)}"
    for provider in settings.providers:
        if provider not in PROVIDERS and default_model(provider, settings):
            return f"{provider}:{default_model(provider, settings)}"
    local = _ollama_model(settings)
    return f"ollama:{local}" if local else BUILTIN


def available(settings: Settings) -> tuple[Availability, ...]:
    """Every provider, whether it can be used now, and how."""
    listed = [_api_availability(p, settings) for p in known_providers(settings) if p not in {"ollama", RECORDED}]
    local = _ollama_model(settings)
    how = "answers" if local else "does not answer, or has no model"
    listed.append(
        Availability(
            "ollama", local is not None, f"{urlsplit(_ollama_address(settings)).hostname} {how}", _name("ollama", local)
        )
    )
    listed.append(Availability(BUILTIN, usable=True, how="always there: rules, not a model", model=BUILTIN))
    return tuple(listed)


def _api_availability(provider: str, settings: Settings) -> Availability:
    key = find_key(provider, settings)
    model = default_model(provider, settings)
    reachable = provider in BASE_URLS or settings.provider(provider).base_url is not None
    usable = reachable and (key is not None or provider not in _WITH_KEY)
    price = pricing.price(provider, model) if model else None
    return Availability(provider, usable, _how(provider, key, reachable=reachable), _name(provider, model), price)


def _how(provider: str, key: Key | None, *, reachable: bool) -> str:
    if not reachable:
        return f"needs providers.{provider}.base_url"
    if key is not None:
        return f"key from {key.origin}"
    return f"no key: set {VARIABLES[provider][0]}" if provider in _WITH_KEY else "no key needed"


def _name(provider: str, model: str | None) -> str | None:
    return f"{provider}:{model}" if model else None


def _ollama_address(settings: Settings) -> str:
    return settings.provider("ollama").base_url or BASE_URLS["ollama"]


def _ollama_model(settings: Settings) -> str | None:
    models = local_ollama.models(_ollama_address(settings))
    wanted = settings.provider("ollama").model
    return wanted if models and wanted else next(iter(models), None)
