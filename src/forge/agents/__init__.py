"""Agents: models and programs that answer, and the turn loop that lets them work on a branch."""
