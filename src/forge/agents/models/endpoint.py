"""Where one model is to be reached and how: everything a connection needs, as a value."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from forge.settings import Key, Network

BASE_URLS = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": "http://localhost:11434/v1",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    provider: str
    """As the person wrote it: one of the known providers, or the name of an endpoint of their own."""
    model: str
    base_url: str
    key: Key | None = None
    network: Network = field(default_factory=Network)
    output_tokens: int | None = None
    context_window: int | None = None
    responses_api: bool = False
    first_wait: float = 1.0
    """Seconds before the first retry; later ones wait longer."""

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or self.base_url

    @property
    def is_on_this_machine(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def without_key(self, text: str) -> str:
        """Providers like to quote the key that they refuse."""
        return text.replace(self.key.value, "[key]") if self.key and self.key.value else text
