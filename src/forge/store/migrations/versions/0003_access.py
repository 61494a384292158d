"""Access: scopes and expiry of keys, repositories, owners, shares and the audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("keys", sa.Column("scopes", sa.Text, nullable=False, server_default=""))
    op.add_column("keys", sa.Column("expires", sa.Double))
    op.create_table(
        "repositories",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("path", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("added", sa.Double, nullable=False),
    )
    _create_ownership()
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("user", sa.Text, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_user", "audit", ["user"])


def _create_ownership() -> None:
    op.create_table(
        "owners",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, nullable=False),
    )
    op.create_index("ix_owners_user", "owners", ["user"])
    op.create_table(
        "shares",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("granted", sa.Text, nullable=False),
    )
    op.create_index("ix_shares_user", "shares", ["user"])
