"""The form of an answer as a provider is told it: the JSON schema of a checked value, with every field named."""

from __future__ import annotations

import re

from pydantic import BaseModel

from forge.agents.model import AnswerForm

_NAME = re.compile(r"[^a-zA-Z0-9]+")


def form_of(schema: type[BaseModel] | None) -> AnswerForm | None:
    if schema is None:
        return None
    # As it is written, not as it is read: there a field with a default could be left out, which some providers refuse.
    return AnswerForm(
        _NAME.sub("_", schema.__name__).strip("_") or "answer", schema.model_json_schema(mode="serialization")
    )
