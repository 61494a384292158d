"""Plugins: what can be added to Forge from another package, and how what is there is found."""
