"""Names of models as people write them: `provider:model`, `builtin`, `recorded:<name>`."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from forge.agents.errors import ModelUnknown
from forge.settings import Settings
from forge.settings.values import PROVIDERS

BUILTIN = "builtin"
RECORDED = "recorded"

# Good at agent work for a moderate price. A setting overrides each.
DEFAULT_MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-terra",
    "openrouter": "anthropic/claude-sonnet-5.5",
    "google": "gemini-3.8-flash",
}


def split_name(name: str, settings: Settings) -> tuple[str, str]:
    """Provider and model of `name`; refuses providers that do not exist, with the nearest name."""
    provider, colon, model = name.strip().partition(":")
    known = known_providers(settings)
    if provider == BUILTIN and not colon:
        return BUILTIN, ""
    if provider in known and not model:
        default = default_model(provider, settings)
        hint = f"For example `{provider}:{default}`." if default else f"Write `{provider}:<model>`."
        raise ModelUnknown(f"`{name}` names no model of {provider}.", hint=hint)
    if provider not in known or not colon:
        raise ModelUnknown(f"There is no model `{name}`.", hint=_near_hint(name, provider, known, settings))
    if provider == "openrouter" and "/" not in model:
        raise ModelUnknown(f"`{name}` lacks the maker of the model.", hint=f"Write `openrouter:<maker>/{model}`.")
    return provider, model


def recording_in(name: str) -> str | None:
    """Which recording `name` means, read as `split_name` reads it; None where it means none."""
    provider, _, recording = name.strip().partition(":")
    return recording if provider == RECORDED else None


def known_providers(settings: Settings) -> tuple[str, ...]:
    own = [name for name in settings.providers if name not in PROVIDERS]
    return (*PROVIDERS, *own, RECORDED)


def default_model(provider: str, settings: Settings) -> str | None:
    return settings.provider(provider).model or DEFAULT_MODELS.get(provider)


def _near_hint(name: str, provider: str, known: Iterable[str], settings: Settings) -> str:
    near = process.extractOne(provider, [*known, BUILTIN], score_cutoff=70)
    if near is not None and near[0] != provider:
        rest = name.partition(":")[2] or default_model(near[0], settings) or "<model>"
        return f"Did you mean `{near[0] if near[0] == BUILTIN else f'{near[0]}:{rest}'}`?"
    bare = _near_model(name)
    if bare is not None:
        return f"Did you mean `{bare}`?"
    return f"Names look like `anthropic:{DEFAULT_MODELS['anthropic']}`; providers are {', '.join(known)}."


def _near_model(name: str) -> str | None:
    """For a model's name without its provider."""
    from forge.agents.pricing import known_models  # noqa: PLC0415 - reads the whole price list

    models = {model: provider for provider in ("openai", "google", "anthropic") for model in known_models(provider)}
    near = process.extractOne(name, list(models), scorer=fuzz.ratio, score_cutoff=80)
    return f"{models[near[0]]}:{near[0]}" if near else None
