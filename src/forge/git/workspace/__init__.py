"""The virtual file system: one commit, or a branch with pending changes."""
