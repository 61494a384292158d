"""What Forge uses of DBOS's private parts is there, and takes what Forge gives it."""

from __future__ import annotations

import ast
import inspect
from importlib.metadata import version
from pathlib import Path

import pytest
from dbos._dbos import DBOSRegistry, _get_dbos_instance
from dbos._sys_db import SystemDatabase
from dbos._utils import GlobalParams

import forge
from forge.engine import dbos_internals
from forge.engine.poll_cache import CLAIMING, READING

pytestmark = pytest.mark.req("X-04")

SOURCE = Path(forge.__file__).parent
INTERNALS = SOURCE / "engine" / "dbos_internals.py"


def test_dbos_is_the_version_that_its_private_parts_were_read_in() -> None:
    assert version("dbos").startswith("3.3."), "read the private parts anew, then move the pin and this line"
    assert '"dbos==3.3.*"' in (SOURCE.parents[1] / "pyproject.toml").read_text()


def test_only_one_file_imports_private_parts_of_dbos() -> None:
    private = {
        path
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbos._")
    }
    assert private == {INTERNALS}


def test_the_private_parts_take_what_they_are_given() -> None:
    assert callable(_get_dbos_instance)
    inspect.signature(SystemDatabase.delete_workflows).bind(object(), ["run"])
    inspect.signature(DBOSRegistry._register_internal_queue).bind(object(), "queue")
    assert isinstance(GlobalParams.executor_id, str)


def test_the_table_of_runs_has_the_columns_that_are_read() -> None:
    used = {"workflow_uuid", "status", "queue_name", "executor_id", "owner_xid", "started_at_epoch_ms"}
    assert used | {"created_at", "updated_at", "inputs"} <= set(dbos_internals.WORKFLOWS.c.keys())
    assert {"workflow_uuid", "inputs"} <= set(dbos_internals.ARGUMENTS.c.keys())


@pytest.mark.parametrize("name", [*CLAIMING, *READING])
def test_what_is_asked_of_a_queue_begins_with_the_queue(name: str) -> None:
    """Answers are remembered by the first argument, and by the partition where there is one."""
    _, first, *rest = inspect.signature(getattr(SystemDatabase, name)).parameters
    assert first in {"queue", "queue_name", "name"}
    assert name != "start_queued_workflows" or rest[2] == "queue_partition_key"
