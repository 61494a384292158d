"""What a process needs to let agents work: the database, the engine and the settings, opened together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType

from forge.agents.relay.journal import Journal
from forge.app.process.known_secrets import redactor
from forge.app.process.log_redaction import redacted_logs
from forge.app.process.offers import offered
from forge.app.repositories.environments import Environments
from forge.app.repositories.operation_feed import OperationFeed
from forge.engine.engine import Engine
from forge.notices.sender import Sender, Warn
from forge.plugins.roles import Channel, Notice
from forge.projects.log import OperationalLog
from forge.sessions.redaction import Redactor
from forge.settings import Settings
from forge.store.costs import Costs
from forge.store.database import Database
from forge.store.errors import StoreUnavailable
from forge.store.events import Events
from forge.store.outbox import Outbox
from forge.store.runs import Room

TESTS = "tests"
"""The queue of test runs: one for each branch, a few at a time."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Handed to every use case that starts, follows or ends work of agents."""

    settings: Settings
    environ: Mapping[str, str]
    database: Database
    events: Events
    engine: Engine
    costs: Costs
    redactor: Redactor
    sender: Sender
    feed: OperationFeed
    """Whoever moves a ref on a person's behalf lets it publish that before they answer."""
    environments: Environments
    """What branches need to run, set up on this machine."""
    tool_schemas: dict[str, dict[str, object]] = field(default_factory=dict)
    """Schemas of the repository's own tools, by the tool's hash."""
    begun: set[str] = field(default_factory=set)
    """Runs that were begun in this process, unlike those that it continues with."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    """Work beside the runs; it ends with the process."""
    unconfined: str | None = None
    """The agent whose commands may run where no sandbox works. Only a recording that came with Forge is one."""


@asynccontextmanager
async def open_workshop(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    serve: bool = False,
    unconfined: str | None = None,
) -> AsyncIterator[Workshop]:
    """With `serve`, whatever waits on the queues is run here too; what dead processes left is continued in any case.

    Commands of the agent `unconfined` run here even where there is no sandbox.
    """
    workflows = _load_workflows()
    database = await asyncio.to_thread(Database.open, database_url(settings))
    events = Events(database)
    most = settings.concurrency.max_parallel_runs
    offers = partial(offered, settings, environ)
    tests = {TESTS: Room(limit=max(1, most - 1), partition_limit=1)}
    engine = Engine(database, events, serve=serve, max_runs=most, offers=offers, queues=tests)
    known = redactor(settings, environ)
    sender = Sender(Outbox(database), _channels(settings), warn=_logged(settings, known))
    feed = OperationFeed(database, events, known)
    shop = Workshop(
        settings,
        environ,
        database,
        events,
        engine,
        Costs(database),
        known,
        sender,
        feed,
        Environments(settings, environ),
        unconfined=unconfined,
    )
    for each in workflows:
        each.register(shop)
    with redacted_logs(known):
        try:
            await asyncio.to_thread(feed.catch_up)
            await engine.start()
            sending = asyncio.create_task(sender.run())
            serving = (_forget(shop), _sweep(shop), feed.follow()) if serve else ()
            upkeep = [asyncio.create_task(work) for work in serving]
            try:
                yield shop
            finally:
                beside = [*shop.tasks, *upkeep]
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
                await engine.close()
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
                await sender.flush()
                with suppress(StoreUnavailable):  # the next process that opens it publishes the rest
                    await asyncio.to_thread(feed.catch_up)
        finally:
            await asyncio.to_thread(events.close)
            database.close()


def _load_workflows() -> tuple[ModuleType, ...]:
    """What runs do, and the engine under it: most of a second, and needed by whoever runs something only."""
    from forge.app.projects import exploration_run, generation_run, workflows  # noqa: PLC0415 - they need the workshop
    from forge.app.repositories import test_workflow  # noqa: PLC0415
    from forge.app.sessions import turn_run  # noqa: PLC0415
    from forge.engine import durable  # noqa: PLC0415

    del durable
    return turn_run, workflows, test_workflow, generation_run, exploration_run


async def _forget(shop: Workshop) -> None:
    from forge.app.process.retention import forget_from_time_to_time  # noqa: PLC0415 - it needs the workshop

    await forget_from_time_to_time(shop)


async def _sweep(shop: Workshop) -> None:
    from forge.app.projects.holds import sweep_from_time_to_time  # noqa: PLC0415

    await sweep_from_time_to_time(shop)


def _channels(settings: Settings) -> Mapping[str, Channel]:
    """Those that are enabled. Without any, no plugin has to be loaded."""
    sections = settings.notifications.channels
    if not any(section.enabled for section in sections.values()):
        return {}
    from forge.app.admin.plugins import plugins_of  # noqa: PLC0415

    return dict(plugins_of(settings).made_channels(sections))


def _logged(settings: Settings, known: Redactor) -> Warn:
    """Warnings of the sender go to a log in the data directory; they never stop anything."""
    log = OperationalLog(settings.data_dir, redactor=known)

    def warn(notice: Notice | None, text: str) -> None:
        log.write("warn", "error", notice.phase if notice else "", text)

    return warn


def journal_of(shop: Workshop) -> Journal:
    """Where answers of models are until they are on record."""
    return Journal(shop.settings.data_dir / "answers")


def database_url(settings: Settings) -> str:
    if settings.database is not None:
        return settings.database.get_secret_value()
    return f"sqlite:///{settings.data_dir / 'forge.db'}"
