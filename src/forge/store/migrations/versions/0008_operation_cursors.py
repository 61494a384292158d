"""How far the operation log of each repository has been published."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "operation_cursors",
        sa.Column("repository", sa.Text, primary_key=True),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("mark", sa.Text, nullable=False),
        sa.Column("moved", sa.Double, nullable=False),
    )
