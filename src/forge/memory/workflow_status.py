"""WORKFLOW-STATUS.yaml: the initiative in short, for people and other tools.

What others wrote stays in its form: comments, order, quotes, unknown keys, and their names for Forge's keys.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import yaml

from forge.memory.encoding import FOREIGN_TYPE, Unreadable, milestones_of, progress_of
from forge.memory.values import LONG_AGO, Initiative, Milestone, MilestoneStatus, Status, moment, parsed_moment

# How other programs call what Forge calls by the first name.
_NAMES = {
    "initiative": ("id",),
    "title": ("name",),
    "phase": ("currentPhase", "current_phase"),
    "milestone": ("currentMilestone", "current_milestone"),
    "lastUpdated": ("last_updated", "updated", "timestamp"),
}
_ANOTHERS = ("name", "milestone", *_NAMES["milestone"])
_LIST = re.compile(r"^( *)[^\s#-][^\n]*:[ \t]*\n(?: *\n)*( *)- ", re.MULTILINE)


def status_text(value: Initiative, before: str = "") -> str:
    """The file for `value`, with what others wrote into it `before`."""
    known = _known(value)
    try:
        loaded = _loaded(before)
        text = _updated(before, loaded, known, value)
        if _is_kept(loaded, _loaded(text)):
            return text
    except Unreadable:
        pass  # what was there is no mapping: it cannot be kept in its own form
    return yaml.safe_dump(known, sort_keys=False, allow_unicode=True, width=1000)


def parsed_status(data: bytes) -> Initiative | None:
    """None for a file that tells of no initiative: it is somebody else's so far."""
    try:
        raw = _body(_loaded(data.decode()))
        named = _key(raw, "initiative") is not None
        if not named and not ("status" in raw and any(key in raw for key in _ANOTHERS)):
            return None
        status = str(raw["status"]).strip().lower().replace("-", "_").replace(" ", "_")
        if not named and status not in set(Status):
            return None
        return Initiative(
            id=_text(raw, "initiative"),
            title=_text(raw, "title"),
            type=str(raw.get("type") or ("" if "counter" in raw else FOREIGN_TYPE)),
            status=Status(status),
            phase=_text(raw, "phase"),
            completed_phase=str(raw.get("completedPhase", "")),
            context=str(raw.get("context", "")),
            milestone=_text(raw, "milestone"),
            milestones=_milestones(raw),
            reason=str(raw.get("reason", "")),
            outcome=str(raw.get("outcome", "")),
            updated=parsed_moment(raw.get(_key(raw, "lastUpdated") or "", LONG_AGO)),
            counter=int(raw.get("counter", 0)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise Unreadable(f"a value in it cannot be used ({e})") from e


def _milestones(raw: Mapping[str, Any]) -> tuple[Milestone, ...]:
    listed = tuple(
        Milestone(str(each["id"]), str(each.get("title", "")), MilestoneStatus(each["status"]))
        for each in raw.get("milestones") or ()
    )
    return listed or milestones_of(raw.get("progress"))


def _known(value: Initiative) -> dict[str, Any]:
    return {
        "initiative": value.id,
        "title": value.title,
        "type": value.type,
        "status": value.status.value,
        "phase": value.phase,
        "completedPhase": value.completed_phase,
        "context": value.context,
        "milestone": value.milestone,
        "milestones": [{"id": each.id, "title": each.title, "status": each.status.value} for each in value.milestones],
        "reason": value.reason,
        "outcome": value.outcome,
        "lastUpdated": moment(value.updated),
        "counter": value.counter,
    }


def _updated(before: str, loaded: Mapping[str, Any], known: Mapping[str, Any], value: Initiative) -> str:
    """`before` with the values of `known`, each where it is there; what is new comes last."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only a file that exists needs it
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    if not loaded and not before.strip(" \n{}-"):
        raise Unreadable("there is nothing to keep")
    form = YAML()
    form.preserve_quotes = True
    form.width = 1_000_000
    form.explicit_start = before.startswith("---")
    if listed := _LIST.search(before):
        offset = len(listed[2]) - len(listed[1])
        form.indent(sequence=offset + 2, offset=offset)
    try:
        document = form.load(before)
        if not isinstance(document, dict):
            raise Unreadable("it holds no keys")
        body, was = _body(document), _body(loaded)
        if milestones_of(was.get("progress")) and "milestones" not in was:
            known = {name: item for name, item in known.items() if name != "milestones"}
        for name, item in known.items():
            key = _key(was, name) or name
            if key not in was or not _is_same(was[key], item):
                body[key] = item
        if isinstance(progress := was.get("progress"), dict):
            new = progress_of(progress, value)
            body["progress"].update({key: item for key, item in new.items() if progress.get(key) != item})
        written = io.StringIO()
        form.dump(document, written)
    except (YAMLError, ValueError, TypeError, RecursionError) as e:
        raise Unreadable("its form cannot be kept") from e
    return written.getvalue()


def _is_same(was: object, item: object) -> bool:
    """Whether the file says so already, in its own spelling."""
    if isinstance(was, str) and isinstance(item, str):
        return was == item or was.strip().lower().replace("-", "_").replace(" ", "_") == item
    try:
        return was == item or (isinstance(item, str) and parsed_moment(was) == parsed_moment(item))
    except ValueError:
        return False


def _is_kept(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether no key of others is gone or changed."""
    ours = {*_known_names(), "progress"}
    old, new = _body(before), _body(after)
    return all(new.get(key) == item for key, item in old.items() if key not in ours) and all(
        after.get(key) == item for key, item in before.items() if key not in ours
    )


def _known_names() -> set[str]:
    given = {"type", "status", "completedPhase", "context", "milestones", "reason", "outcome", "counter"}
    return given.union(_NAMES, *_NAMES.values())


def _body(raw: Mapping[str, Any]) -> Any:
    """The keys of the initiative: those of the file, or those below `initiative`."""
    inner = raw.get("initiative")
    return inner if isinstance(inner, dict) else raw


def _key(raw: Mapping[str, Any], name: str) -> str | None:
    return next((key for key in (name, *_NAMES.get(name, ())) if key in raw), None)


def _text(raw: Mapping[str, Any], name: str) -> str:
    return str(raw.get(_key(raw, name) or "") or "")


def _loaded(text: str) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        raise Unreadable("it is no YAML") from e
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise Unreadable("it holds no keys")
    return raw
