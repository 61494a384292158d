"""What to write and remove so that a directory holds what is wanted, by the size of the difference."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forge.git.materialize.links import Spelling, complaints
from forge.git.materialize.wanted import Wanted, complaint, file_in, listing, path_complaint
from forge.git.objects import trees
from forge.git.objects.tree_diff import changed_entries

if TYPE_CHECKING:
    from forge.git.materialize.manifest import Held
    from forge.git.objects.object_store import Objects
    from forge.git.values import Entry, ObjectId

_WEIRD = "a name that no file can have"


@dataclass(slots=True)
class Plan:
    write: dict[str, Entry] = field(default_factory=dict)
    remove: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def put(self, path: str, entry: Entry | None) -> None:
        """Make `path` hold `entry`; what is skipped is not there, but a submodule leaves an empty folder."""
        if entry is None or (path in self.skipped and not entry.is_submodule):
            self.remove.add(path)
        else:
            self.write[path] = entry


def anew(
    objects: Objects, wanted: Wanted, have: Mapping[str, Entry], leftovers: AbstractSet[str], spelling: Spelling
) -> Plan:
    """The plan by going through every file."""
    found = listing(objects, wanted, spelling)
    plan = Plan(skipped=dict(found.skipped))
    for path, entry in found.files.items():
        if why := complaint(path, entry):
            plan.skipped[path] = why
        elif entry.is_symlink:
            plan.links[path] = _target(objects, wanted, path, entry.id)
    plan.skipped |= complaints(plan.links, spelling)
    for path, entry in found.files.items():
        if have.get(path) != entry or path in leftovers or path in plan.skipped:
            plan.put(path, entry)
    plan.remove |= (have.keys() | leftovers) - found.files.keys()
    return plan


def update(objects: Objects, held: Held, wanted: Wanted, leftovers: AbstractSet[str], spelling: Spelling) -> Plan:
    """The plan by comparing trees: only folders that differ are read."""
    changed = {path: new for path, _, new in changed_entries(objects, held.tree, wanted.tree)}
    plan = Plan(links=dict(held.links), skipped=dict(held.skipped))
    targets: dict[str, Entry | None] = {}
    for path in changed.keys() | held.own.keys() | wanted.pending.keys() | leftovers:
        entry = targets[path] = wanted.entry(objects, path)
        plan.links.pop(path, None)
        plan.skipped.pop(path, None)
        if entry is None:
            # A slash inside a name looks like a folder only as long as nobody follows it.
            if changed.get(path) and path not in wanted.pending:
                plan.skipped[path] = _WEIRD
        elif why := path_complaint(path) or complaint(path, entry):
            plan.skipped[path] = why
        elif entry.is_symlink:
            plan.links[path] = _target(objects, wanted, path, entry.id)
    if plan.links != held.links or not plan.links.keys().isdisjoint(targets):
        targets |= _judge_links(objects, wanted, plan, held, spelling)
    for path, entry in targets.items():
        if path in leftovers or _shown(path, entry, plan.skipped) != had(objects, held, path):
            plan.put(path, entry)
    return plan


def _judge_links(
    objects: Objects, wanted: Wanted, plan: Plan, held: Held, spelling: Spelling
) -> dict[str, Entry | None]:
    """Symlinks whose safety turned, because another one on their way changed."""
    verdicts = complaints(plan.links, spelling)
    turned = [path for path in plan.links if (path in verdicts) != (path in held.skipped)]
    for path in plan.links:
        plan.skipped.pop(path, None)
    plan.skipped |= verdicts
    return {path: wanted.entry(objects, path) for path in turned}


def had(objects: Objects, held: Held, path: str) -> Entry | None:
    """The file, symlink or submodule that the directory should hold at `path`."""
    entry = held.own[path] if path in held.own else file_in(objects, held.tree, path)
    return _shown(path, entry, held.skipped)


def _shown(path: str, entry: Entry | None, skipped: Mapping[str, str]) -> Entry | None:
    """What of an entry is really in the directory."""
    return None if entry is None or (path in skipped and not entry.is_submodule) else entry


def _target(objects: Objects, wanted: Wanted, path: str, oid: ObjectId) -> str:
    new = wanted.pending.get(path)
    return trees.decode(new.data if new is not None and new.data is not None else objects.blob(oid))
