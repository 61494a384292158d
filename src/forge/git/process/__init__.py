"""Processes and files under the git core: git itself, liveness, durable writes, maintenance."""
