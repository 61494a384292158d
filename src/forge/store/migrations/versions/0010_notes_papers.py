"""Notes of a person on a project, and working papers with their bytes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notes",
        sa.Column("project", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("saved", sa.Double, nullable=False),
    )
    op.create_table(
        "papers",
        sa.Column("project", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("hash", sa.Text, nullable=False, index=True),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("saved", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, index=True),
    )
    op.create_table(
        "paper_bytes",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("used", sa.Double, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
