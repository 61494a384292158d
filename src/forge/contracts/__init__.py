"""Contracts: the nine documents that a build is held to. Parsed, checked by code, versioned and pinned by commit."""
