"""Drafts: the work of agents outside Forge on branches, without a checkout, until one commit."""
