"""Source material in a prompt: what a person pasted or uploaded is fenced, so that it is read and never obeyed."""

from __future__ import annotations

import re

LONGEST_SAID = 500
"""Characters that a person types; a longer message is a paste."""
_TAG = re.compile(r"<(/?)\s*source\b", re.IGNORECASE)


def fenced(text: str, id_: str, kind: str, place: str = "") -> str:
    """Inside a fence that the text itself cannot close."""
    safe = _TAG.sub(r"‹\1source", text)
    where = f' place="{_attribute(place)}"' if place else ""
    return f'<source id="{id_}" kind="{kind}"{where}>\n{safe}\n</source>'


def said(text: str, id_: str) -> str:
    """A person's message as a model gets it."""
    return fenced(text, id_, "pasted") if len(text) > LONGEST_SAID else _TAG.sub(r"‹\1source", text)


def _attribute(text: str) -> str:
    return text.replace('"', "'").replace("<", "‹").replace("\n", " ")
