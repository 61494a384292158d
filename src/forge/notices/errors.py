"""What can go wrong on the way to a person. No message shows a token."""

from __future__ import annotations

from forge.errors import InvalidInput, Upstream


class NoticeInvalid(InvalidInput):
    """A notice without a project, without a summary, or of an unknown type."""

    code = "notice_invalid"


class ChannelInvalid(InvalidInput):
    """A notification channel is enabled, and its settings cannot work."""

    code = "channel_invalid"


class NotDelivered(Upstream):
    """A channel did not take the notice: unreachable, refused, or too slow."""

    code = "notice_not_delivered"
