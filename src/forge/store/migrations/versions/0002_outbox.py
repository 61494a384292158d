"""The outbox of notices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("notice", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("interrupted", sa.Integer, nullable=False),
        sa.Column("next_try", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("holder", sa.Text),
        sa.Column("lease", sa.Double),
    )
    op.create_index("outbox_by_state", "outbox", ["state", "next_try"])
