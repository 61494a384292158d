"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_runs()
    _create_questions()
    _create_events()
    _create_errors()
    _create_people()
    _create_costs()
    _create_workers()


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("queue", sa.Text),
        sa.Column("partition", sa.Text),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("ended", sa.Double),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
    )
    op.create_index("runs_by_place", "runs", ["queue", "partition", "state"])
    op.create_index("runs_by_state", "runs", ["state"])


def _create_questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("context", sa.Text, nullable=False, server_default=""),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("asked", sa.Double, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("closed", sa.Double),
        sa.Column("answer", sa.Text),
    )
    op.create_index("ix_questions_run", "questions", ["run"])
    op.create_index("ix_questions_state", "questions", ["state"])


def _create_events() -> None:
    op.create_table(
        "topics",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("last", sa.Integer, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("topic", sa.Text, primary_key=True),
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, unique=True),
    )
    op.create_table(
        "live_pieces",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )


def _create_errors() -> None:
    op.create_table(
        "errors",
        sa.Column("project", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.Text, primary_key=True),
        sa.Column("run", sa.Text),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("phase", sa.Text),
        sa.Column("file", sa.Text),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("first_seen", sa.Double, nullable=False),
        sa.Column("last_seen", sa.Double, nullable=False),
        sa.Column("resolved", sa.Double),
        sa.Column("resolved_by", sa.Text),
        sa.Column("summary", sa.Text),
    )


def _create_people() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("disabled", sa.Double),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False, unique=True),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("last_used", sa.Double),
        sa.Column("revoked", sa.Double),
    )
    op.create_index("ix_keys_user", "keys", ["user"])
    op.create_table(
        "notes",
        sa.Column("project", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("saved", sa.Double, nullable=False),
    )


def _create_costs() -> None:
    op.create_table(
        "costs",
        sa.Column("run", sa.Text, primary_key=True),
        sa.Column("step", sa.Text, primary_key=True),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("day", sa.Text, nullable=False),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("output_tokens", sa.Integer, nullable=False),
        sa.Column("cache_read_tokens", sa.Integer, nullable=False),
        sa.Column("cache_write_tokens", sa.Integer, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("cost", sa.Double),
    )
    op.create_index("costs_by_branch", "costs", ["repository", "branch"])
    op.create_index("costs_by_session", "costs", ["session"])
    op.create_index("ix_costs_day", "costs", ["day"])


def _create_workers() -> None:
    op.create_table(
        "workers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("process_started", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("beats", sa.Integer, nullable=False),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
    )
