"""Programs that speak MCP: Forge writes itself into their configuration, and asks itself as they would."""
