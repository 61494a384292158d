"""Checkouts of people: kept in step with a branch that Forge moves, never at the cost of their own changes."""
