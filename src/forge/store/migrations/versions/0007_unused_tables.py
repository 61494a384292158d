"""Tables that nothing reads or writes. They come back with the features that need them."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("errors", "notes"):
        op.drop_table(name)
