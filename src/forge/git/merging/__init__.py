"""Bringing branches together: merges, rebases and cherry-picks, previewed as values and performed exactly so."""
