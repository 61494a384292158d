"""What can be wrong with a connector before it pulls anything, and why it could not pull."""

from __future__ import annotations

from forge.errors import InvalidInput, Upstream


class ConnectorMisconfigured(InvalidInput):
    """Enabled, and without what it needs to sign in."""

    code = "connector_misconfigured"


def misconfigured(connector: str, *, hint: str) -> ConnectorMisconfigured:
    return ConnectorMisconfigured(f"Connector '{connector}' is enabled but missing required credentials.", hint=hint)


class ConnectorUnavailable(Upstream):
    """Enabled, and the libraries that it needs are not installed."""

    code = "connector_unavailable"


class Unpulled(Exception):
    """Why one target could not be pulled, as a phrase for the person. Never leaves the connectors."""
