"""Workers: which of them serve, so that runs can be shared among those."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("serves", sa.Boolean, nullable=False, server_default=sa.false()))
