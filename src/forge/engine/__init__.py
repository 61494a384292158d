"""Durable runs: work that continues where it was after its process has died."""
