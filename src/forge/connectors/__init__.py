"""Documents from elsewhere, pulled into a project's `resources/`: `notion` and `google_drive` each make a connector."""

from forge.connectors.errors import ConnectorMisconfigured, ConnectorUnavailable

__all__ = ["ConnectorMisconfigured", "ConnectorUnavailable"]
