"""The first message of a new project: an offer to set the scene before the problem, never a gate."""

from __future__ import annotations

from collections.abc import Sequence

from forge.projects.chat import ChatMessage

PRIMING_MESSAGE = """\
Welcome to your new project. A little background first helps me ask better questions:

- **Team**: who works on this, and who does what?
- **Stakeholders**: who decides, who is affected, who has to agree?
- **Systems**: which tools, data and processes are involved?
- **Vocabulary**: which words mean something special among you?
- **Goals**: what are you trying to reach at the moment?
- **Politics**: what is sensitive, contested or was tried before?

Write as much or as little as you like. If you would rather go straight to the problem, just state it; the background \
can follow whenever it matters."""


def is_priming(messages: Sequence[ChatMessage]) -> bool:
    """Whether the person has said nothing yet. Never saved: it follows from the chat."""
    return not any(message.role == "human" for message in messages)
