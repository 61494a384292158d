"""What goes wrong with a provider, classified: what is worth another try, and what a person reads in the end."""

from __future__ import annotations

import httpx2
from pydantic_ai import exceptions as library

from forge.agents.errors import KeyMissing, ModelFailed, ModelOverloaded, ModelUnknown, PromptTooLong
from forge.agents.models.endpoint import Endpoint
from forge.agents.models.keyless import key_missing
from forge.agents.relay.http_client import NotJournaled
from forge.counts import counted
from forge.errors import ForgeError
from forge.settings import RetryKind


class CutOff(Exception):
    """The stream ended before the provider said that the answer is whole."""


class Senseless(Exception):
    """An answer without text and without calls."""


class FilteredAnswer(Exception):
    """The provider's filter stopped the answer."""


TRANSLATED = (
    library.AgentRunError,
    library.UserError,
    httpx2.HTTPError,
    TimeoutError,
    CutOff,
    Senseless,
    FilteredAnswer,
)
_UNSENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    NotJournaled,
    library.UserError,
)
_CAUSES = 8


def kind_of(error: Exception) -> RetryKind | None:
    """What kind of trouble it is, where the same request may succeed a little later; None where it would not."""
    match error:
        case library.ModelRateLimitError():
            return "rate_limit"
        case library.ModelUnavailableError():
            return "overloaded"
        case library.ModelServerError():
            return "server_error"
        case library.ModelTimeoutError() | TimeoutError() | httpx2.TimeoutException():
            return "timeout"
        case library.ModelConnectionError() | httpx2.TransportError():
            return "network"
        case CutOff():
            return "cut_off"
        case library.ContentFilterError():
            return None
        case Senseless() | library.UnexpectedModelBehavior():
            return "empty"
    return None


def was_sent(error: BaseException) -> bool:
    """Whether the request reached the provider, as far as the error tells."""
    cause: BaseException | None = error
    for _ in range(_CAUSES):
        if cause is None:
            break
        if isinstance(cause, _UNSENT):
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def is_rejected(error: Exception) -> bool:
    """Whether the provider understood the request and does not take it as it is."""
    known = (library.ModelAuthenticationError, library.ModelNotFoundError, library.ModelContextWindowExceededError)
    return isinstance(error, library.ModelRequestRejectedError) and not isinstance(error, known)


def asked_wait(error: Exception) -> float | None:
    return error.retry_after if isinstance(error, library.ModelAPIError) else None


def translated(error: Exception, endpoint: Endpoint) -> ForgeError:
    """One sentence for a person, without the key, whatever the provider quoted."""
    who = endpoint.provider
    said = endpoint.without_key(_said(error))
    match error:
        case library.ModelAuthenticationError():
            return key_refused(endpoint)
        case library.ModelRequestRejectedError() if "API_KEY_INVALID" in said or "API key not valid" in said:
            return key_refused(endpoint)
        case library.ModelContextWindowExceededError():
            return PromptTooLong(
                f"The conversation is too long for {endpoint.name}.",
                hint="Take files out of the context, or choose a model with a larger window.",
            )
        case library.ModelNotFoundError():
            near = getattr(error, "suggested_model_id", None)
            hint = f"Did you mean `{who}:{near}`?" if near else "`forge models` lists what is known here."
            return ModelUnknown(f"{who} does not know the model `{endpoint.model}`.", hint=hint)
        case library.ModelQuotaExceededError():
            return ModelFailed(f"The account at {who} has no credit left: {said}", hint="Top it up, or choose another.")
        case library.ModelRateLimitError() | library.ModelUnavailableError():
            return ModelOverloaded(f"{who} is overloaded or limits requests: {said}", hint=_wait_hint(error))
        case library.ModelTimeoutError() | TimeoutError() | httpx2.TimeoutException():
            return ModelFailed(
                f"{endpoint.name} at {endpoint.host} did not answer in time.",
                hint="`network` in the settings says how long to wait.",
            )
        case library.ModelConnectionError() | httpx2.TransportError():
            return ModelFailed(
                f"The connection to {who} at {endpoint.host} failed or broke off: {said}",
                hint="Check the network and the address, then ask again.",
            )
        case CutOff():
            return ModelFailed(
                f"{endpoint.name} broke off in the middle of its answer, again and again.",
                hint="Ask again later, or choose another model.",
            )
        case Senseless():
            empty = ModelFailed(
                f"{endpoint.name} gave an empty answer, twice.", hint="Ask again, or choose another model."
            )
            empty.asked_again = True
            return empty
        case library.ContentFilterError() | FilteredAnswer():
            return ModelFailed(f"{who} refused to answer: its content filter stopped it.")
    status = getattr(error, "status_code", None)
    failed = f"failed with status {status}" if status else "failed"
    return ModelFailed(f"{endpoint.name} {failed}: {said}", hint="Ask again later, or choose another model.")


def key_refused(endpoint: Endpoint) -> KeyMissing:
    if endpoint.key is None:
        return key_missing(endpoint.provider)
    return KeyMissing(
        f"{endpoint.provider} refuses the key from {endpoint.key.origin}.",
        hint="Check that it is whole, not expired, and may use this model.",
    )


def _wait_hint(error: Exception) -> str:
    wait = asked_wait(error)
    return (
        f"It asks to come back in {counted(round(wait), 'second')}."
        if wait
        else "Try again in a while, or choose another model."
    )


def _said(error: Exception) -> str:
    """The provider's own sentence out of whatever it is wrapped in."""
    body = getattr(error, "body", None)
    for _ in range(3):
        if isinstance(body, list) and body:
            body = body[0]
        if isinstance(body, dict):
            body = body.get("error") or body.get("message") or body.get("detail") or body
    text = body if isinstance(body, str) else str(body) if body else str(error)
    said = " ".join(text.split())[:400] or type(error).__name__
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."
