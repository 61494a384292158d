"""Boards of projects: Forge's own as values, and mirrors to boards that people already have."""
