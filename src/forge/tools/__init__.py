"""What an agent can do on a branch: tools with a schema, run on the virtual file system."""
