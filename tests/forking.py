"""Processes forked from one that has Forge loaded, with all that a turn needs: starting one takes no seconds.

A test process has one such parent, and whoever starts a process first starts it: all tests name the same modules.
"""

from __future__ import annotations

import multiprocessing

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(
    [
        *("pytest", "tests.engine.process"),
        *("anyio._backends._asyncio", "dbos", "dbos._sys_db_sqlite", "genai_prices.data"),
        *("keyring.backends.SecretService", "pydantic_ai.models.anthropic"),
        *("forge.agents.builtin.engine", "forge.agents.models.api", "forge.agents.models.asking"),
        *("forge.agents.models.relaying", "forge.agents.models.retrying", "forge.api.server", "forge.builtin"),
        *("forge.app.handing", "forge.app.pipelining", "forge.app.running", "forge.app.turning", "forge.app.workshop"),
        *("forge.cli.chat", "forge.cli.main", "forge.cli.project", "forge.cli.run", "forge.cli.serve"),
        *("forge.cli.session", "forge.cli.talking", "forge.cli.worker", "forge.engine.durable"),
    ]
)
