"""Checks of who can answer: providers and their keys, a local Ollama, agent programs."""

from __future__ import annotations

import http
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from forge.agents.errors import ProgramMissing
from forge.agents.models import local_ollama
from forge.agents.models.endpoint import BASE_URLS
from forge.agents.programs import Program, find_program
from forge.app.admin.agent_programs import programs
from forge.app.admin.checks import Check, Place, failed, ok, some, warning
from forge.settings import find_key
from forge.settings.values import PROVIDERS

_PATIENCE = 5.0


def providers(place: Place) -> Check:
    """Where keys come from, never what they are. Only with `online` is anybody asked."""
    settings = place.settings
    names = [name for name in (*PROVIDERS, *settings.providers) if name != "ollama"]
    found = {name: key.origin for name in dict.fromkeys(names) if (key := find_key(name, settings)) is not None}
    keyless = [name for name in settings.providers if name not in found and name != "ollama"]
    if not found and not keyless:
        return ok("providers", "No key; the built-in engine answers unless something else is found.")
    told = [*(f"{name}: key from {origin}" for name, origin in found.items()), *(f"{n}: no key" for n in keyless)]
    if place.online:
        refused = _unreachable(place, [*found, *keyless])
        if refused:
            return failed("providers", "; ".join(refused), "Check the network, a proxy, and the addresses.")
        told.append("all answer")
    return ok("providers", "; ".join(told))


def _unreachable(place: Place, names: list[str]) -> list[str]:
    addresses = {name: place.settings.provider(name).base_url or BASE_URLS.get(name) for name in names}
    with ThreadPoolExecutor(len(addresses)) as pool:
        told = pool.map(_trouble, [address or "" for address in addresses.values()])
        return [f"{name} at {_host(addresses[name])} {why}" for name, why in zip(addresses, told, strict=True) if why]


def _host(address: str | None) -> str:
    return urlsplit(address or "").netloc.rpartition("@")[2] or "no address"


def _trouble(address: str) -> str:
    """Why it cannot be reached. Any answer will do, for nothing is asked with a key."""
    import httpx2  # noqa: PLC0415 - loaded only when somebody is asked

    if not address:
        return "has no address"
    try:
        with httpx2.Client(timeout=_PATIENCE) as client:
            status = client.get(address).status_code
    except httpx2.TimeoutException:
        return f"did not answer within {_PATIENCE:g} s"
    except (httpx2.HTTPError, httpx2.InvalidURL) as e:
        return f"does not answer: {type(e).__name__}"
    return f"answers {status}" if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR else ""


def ollama(place: Place) -> Check:
    chosen = place.settings.provider("ollama").base_url
    address = chosen or BASE_URLS["ollama"]
    models = local_ollama.models(address)
    if models:
        return ok("ollama", f"{_host(address)} has {some(models)}")
    if chosen and place.settings.origin("providers.ollama.base_url") != "default":
        hint = "Start it (`ollama serve`), pull a model (`ollama pull …`), or correct its address."
        return warning("ollama", f"{_host(address)} does not answer, or has no model.", hint)
    return ok("ollama", "None on this machine.")


def agents(place: Place) -> Check:
    """Agent programs that are installed, with their versions."""
    known = list(programs(place.settings).values())
    path = place.environ.get("PATH", "")
    with ThreadPoolExecutor(4) as pool:
        found = [each for each in pool.map(lambda program: _version(program, path), known) if each]
    return ok("agents", ", ".join(found) or "No agent program was found (claude, codex, gemini, opencode).")


def _version(program: Program, path: str) -> str:
    try:
        return f"{program.name} {find_program(program, path).version}".strip()
    except ProgramMissing:
        return ""
