"""What can go wrong with another copy of a repository.

Conflict   PushRejected · LeaseStale
Denied     RemoteDenied · PushDenied
NotFound   RemoteMissing
Upstream   RemoteUnreachable
"""

from __future__ import annotations

from forge.errors import Conflict, Denied, NotFound, Upstream


class RemoteMissing(NotFound):
    """No remote is configured, or none of that name."""

    code = "remote_missing"


class RemoteUnreachable(Upstream):
    """The other side could not be asked, or gave no answer that git understands."""

    code = "remote_unreachable"


class RemoteDenied(Denied):
    """The other side does not know who asks, or does not let them."""

    code = "remote_denied"


class PushRejected(Conflict):
    """The branch over there has commits that would be lost, or the other side refused the push by a rule of its own."""

    code = "push_rejected"


class LeaseStale(Conflict):
    """The branch over there is not where it was when it was last seen, so it was not replaced."""

    code = "lease_stale"


class PushDenied(Denied):
    """Whoever asks may not push."""

    code = "push_denied"
