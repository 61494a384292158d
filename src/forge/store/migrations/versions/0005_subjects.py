"""Subjects of runs, and topics of branches by the id of their repository instead of its path."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from forge.subjects import run_subject, subject_of_topic

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_runs = sa.table("runs", sa.column("id"), sa.column("topic"), sa.column("subject_kind"), sa.column("subject_id"))
_topics = sa.table("topics", sa.column("name", sa.Text), sa.column("last", sa.Integer))
_events = sa.table("events", sa.column("topic", sa.Text), sa.column("id", sa.Integer))


def upgrade() -> None:
    op.add_column("runs", sa.Column("subject_kind", sa.Text, nullable=False, server_default=""))
    op.add_column("runs", sa.Column("subject_id", sa.Text, nullable=False, server_default=""))
    connection = op.get_bind()
    for id_, topic in connection.execute(sa.select(_runs.c.id, _runs.c.topic)).all():
        subject = subject_of_topic(topic) or run_subject(id_)
        values = {"subject_kind": str(subject.kind), "subject_id": subject.id}
        connection.execute(sa.update(_runs).where(_runs.c.id == id_).values(**values))
    op.drop_column("runs", "topic")
    op.create_index("runs_by_subject", "runs", ["subject_kind", "subject_id"])
    _rename_topics(connection)


def _rename_topics(connection: sa.Connection) -> None:
    names = connection.execute(sa.select(_topics).where(_topics.c.name.startswith("branch:/"))).all()
    for old, last in names:
        subject = subject_of_topic(old)
        assert subject is not None
        # Two paths may have led to one repository: the events of the second follow those of the first.
        known = sa.select(_topics.c.last).where(_topics.c.name == subject.topic)
        before: int | None = connection.execute(known).scalar()
        if before is None:
            connection.execute(sa.insert(_topics).values(name=subject.topic, last=last))
        else:
            connection.execute(sa.update(_topics).where(_topics.c.name == subject.topic).values(last=before + last))
        moved = {"topic": subject.topic, "id": _events.c.id + (before or 0)}
        connection.execute(sa.update(_events).where(_events.c.topic == old).values(**moved))
        connection.execute(sa.delete(_topics).where(_topics.c.name == old))
