"""Figures and long runs: how fast Forge is against git itself, and what it survives."""
