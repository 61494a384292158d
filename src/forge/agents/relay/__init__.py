"""Answers that survive their process: the journal of received pieces, and the relay process that makes the requests."""
