"""Secrets never enter a conversation: what looks like one is replaced before it is sent, shown or written.

The same text always gives the same result, and a result is not changed by a second pass, so a stored conversation
is byte for byte what was sent.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

MARK = "[redacted:"

# Each name goes into the mark, so that a reader knows what stood there.
_SHAPES = {
    "private-key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]{0,20000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\n]*)",
    "anthropic-key": r"\bsk-ant-[A-Za-z0-9_-]{16,}",
    "openrouter-key": r"\bsk-or-(?:v\d-)?[A-Za-z0-9_-]{16,}",
    "openai-key": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    "google-key": r"\bAIza[0-9A-Za-z_-]{35}",
    "google-token": r"\bya29\.[0-9A-Za-z_-]{20,}",
    "forge-key": r"\bfk_[A-Za-z0-9_-]{40,}",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab-token": r"\bgl(?:pat|dt|rt|ptt|oas)-[A-Za-z0-9_-]{18,}",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    "aws-key": r"\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}\b",
    "stripe-key": r"\b[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "npm-token": r"\bnpm_[A-Za-z0-9]{30,}",
    "pypi-token": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "huggingface-token": r"\bhf_[A-Za-z0-9]{30,}",
    "telegram-token": r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
}
_KNOWN = re.compile("|".join(f"(?P<{name.replace('-', '_')}>{shape})" for name, shape in _SHAPES.items()))
_URL_PASSWORD = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]*://[^\s:/@\[\]]*:)(?P<secret>[^\s/@\[\]]{3,})(?=@)", re.I)
_BEARER = re.compile(r"(?P<before>\b(?:bearer|basic)\s+)(?P<secret>[A-Za-z0-9+/_.~=-]{16,})", re.I)
_ASSIGNED = re.compile(
    r"(?P<before>\b[\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"credentials?)[\w.-]*[\"']?\s*(?:=>|:=|[=:])\s*)"
    r"(?P<quote>[\"']?)(?P<secret>[^\s\"'`,;(){}<>\[\]]{8,})(?P=quote)",
    re.I,
)
_SHORTEST = 8
_LONG = 32
_WORD = re.compile(rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{{{_LONG},}}")
# Each of the shapes above holds one of these. Most text holds none, and looking for them is far cheaper.
_HINTS = (
    *("-----BEGIN ", "sk-", "AIza", "ya29.", "fk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *("gldt-", "glrt-", "glptt-", "gloas-", "xox", "hooks.slack.com/", "AKIA", "ASIA", "AROA", "AIDA", "k_live_"),
    *("k_test_", "npm_", "pypi-", "hf_", ":AA", "eyJ"),
)
_ANNOUNCED = ("bearer", "basic")
_NAMES = ("passw", "passphrase", "secret", "token", "key", "credential")
_HASH = re.compile(r"(?:sha(?:1|224|256|384|512)-|[0-9a-fA-F-]+$)")
_ENTROPY = 4.3
_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))


class Redactor:
    """Knows what secrets look like, and the ones that this very process uses."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._secrets: set[str] = set()
        self._own: re.Pattern[str] | None = None
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Know these as well, from now on and wherever this redactor is used. Short ones would hit too much."""
        with self._lock:
            self._secrets |= {secret for secret in secrets if len(secret) >= _SHORTEST}
            known = sorted(self._secrets, key=len, reverse=True)
            self._own = re.compile("|".join(map(re.escape, known))) if known else None

    def text(self, text: str) -> str:
        # What is replaced may leave a secret's beginning free beside it; a few passes settle that.
        for _ in range(5):
            once = self._once(text)
            if once == text:
                break
            text = once
        return text

    def _once(self, text: str) -> str:
        if self._own is not None:
            text = self._own.sub(f"{MARK}key]", text)
        if _has(_HINTS, text):
            text = _KNOWN.sub(lambda m: f"{MARK}{str(m.lastgroup).replace('_', '-')}]", text)
        if "://" in text and "@" in text:
            text = _URL_PASSWORD.sub(rf"\g<before>{MARK}password]", text)
        # What is no ASCII has further letters that count as the same ones in lower case.
        lower = text.lower() if text.isascii() else None
        if lower is None or _has(_ANNOUNCED, lower):
            text = _BEARER.sub(_if_random, text)
        if lower is None or (("=" in text or ":" in text) and _has(_NAMES, lower)):
            text = _ASSIGNED.sub(_if_random, text)
        if any(len(word) >= _LONG for word in text.split()):
            text = _WORD.sub(lambda m: f"{MARK}high-entropy]" if _is_random(m[0]) else m[0], text)
        return text

    def is_own(self, value: Any) -> bool:
        """Whether a JSON value holds a secret of this very process, unlike what only looks like one."""
        match value:
            case str():
                return self._own is not None and self._own.search(value) is not None
            case dict():
                return any(map(self.is_own, value.values()))
            case list() | tuple():
                return any(map(self.is_own, value))
        return False

    def json(self, value: Any) -> Any:
        """The same for every string in a JSON value; keys are names, not content."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: self.json(item) for key, item in value.items()}
            case list() | tuple():
                return [self.json(item) for item in value]
        return value


def _has(hints: Iterable[str], text: str) -> bool:
    return any(hint in text for hint in hints)


def _if_random(found: re.Match[str]) -> str:
    """A value beside a telling name is a secret if it is no plain word, number, path or reference to elsewhere."""
    secret = found["secret"]
    plain = secret.isalpha() or secret.replace(".", "").isdigit() or secret.startswith(("$", "%", "/", "./", "{"))
    called = re.fullmatch(r"[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+", secret) is not None  # os.environ.get, settings.token
    name = re.fullmatch(r"[a-z]+(?:[_-][a-z]+)+", secret, re.I) is not None
    if plain or called or name or MARK in secret or len(set(secret)) < 6:
        return found[0]
    quote = found.groupdict().get("quote") or ""
    return f"{found['before']}{quote}{MARK}secret]{quote}"


def _is_random(word: str) -> bool:
    """Whether `word` has the look of a random token: no hash in hexadecimal, no path, no long name."""
    if _HASH.match(word) or not all(kind.search(word) for kind in _CLASSES):
        return False
    if max(map(len, re.split(r"[/_=+-]", word))) < 20:  # parts of a path or of a long name
        return False
    if len(re.findall("[0-9]", word)) < 3 and re.search("[a-z]{5}", word):  # a long name in words
        return False
    counts = Counter(word)
    entropy = -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())
    return entropy > _ENTROPY
