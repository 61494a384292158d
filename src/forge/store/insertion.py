"""Insert a row unless it is there: the one statement that both databases spell in their own way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from forge.store.database import Database


def insert_missing(table: Table, row: Mapping[str, Any], database: Database, *key: str) -> Insert:
    if database.is_sqlite:
        return sqlite.insert(table).values(**row).on_conflict_do_nothing(index_elements=key)
    return postgresql.insert(table).values(**row).on_conflict_do_nothing(index_elements=key)


def inserts(connection: Connection, statement: Insert) -> bool:
    """Execute it; whether it made a row. Asked by RETURNING: psycopg does not count the rows of an INSERT."""
    return connection.execute(statement.returning(*statement.table.primary_key)).first() is not None
