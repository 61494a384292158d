"""What tokens cost, from a price list that is part of the installation. An unknown price is None, never zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forge.sessions.messages import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


def priced(usage: Usage, provider: str, model: str, *, told: float | None = None) -> Usage:
    """`usage` with its cost: what the provider itself says, else what the price list says."""
    if told is not None:
        return replace(usage, cost=float(told))
    from genai_prices import Usage as Tokens  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        # Counts that contradict each other cannot be priced either.
        return replace(usage, cost=float(calc_price(tokens, model, provider_id=provider).total_price))
    except (LookupError, ValueError):
        return usage


def price(provider: str, model: str) -> Price | None:
    known = _known(provider, model)
    if known is None:
        return None
    from genai_prices import Usage as Tokens  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    try:
        found = calc_price(Tokens(input_tokens=1_000, output_tokens=1_000), model, provider_id=provider)
    except (LookupError, ValueError):
        return None
    return Price(float(found.input_price) * 1_000, float(found.output_price) * 1_000)


def context_window(provider: str, model: str) -> int | None:
    known = _known(provider, model)
    return known.context_window if known is not None else None


def known_models(provider: str) -> tuple[str, ...]:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    return tuple(m.id for p in get_snapshot().providers if p.id == provider for m in p.models)


def _known(provider: str, model: str) -> ModelInfo | None:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    try:
        _, found = get_snapshot().find_provider_model(model, provider=None, provider_id=provider, provider_api_url=None)
    except LookupError:
        return None
    return found
