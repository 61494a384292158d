"""Scratchpads of agents, and keys for one project alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scratchpads",
        sa.Column("project", sa.Text, primary_key=True),
        sa.Column("build", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("saved", sa.Double, nullable=False),
    )
    op.add_column("keys", sa.Column("project", sa.Text))
