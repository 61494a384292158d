"""Web addresses as people write them, with or without the scheme."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split(target: str) -> SplitResult:
    """The parts of an address; all empty where it is none."""
    text = target.strip()
    try:
        return urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:
        return urlsplit("")
