"""Other copies of a repository: which are configured, and what git sends there. Credentials are git's own."""
