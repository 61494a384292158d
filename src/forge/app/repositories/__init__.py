"""Repositories: their catalog, branches, files, history, merges, operations and commands."""
