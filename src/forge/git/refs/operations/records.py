"""Operations as lines of the operation log: how they and their ends are written, read back and told from damage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from forge.git.process import liveness
from forge.git.refs.operations.operation import Operation, RefMove
from forge.git.values import Actor, ActorKind, Request

if TYPE_CHECKING:
    from forge.git.refs.operations.journal import Record

_ID = re.compile("[0-9a-f]{40}")
_LATEST = 1e12
"""Seconds. No clock shows more; what is no number at all is not less than it, either."""


def record_of(operation: Operation, mark: str | None = None) -> Record:
    request = operation.actor.request
    return {
        "id": operation.id,
        "time": operation.time,
        "actor": [operation.actor.kind, operation.actor.name],
        "reason": operation.reason,
        "moves": [[m.ref, m.before, m.after] for m in operation.moves],
        "undoes": operation.undoes,
        "by": mark or liveness.mark_of_this_process(),
    } | ({} if request is None else {"request": asdict(request)})


def operation_in(record: Record) -> Operation:
    kind, name = record["actor"]
    return Operation(
        record["id"],
        record["time"],
        Actor(ActorKind(kind), name, request=_request_in(record)),
        record["reason"],
        tuple(RefMove(ref, before, after) for ref, before, after in record["moves"]),
        record.get("undoes"),
    )


def _request_in(record: Record) -> Request | None:
    """None in records of earlier versions, and where it is damaged: the move counts all the same."""
    match record.get("request"):
        case {"user": str(user), "key": str() | None as key, "action": str(action), "detail": str(detail)}:
            return Request(user, key, action, detail)
    return None


def understood(record: Record) -> bool:
    """Whether a line is one of ours and whole: a disk or an editor may have damaged it."""
    match record:
        case {"id": str(), "time": int() | float(), "actor": [str(kind), str()], "reason": str(), "by": str()}:
            moves, undoes = record.get("moves"), record.get("undoes")
            known = kind in set(ActorKind) and isinstance(undoes, str | None) and abs(record["time"]) < _LATEST
            return known and isinstance(moves, list) and all(map(_is_move, moves))
        case {"end": str(), "happened": bool()}:
            return isinstance(record.get("only", []), list)
        case {"branches": dict(places)}:
            return all(map(_is_place, places.values()))
        case {"seen": dict(seen), "open": list(begun)}:
            return all(map(_is_place, seen.values())) and all(isinstance(b, dict) and understood(b) for b in begun)
    return False


def _is_move(move: object) -> bool:
    match move:
        case [str(ref), before, after]:
            return "\0" not in ref and _is_place(before) and _is_place(after)
    return False


def _is_place(at: object) -> bool:
    return at is None or (isinstance(at, str) and _ID.fullmatch(at) is not None)


def verdict(operation: Operation, moves: Sequence[RefMove]) -> Record:
    """A crash in the middle of several moves leaves some of them done; these are what the operation was."""
    partly = 0 < len(moves) < len(operation.moves)
    only = {"only": [m.ref for m in moves]} if partly else {}
    return {"end": operation.id, "happened": bool(moves)} | only


def moves_that_happened(operation: Operation, end: Record) -> tuple[RefMove, ...]:
    if not end["happened"]:
        return ()
    return tuple(m for m in operation.moves if m.ref in end.get("only", [m.ref]))
