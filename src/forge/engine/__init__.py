"""Durable runs: work that goes on where it was after its process has died."""
