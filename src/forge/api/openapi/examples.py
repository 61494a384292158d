"""An example for every shape of the documentation: its author's, else one put together by the names of its fields."""

from __future__ import annotations

from typing import Any

from forge.json_value import Json

_COMMIT = "3f8c1d2e4b5a69788796a5b4c3d2e1f001122334"
_PARENT = "9b2f6c1e0d3a48576675a4b3c2d1e0f011223344"
_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_TIME = 1794800000.0
_DAY = "2026-11-16T03:00:00Z"
_BY_FIELD: Json = {
    "AnsweredShape.counted": True,
    "BusyShape.since": _TIME,
    "ChangedFileShape.old_id": "8baef1b4abc478178b004d62031cf7fe6db6f903",
    "ChangedFileShape.similarity": None,
    "CommitShape.parents": [_PARENT],
    "ConnectorShape.enabled": True,
    "ConnectorShape.usable": True,
    "DeedShape.detail": "Summer party",
    "DeedShape.key": None,
    "DoctorShape.ok": True,
    "EdgeShape.from_lane": 0,
    "EdgeShape.parent": _PARENT,
    "EdgeShape.to_lane": 0,
    "GraphShape.lane": 0,
    "GraphShape.parents": [_PARENT],
    "GraphShape.refs": ["ai/first"],
    "KeyShape.expires": None,
    "KeyShape.revoked": None,
    "KeyShape.scopes": ["read"],
    "LogLine.detail": "brain_dump → distilling",
    "LogLine.level": "info",
    "LogLine.phase": "distilling",
    "LogLine.timestamp": _DAY,
    "MergeShape.conflicts": [],
    "MergeShape.sources": [_COMMIT],
    "MergeShape.steps": [],
    "MergeShape.stopped_at": None,
    "MergeShape.target_tip": _PARENT,
    "MergedShape.performed": True,
    "MoveShape.before": _PARENT,
    "OperationShape.id": "01ke3z",
    "OperationShape.reason": "merge ai/first",
    "OperationShape.undoes": None,
    "ActionResultShape.changed": True,
    "ActionResultShape.message": "Distilling…",
    "ActionResultShape.run": "distill-20261116-4f2a-1",
    "ActionResultShape.topic": "project:20261116-4f2a",
    "ProgramShape.path": "/usr/bin/claude",
    "ProviderShape.usable": True,
    "QuestionShape.expires": None,
    "QuestionShape.id": "q-1",
    "QuestionShape.kind": "text",
    "QuestionShape.options": ["north", "south"],
    "QuestionShape.project": None,
    "QuestionShape.state": "open",
    "QuestionShape.text": "Which bed is meant?",
    "RowShape.id": "20261116-4f2a",
    "RowShape.name": "Summer party",
    "RowShape.halt_reason": None,
    "RowShape.updated": _DAY,
    "RowShape.waiting": None,
    "SentNotice.sent": True,
    "SessionShape.messages": 4,
    "SessionShape.turns": 2,
    "SessionShape.working": None,
    "SharesShape.shares": {"u3c9": "read"},
    "SpentShape.unpriced": 0,
    "StepShape.state": "picked",
    "TurnShape.files": ["beds/north.md"],
    "TurnShape.id": "000002-8c1f",
    "TurnShape.messages": None,
    "TurnShape.number": 2,
    "UserShape.disabled": None,
    "UserShape.name": "ada",
    "ActiveFileShape.ranges": [[1, 40]],
    "BuiltInToolShape.name": "read_file",
    "BuiltInToolShape.description": "Read a file of the branch.",
    "CautionShape.code": "memory_stale",
    "ChangedFileShape.kind": "modified",
    "ChangedSetting.name": "polish.max_iterations",
    "ChangedSetting.value": 5,
    "ConflictShape.kind": "content",
    "ConnectorShape.name": "notion",
    "ContextFile.ranges": [[1, 40]],
    "ContextFileShape.ranges": [[1, 40]],
    "DeedShape.action": "project.create",
    "DeedShape.subject": "project:20261116-4f2a",
    "DocumentDiffShape.name": "plan.md",
    "EventsShape.next": 7,
    "InitiativeShape.id": "summer-party",
    "KeyShape.id": "k7f3a",
    "KeyShape.name": "laptop",
    "KeyShape.prefix": "fk_k7f3a",
    "KnownModelShape.name": "anthropic:claude-sonnet-5-5",
    "LogLine.event": "phase_transition",
    "MemoryEntryShape.kind": "decision",
    "MergeShape.kind": "merge",
    "MergeShape.outcome": "clean",
    "MilestoneShape.id": "m1",
    "NewKeyShape.text": "<key>",
    "OwnToolShape.name": "count_words",
    "PatchLineShape.sign": "+",
    "ProgramShape.name": "claude",
    "PromptDiff.name": "chat",
    "PromptShape.name": "chat",
    "ProviderShape.name": "anthropic",
    "ProviderShape.how": "key from variable ANTHROPIC_API_KEY",
    "QuestionShape.asked": _TIME,
    "SentNotice.channel": "telegram",
    "ToolChangeShape.name": "count_words",
    "UserShape.id": "u3c9",
    "WhoShape.id": "local",
}
_BY_NAME: Json = {
    "actor": "Ada",
    "actor_kind": "person",
    "asked": "Plant tulips in the north bed.",
    "answered": "Done: tulips are in the north bed.",
    "author": "Ada",
    "branch": "ai/first",
    "by": "branch",
    "change": "modified",
    "chat": "anthropic:claude-sonnet-5-5",
    "commit": _COMMIT,
    "context_window": 200_000,
    "cost": 0.04,
    "days": 30,
    "deliverable_type": "plan",
    "detail": "brain_dump → distilling",
    "diff": "@@ -1 +1 @@\n-roses\n+tulips\n",
    "email": "ada@example.org",
    "file": "<the bytes of the file>",
    "hash": _BLOB,
    "hint": "",
    "input_price": 3.0,
    "input_tokens": 5300,
    "level": "info",
    "message": "plant tulips",
    "mode": "100644",
    "model": "anthropic:claude-sonnet-5-5",
    "name": "Ada",
    "operation": "01ke3z",
    "origin": "default",
    "original_path": "beds/north.md",
    "outcome": "",
    "output_price": 15.0,
    "output_tokens": 210,
    "path": "beds/north.md",
    "phase": "brain_dump",
    "problem": "",
    "project": "20261116-4f2a",
    "question": "q-1",
    "reason": "",
    "ref": "refs/heads/ai/first",
    "repository": "0a1b2c3d4e5f",
    "requests": 2,
    "run": "turn-8c1f",
    "sparkline": "▇▅▂",
    "state": "clean",
    "status": "done",
    "subject": "plant tulips",
    "summary": "plant tulips",
    "target": "main",
    "text": "tulips\n",
    "title": "Brain dump",
    "topic": "branch:0a1b2c3d4e5f:ai/first",
    "trend": "falling",
    "turn": "8c1f",
    "type": "plan",
    "user": "u3c9",
    "user_name": "ada",
    "version": "2.1.0",
    "who": "An agent",
}
_IDS = {"id", "old", "new", "before", "after", "original", "parent", "result", "target_tip", "stopped_at", "undoes"}
_TIMES = {"time", "created", "started", "since", "expires", "last_used", "asked"}
_BLOBS = {"old_id", "new_id"}
_PATHS = {"old_path", "new_path"}
_MODES = {"old_mode", "new_mode"}


def add_examples(schemas: Json) -> None:
    """In place, for every object that has none."""
    shapes = {name: schema for name, schema in schemas.items() if schema.get("type") == "object"}
    for schema in shapes.values():
        for example in schema.get("examples", ()):
            _restore_nulls(schema, example)
    for name, schema in shapes.items():
        schema.setdefault("examples", [_of(name, schemas)])


def _restore_nulls(schema: Json, example: Json) -> None:
    """The framework leaves out what is null, even where it has to be there."""
    for field in schema.get("required", ()):
        if {"type": "null"} in schema["properties"][field].get("anyOf", ()):
            example.setdefault(field, None)


def _of(name: str, schemas: Json) -> Any:
    schema = schemas[name]
    if "examples" in schema:
        return schema["examples"][0]
    fields = schema.get("properties", {}).items()
    return {field: _value(name, field, each, schemas) for field, each in fields}


def _value(shape: str, field: str, schema: Json, schemas: Json) -> Any:
    """Of one field: as it is known by its name, else the plainest that fits."""
    if f"{shape}.{field}" in _BY_FIELD:
        return _BY_FIELD[f"{shape}.{field}"]
    for each in ("const", "default"):
        if schema.get(each) is not None:
            return schema[each]
    if "enum" in schema:
        return schema["enum"][0]
    if "examples" in schema:
        return schema["examples"][0]
    if "anyOf" in schema:
        return _value(shape, field, schema["anyOf"][0], schemas)
    if "$ref" in schema:
        return _of(schema["$ref"].rpartition("/")[2], schemas)
    return _plain(field, schema, lambda inner: _value("", field, inner, schemas))


def _plain(field: str, schema: Json, inner: Any) -> Any:
    match schema.get("type"):
        case "array":
            # Pairs and lists of plain values are rarely worth a word; what has a shape of its own is.
            return [inner(schema["items"])] if "$ref" in schema.get("items", {}) else []
        case "object":
            more = schema.get("additionalProperties")
            return {"ai/first": inner(more)} if isinstance(more, dict) and "$ref" in more else {}
        case "boolean":
            return False
        case "integer" | "number" as kind:
            known = _BY_NAME.get(field, _TIME if kind == "number" and field in _TIMES else 1)
            return known if isinstance(known, int | float) else 1
        case "string":
            return _DAY if schema.get("format") == "date-time" else _text(field)
    return None


def _text(field: str) -> str:
    for names, example in ((_IDS, _COMMIT), (_BLOBS, _BLOB), (_PATHS, "beds/north.md"), (_MODES, "100644")):
        if field in names:
            return example
    known = _BY_NAME.get(field, "")
    return known if isinstance(known, str) else ""
