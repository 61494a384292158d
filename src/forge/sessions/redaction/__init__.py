"""Secrets never enter a conversation: what looks like one is replaced before it is sent, shown or written."""

from __future__ import annotations

from forge.sessions.redaction.redactor import MARK, Redactor

__all__ = ["MARK", "Redactor"]
