"""Test suites of a repository: which there are, how each is run, and what a run came to, test by test."""
