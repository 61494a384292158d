"""Which agent read which contract, when, and how many tokens that was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "contract_reads",
        sa.Column("run", sa.Text, primary_key=True),
        sa.Column("place", sa.Text, primary_key=True),
        sa.Column("project", sa.Text, nullable=False, index=True),
        sa.Column("build", sa.Text, nullable=False, index=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("contract", sa.Text, nullable=False),
        sa.Column("part", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
    )
