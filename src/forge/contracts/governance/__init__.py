"""Texts that come with Forge and hold for every project: the rules for builders and for auditors."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

Text = Literal["builder_contract", "auditor_prompt"]
TEXTS: dict[Text, str] = {
    "builder_contract": "Rules for every agent that builds a project.",
    "auditor_prompt": "How an independent agent reviews what was built.",
}
"""What each is about, in one line."""


@cache
def governance_text(name: Text) -> str:
    return (resources.files(__name__) / f"{name}.md").read_text(encoding="utf-8")


def governance_named(name: str) -> Text | None:
    plain = name.removesuffix(".md")
    return next((each for each in TEXTS if each == plain), None)
