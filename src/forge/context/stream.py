"""The prompt as a stream that only grows: what came before stays byte for byte, so that providers' caches hit.

Items of a turn are fixed once made. Large blocks are stored as references and rendered again, the same, from the
repository. Text that was replaced stays where it is until the stream begins anew, at a re-basing or a compaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from forge.context import compaction, tokens
from forge.context.changes import changes_text
from forge.context.file_order import words_of
from forge.context.files import Shown, file_text
from forge.context.instructions import entry_at, instruction_files, skills, skills_text
from forge.context.overview import Asked, Overview, overview
from forge.context.seen import Seen, SeenFile
from forge.context.source import ContextSettings, Source
from forge.context.summaries import printable
from forge.context.summary_cache import FORMAT
from forge.git import VFS, GitCommitVFS, Mode, ObjectId, WorkInProgressVFS
from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.json_value import Json
from forge.sessions.conversation import read_head
from forge.sessions.head import Head
from forge.sessions.messages import ContextMessage, Message
from forge.sessions.turns import Item, Reference

View = GitCommitVFS | WorkInProgressVFS

_WHY = {
    "active": "",
    "instructions": "Instructions of this repository:",
    "changed": "This replaces the earlier text of the file:",
}
_UNLISTED = "The files of the branch cannot be listed here. Ask for single folders instead.\n"
_UNKNOWN = "[A piece of context that this version of Forge cannot show was here.]\n"


@dataclass(frozen=True, slots=True)
class Addition:
    """What to append: `items` to the session, `messages` to the prompt. `seen` goes into the session as well."""

    items: tuple[Item, ...]
    messages: tuple[Message, ...]
    seen: Seen


def opening(vfs: View, source: Source, settings: ContextSettings, *, message: str = "") -> Addition:
    """The first blocks of a conversation: overview, skills, instructions, active files in the order they came in.

    The overview is chosen here, for `message` too, and stays what it is until the stream begins anew.
    """
    head = read_head(vfs)
    tree = _tree(vfs)
    near = tuple(sorted({file.path for file in head.active_files}))
    asked = Asked(settings.overview_tokens, near, settings.exclude, words_of(source.redact(message)))
    try:
        made = overview(source.objects, tree, asked, source.summaries, source.redact, budget_seconds=settings.seconds)
    except (RevisionMissing, RepositoryUnreadable):  # a tree made to exhaust memory, or damaged
        made = Overview(_UNLISTED, summarised=0, complete=False, files=0)
    reference = Reference(
        {
            "kind": "overview",
            "tree": tree,
            "budget": asked.budget,
            "near": list(asked.near),
            "words": list(asked.words),
            "exclude": list(asked.exclude),
            "summarised": made.summarised,
            "format": FORMAT,
        }
    )
    source.rendered.put(_key(reference), ContextMessage(made.text, kind="overview"))
    items: list[Item] = [reference]
    listed = skills_text(skills(vfs), source.redact)
    if listed:
        items.append(ContextMessage(listed, kind="skills"))
    blocks, seen = _files(vfs, Seen(tree, {}, _mark(listed)), head, source, settings, edits=True)
    return _addition([*items, *blocks], seen, source)


def changes_since(
    vfs: View, seen: Seen, source: Source, settings: ContextSettings, *, edits: bool = True, message: str = ""
) -> Addition:
    """What to append before the next message: changed files, files that came into or left the context.

    Within a turn the model knows its own edits: with `edits` off only what came in or left is told, the rest waits.
    """
    if seen.tree is None:
        return opening(vfs, source, settings, message=message)
    head = read_head(vfs)
    items: list[Item] = []
    tree = _tree(vfs)
    if edits and tree != seen.tree:
        told = {file.path for file in head.active_files} | set(seen.files)
        text = changes_text(seen.tree, tree, told, source, settings)
        if text:
            items.append(ContextMessage(text, kind="changes"))
        listed = skills_text(skills(vfs), source.redact)
        if _mark(listed) != seen.skills:
            items.append(ContextMessage(listed or "There are no skills any more.\n", kind="skills"))
        seen = replace(seen, tree=tree, skills=_mark(listed))
    blocks, seen = _files(vfs, seen, head, source, settings, edits=edits)
    return _addition([*items, *blocks], seen, source)


def render(reference: Reference, source: Source) -> ContextMessage:
    """The block that a reference stands for: the same text each time, or a note if what it needs is gone."""
    key = _key(reference)
    known = source.rendered.get(key)
    if known is None:
        known = _rendered(reference.data, source)
        source.rendered.put(key, known)
    return known


def stream(
    items: Iterable[Item], source: Source, *, earlier: Callable[[], Sequence[Message]] = tuple
) -> tuple[Message, ...]:
    """The messages of a prompt. `earlier` gives what was said before `items`, should they begin the stream anew."""
    sent: list[Message] = []
    said: list[Message] = []
    carried: list[Message] = []
    for item in items:
        if not isinstance(item, Reference):
            sent.append(item)
            said.append(item)
        elif item.data.get("kind") == "begin":
            carried = [*earlier(), *said]
            sent = []
        elif item.data.get("kind") == "carried":
            sent += _carried(carried, item.data)
        else:
            sent.append(render(item, source))
    return tuple(sent)


def superseded_tokens(items: Iterable[Item], seen: Seen) -> int:
    """How much of the stream is text of files that has been replaced or is no longer in context."""
    taken = 0
    current: dict[str, int] = {}
    for item in items:
        if not isinstance(item, Reference) or item.data.get("kind") not in ("file", "begin"):
            continue
        data = item.data
        if data["kind"] == "begin":
            taken, current = 0, {}
            continue
        path, size = data["path"], tokens.of_bytes(data.get("bytes", 0))
        taken += current.pop(path, 0)
        if path in seen.files:
            current[path] = size
        else:
            taken += size
    return taken


def rebase_due(items: Iterable[Item], seen: Seen, window: int, settings: ContextSettings) -> bool:
    return superseded_tokens(items, seen) > window * settings.superseded_share


def rebase(
    vfs: View,
    said: Sequence[Message],
    source: Source,
    settings: ContextSettings,
    *,
    limit: int | None = None,
    message: str = "",
) -> Addition:
    """Begin the stream anew: the present overview and files, then the conversation, within `limit` tokens if given.

    `said` is the whole conversation so far; `messages` of the result is the whole new stream.
    """
    fresh = opening(vfs, source, settings, message=message)
    carried: Json = {"kind": "carried", "keep": settings.keep_turns}
    if limit is not None:
        carried["limit"] = max(limit - compaction.taken_by(fresh.messages), limit // 4)
    items = (Reference({"kind": "begin"}), *fresh.items, Reference(carried))
    return Addition(items, (*fresh.messages, *_carried(said, carried)), fresh.seen)


def _carried(said: Sequence[Message], data: Json) -> tuple[Message, ...]:
    """The conversation without its blocks of context: the stream has just begun with the present ones."""
    spoken = compaction.completed([message for message in said if not isinstance(message, ContextMessage)])
    if "limit" not in data:
        return spoken
    keep = int(data.get("keep", compaction.KEEP))
    return compaction.compacted(spoken, limit=int(data["limit"]), keep=keep).messages


def _files(
    vfs: View, seen: Seen, head: Head, source: Source, settings: ContextSettings, *, edits: bool
) -> tuple[list[Item], Seen]:
    """Blocks of files that are new in context or differ from what was shown, and lines about those that left."""
    known = dict(seen.files)
    wanted = {file.path: (file.ranges, "active") for file in head.active_files}
    told = instruction_files(vfs, wanted, names=settings.instructions, off=head.off)
    wanted = dict.fromkeys(told, ((), "instructions")) | {path: how for path, how in wanted.items() if path not in told}
    items: list[Item] = []
    for path, (ranges, why) in wanted.items():
        entry = entry_at(vfs, path)
        now = SeenFile(entry.id if entry is not None else None, ranges)
        before = known.get(path)
        if before == now or (before is not None and before.ranges == now.ranges and not edits):
            continue
        mode = entry.mode if entry is not None else Mode.FILE
        shown = Shown(path, now.blob, ranges, mode, settings.file_tokens)
        items.append(_block(vfs, shown, "changed" if before is not None else why, source))
        known[path] = now
    gone = [p for p in known if p not in wanted and (p in head.off or not _stays(vfs, p, settings))]
    if gone:
        names = ", ".join(map(printable, gone))
        text = f"No longer in context, and not kept up to date here: {names}.\n"
        items.append(ContextMessage(source.redact(text), kind="changes"))
    return items, replace(seen, files={path: file for path, file in known.items() if path not in gone})


def _stays(vfs: VFS, path: str, settings: ContextSettings) -> bool:
    """Instructions that came with a file stay when it leaves: taking them away helps nobody."""
    return path.rpartition("/")[2] in settings.instructions and vfs.file_exists(path)


def _block(vfs: View, shown: Shown, why: str, source: Source) -> Reference:
    data: Json = {"kind": "file", "path": shown.path, "blob": shown.blob, "why": why, "limit": shown.limit}
    if shown.ranges:
        data["ranges"] = [list(lines) for lines in shown.ranges]
    if shown.mode != Mode.FILE:
        data["mode"] = shown.mode
    content = _unwritten(vfs, shown)
    text = file_text(shown, source.objects, source.redact, note=_WHY[why], data=content)
    if content is not None:  # this state of the file may never be committed, so it cannot be looked up later
        data["text"] = text
    data["bytes"] = tokens.size(text)
    reference = Reference(data)
    source.rendered.put(_key(reference), ContextMessage(text, kind=_message_kind(data)))
    return reference


def _unwritten(vfs: View, shown: Shown) -> bytes | None:
    if isinstance(vfs, WorkInProgressVFS):
        new = vfs.pending.get(shown.path)
        if new is not None and new.data is not None:
            return new.data
    return None


def _rendered(data: Json, source: Source) -> ContextMessage:
    match data.get("kind"):
        case "overview":
            return ContextMessage(_overview_text(data, source), kind="overview")
        case "file" if "text" in data:
            return ContextMessage(data["text"], kind=_message_kind(data))
        case "file":
            ranges = tuple((first, last) for first, last in data.get("ranges", ()))
            shown = Shown(data["path"], data["blob"], ranges, data.get("mode", Mode.FILE), data["limit"])
            text = file_text(shown, source.objects, source.redact, note=_WHY.get(data["why"], ""))
            return ContextMessage(text, kind=_message_kind(data))
        case _:
            return ContextMessage(_UNKNOWN)


def _overview_text(data: Json, source: Source) -> str:
    asked = Asked(data["budget"], tuple(data["near"]), tuple(data["exclude"]), tuple(data.get("words", ())))
    tree = ObjectId(data["tree"])
    try:
        return overview(source.objects, tree, asked, source.summaries, source.redact, summarise=data["summarised"]).text
    except (RevisionMissing, RepositoryUnreadable):
        return _UNLISTED


def _message_kind(data: Json) -> str:
    return "instructions" if data["why"] == "instructions" else "file"


def _addition(items: Sequence[Item], seen: Seen, source: Source) -> Addition:
    messages = tuple(render(item, source) if isinstance(item, Reference) else item for item in items)
    return Addition(tuple(items), messages, seen)


def _tree(vfs: View) -> ObjectId:
    """What is committed: only that can be looked up again later."""
    return vfs.base_tree if isinstance(vfs, WorkInProgressVFS) else vfs.tree


def _key(reference: Reference) -> str:
    return json.dumps(reference.data, sort_keys=True)


def _mark(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16] if text else ""
