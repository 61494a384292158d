"""The MCP face: tools, resources and prompts for agents that work for a person, over stdio and HTTP."""
