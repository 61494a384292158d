"""Forge: from a brain dump to a sealed git branch."""

__version__ = "0.1.0"
