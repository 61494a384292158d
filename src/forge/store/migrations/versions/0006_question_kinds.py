"""Kinds of questions. Until now, projects asked for decisions and branches for words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_runs = sa.table("runs", sa.column("id", sa.Text), sa.column("subject_kind", sa.Text))
_questions = sa.table("questions", sa.column("run", sa.Text), sa.column("kind", sa.Text))


def upgrade() -> None:
    op.add_column("questions", sa.Column("kind", sa.Text, nullable=False, server_default="text"))
    of_projects = sa.select(_runs.c.id).where(_runs.c.subject_kind == "project")
    op.get_bind().execute(sa.update(_questions).where(_questions.c.run.in_(of_projects)).values(kind="decision"))
