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
        *("forge.agents.builtin.engine", "forge.agents.models.api", "forge.agents.models.provider_request"),
        *("forge.agents.relay.link", "forge.agents.models.retries", "forge.api.server", "forge.builtin"),
        *(
            "forge.app.projects.workflows",
            "forge.app.projects.autopilot",
            "forge.app.sessions.turn_run",
            "forge.app.process.workshop",
        ),
        *(
            "forge.cli.commands.chat",
            "forge.cli.main",
            "forge.cli.commands.project",
            "forge.cli.commands.run",
            "forge.cli.commands.serve",
        ),
        *(
            "forge.cli.commands.session",
            "forge.cli.terminal.conversation",
            "forge.cli.commands.worker",
            "forge.engine.durable",
        ),
    ]
)
