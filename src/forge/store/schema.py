"""The tables, as values. Times are seconds since 1970, UTC; `data`, `options`, `result` and `error` hold JSON text."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text, text

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("queue", Text),
    Column("partition", Text),
    Column("subject_kind", Text, nullable=False, server_default=""),
    Column("subject_id", Text, nullable=False, server_default=""),
    Column("state", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("started", Double),
    Column("ended", Double),
    Column("cancel_requested", Boolean, nullable=False, server_default=text("false")),
    Column("result", Text),
    Column("error", Text),
    Index("runs_by_place", "queue", "partition", "state"),
    Index("runs_by_state", "state"),
    Index("runs_by_subject", "subject_kind", "subject_id"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False, server_default="text"),
    Column("text", Text, nullable=False),
    Column("context", Text, nullable=False, server_default=""),
    Column("options", Text, nullable=False),
    Column("state", Text, nullable=False, index=True),
    Column("asked", Double, nullable=False),
    Column("expires", Double),
    Column("closed", Double),
    Column("answer", Text),
)

topics = Table(
    "topics",
    metadata,
    Column("name", Text, primary_key=True),
    Column("last", Integer, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("topic", Text, primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("data", Text, nullable=False),
    Column("origin", Text, unique=True),
)

# Pieces of text on their way to listeners in other processes, on databases that cannot notify. Rows live for seconds.
live_pieces = Table(
    "live_pieces",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("topic", Text, nullable=False),
    Column("time", Double, nullable=False),
    Column("process", Text, nullable=False),
    Column("data", Text, nullable=False),
    sqlite_autoincrement=True,
)

users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Double, nullable=False),
    Column("disabled", Double),
)

# A key itself is never kept: `hash` is its HMAC under the server's secret, `prefix` what a person recognises it by.
keys = Table(
    "keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("hash", Text, nullable=False, unique=True),
    Column("created", Double, nullable=False),
    Column("last_used", Double),
    Column("revoked", Double),
    Column("scopes", Text, nullable=False, server_default=""),
    Column("expires", Double),
    Column("project", Text),
    Column("repository", Text),
)

costs = Table(
    "costs",
    metadata,
    Column("run", Text, primary_key=True),
    Column("step", Text, primary_key=True),
    Column("repository", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("time", Double, nullable=False),
    Column("day", Text, nullable=False, index=True),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cache_read_tokens", Integer, nullable=False),
    Column("cache_write_tokens", Integer, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("cost", Double),
    Index("costs_by_branch", "repository", "branch"),
    Index("costs_by_session", "session"),
)

workers = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("machine", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("process_started", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("beats", Integer, nullable=False),
    Column("started", Double, nullable=False),
    Column("seen", Double, nullable=False),
    Column("serves", Boolean, nullable=False, server_default=text("false")),
    Column("offers", Text, nullable=False, server_default="[]"),
)

# One row per notice and channel; `key` names what it tells of, so that a step done again does not tell it again.
outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False, unique=True),
    Column("channel", Text, nullable=False),
    Column("notice", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("interrupted", Integer, nullable=False),
    Column("next_try", Double, nullable=False),
    Column("state", Text, nullable=False),
    Column("error", Text),
    Column("holder", Text),
    Column("lease", Double),
    Index("outbox_by_state", "state", "next_try"),
)

repositories = Table(
    "repositories",
    metadata,
    Column("id", Text, primary_key=True),
    Column("path", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("added", Double, nullable=False),
)

# Whose a project or repository is. One without a row belongs to the person at the machine.
owners = Table(
    "owners",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False, index=True),
)

# Who else may see it; `granted` is `read` or `write`.
shares = Table(
    "shares",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("user", Text, primary_key=True, index=True),
    Column("granted", Text, nullable=False),
)

# Who did what. Rows are added and read, never changed.
audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("time", Double, nullable=False),
    Column("user", Text, nullable=False, index=True),
    Column("key", Text),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    sqlite_autoincrement=True,
)

# How far the operation log of each repository has been published as events and audit rows.
operation_cursors = Table(
    "operation_cursors",
    metadata,
    Column("repository", Text, primary_key=True),
    Column("segment", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("mark", Text, nullable=False),
    Column("moved", Double, nullable=False),
)

# One note per project and user; `version` counts its saves.
notes = Table(
    "notes",
    metadata,
    Column("project", Text, primary_key=True),
    Column("user", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("saved", Double, nullable=False),
)

# Which agent read which contract; `place` names the call in its run, so that a replay counts it once.
contract_reads = Table(
    "contract_reads",
    metadata,
    Column("run", Text, primary_key=True),
    Column("place", Text, primary_key=True),
    Column("project", Text, nullable=False, index=True),
    Column("build", Text, nullable=False, index=True),
    Column("role", Text, nullable=False),
    Column("contract", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("time", Double, nullable=False),
)

# Working papers of a project. `expires` is empty for a pinned one.
papers = Table(
    "papers",
    metadata,
    Column("project", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("hash", Text, nullable=False, index=True),
    Column("size", Integer, nullable=False),
    Column("saved", Double, nullable=False),
    Column("expires", Double, index=True),
)

# Their bytes where several machines share the database; else they are files in the data directory.
paper_bytes = Table(
    "paper_bytes",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("used", Double, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# What agents keep for themselves, by project and build; `build` is empty outside of builds.
scratchpads = Table(
    "scratchpads",
    metadata,
    Column("project", Text, primary_key=True),
    Column("build", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("saved", Double, nullable=False),
)
