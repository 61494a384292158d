"""The parts of DBOS that it does not promise to keep, all of them. `tests/engine/test_dbos_internals.py` looks at each.

DBOS is pinned to the minor version that they were read in (`pyproject.toml`). To move the pin, run that test first.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from dbos._dbos import _get_dbos_instance
from dbos._schemas.system_database import SystemSchema
from dbos._utils import GlobalParams

WORKFLOWS: sa.Table = SystemSchema.workflow_status
"""One row for each run: its state, its queue, and the process that has it."""
ARGUMENTS: sa.Table = SystemSchema.workflow_input
"""What each run was begun with."""


def system_database() -> Any:
    """The database object of the DBOS that is launched in this process."""
    return _get_dbos_instance()._sys_db  # noqa: SLF001


def system_engine() -> sa.Engine:
    engine: sa.Engine = system_database().engine
    return engine


def delete_runs(run_ids: list[str]) -> None:
    """All that DBOS has on record of them."""
    system_database().delete_workflows(run_ids)


def poll_queue(queue: str, seconds: float) -> None:
    """Make this process take runs from `queue`, which only exists in memory."""
    registry = _get_dbos_instance()._registry  # noqa: SLF001
    registry._register_internal_queue(queue)._polling_interval_sec = seconds  # noqa: SLF001


def rename_executor(executor_id: str) -> None:
    GlobalParams.executor_id = executor_id
