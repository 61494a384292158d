"""What is added to the documentation that the framework makes of the routes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.api.http import problems
from forge.api.openapi.examples import add_examples
from forge.json_value import Json

_SENTENCE = re.compile(r"(.+?[.;])(?:\s|$)", re.DOTALL)


def complete(document: Json, *, cookie_name: str) -> None:
    """In place: how to sign in, what a problem looks like, and summaries that say what an operation does."""
    parts = document.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = problems.Problem.model_json_schema()
    parts["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": cookie_name},
    }
    add_examples(parts["schemas"])
    document["security"] = [{"key": []}, {"cookie": []}]
    for operation in _operations(document):
        operation["summary"] = first_sentence(operation["description"])
        _add_media_type(operation)


def first_sentence(text: str) -> str:
    """Without its stop, on one line."""
    words = " ".join(text.split())
    found = _SENTENCE.match(words)
    return (found[1] if found else words).rstrip(".;")


def _operations(document: Json) -> Iterator[Json]:
    for methods in document["paths"].values():
        yield from methods.values()


def _add_media_type(operation: Json) -> None:
    """Whoever takes JSON refuses what does not say that it is JSON."""
    code, _, _ = problems.MEDIA_TYPE_REFUSED
    if "application/json" in operation.get("requestBody", {}).get("content", {}):
        operation["responses"]["415"] = problems.documented(415, [code])
