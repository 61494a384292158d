"""Workers: which providers and programs each has, so that a run goes to one that can ask its model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("offers", sa.Text, nullable=False, server_default="[]"))
