"""Contracts in a project's directory: saved over the text that was read, restored, and checked together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from forge.contracts import contract
from forge.contracts.check import check
from forge.contracts.contract_set import Contract, ContractSet, etag_of, text_of
from forge.contracts.errors import ContractChanged, ContractMalformed, VersionMissing
from forge.contracts.history import CONFIRMED, DRAFT, EDITOR, READS, RUN
from forge.contracts.kinds import FOLDER, ORDER, Finding, Kind
from forge.contracts.pins import current
from forge.git import ObjectId
from forge.git.objects.commits import message_with
from forge.projects.project import Project
from forge.projects.records import Read

_MOST_CHECKED = 256
_MALFORMED = "schema_mismatch"
_SHORT = 16
_CONFIRMATIONS = f"{FOLDER}/confirmed.yaml"


@dataclass(frozen=True, slots=True)
class Written:
    """How a contract came about, when a run wrote it."""

    run: str
    step: str
    reads: Mapping[Kind, str] = field(default_factory=dict)
    """Ids of the texts that it fetched."""
    draft: bool = False


def malformed(kind: Kind, text: str) -> tuple[Finding, ...]:
    """Why `text` cannot be saved as this contract; nothing where it can, with whatever findings."""
    parsed = contract.parse(kind, text)
    if not parsed.readable:
        return parsed.findings
    return tuple(each for each in parsed.findings if each.code == _MALFORMED)


def save(
    project: Project, kind: Kind, text: str, *, expected: str | None, editor: str = "", subject: str = ""
) -> Contract:
    """Commit `text` over the content with the etag `expected`; empty where there was none, None for whatever is there.

    Two people who began with the same text: the second one is refused and loses nothing.
    """
    _refuse_malformed(kind, text)
    clean = _ended(text)

    def change(read: Read) -> Mapping[str, str]:
        _refuse_changed(kind, read(kind.path), expected)
        return {kind.path: clean}

    trailers = {EDITOR: editor} if editor else None
    project.records.update(change, message_with(subject or f"contracts: edit {kind.value}", trailers))
    return current(project).whole(kind)


def save_written(project: Project, kind: Kind, text: str, written: Written, *, expected: str | None) -> Contract:
    """As `save`, by a run: once for all time, however often the run repeats it. A draft may miss its schema."""
    if not written.draft or not contract.parse(kind, text).readable:
        _refuse_malformed(kind, text)

    def change(read: Read) -> Mapping[str, str]:
        _refuse_changed(kind, read(kind.path), expected)
        return {kind.path: _ended(text)}

    reads = ", ".join(f"{each.value}@{written.reads[each][:_SHORT]}" for each in ORDER if each in written.reads)
    trailers = {RUN: written.run} | ({READS: reads} if reads else {}) | ({DRAFT: "yes"} if written.draft else {})
    message = message_with(f"contracts: generate {kind.value}", trailers)
    if project.records.update(change, message, step=written.step) is None:
        # The same text again: nothing to commit but that it follows from what there is now.
        known = message_with(f"contracts: confirm {kind.value}", trailers | {CONFIRMED: kind.value})
        line = f"{kind.value}: {written.run}\n"
        project.records.update(lambda read: {_CONFIRMATIONS: _replaced(read(_CONFIRMATIONS) or "", line)}, known)
    return current(project).whole(kind)


def _replaced(text: str, line: str) -> str:
    """One line for each contract."""
    name = line.partition(":")[0]
    return "".join(
        sorted([line, *(each for each in text.splitlines(keepends=True) if not each.startswith(f"{name}:"))])
    )


def restore(project: Project, kind: Kind, number: int, *, editor: str = "") -> Contract:
    """Make an earlier version the newest one."""
    found = current(project)
    version = found.history.version(kind, number)
    if version.blob is None:
        raise VersionMissing(f"Version {number} of {kind.value} is its deletion.", hint="Choose another version.")
    text = text_of(project.records.repository, version.blob)
    now = found.text(kind)
    subject = f"contracts: restore {kind.value} version {number}"
    return save(project, kind, text, expected="" if now is None else etag_of(now), editor=editor, subject=subject)


def findings_of(found: ContractSet, *, mini: bool = False) -> tuple[Finding, ...]:
    """What the check says. Remembered by the ids of the contents: a page of nine cards checks once."""
    key = (tuple(found.history.blobs.get(kind) for kind in ORDER), mini)
    with _lock:
        known = _checked.get(key)
    if known is not None:
        return known
    told = check(found.texts(), mini=mini)
    with _lock:
        _checked[key] = told
        while len(_checked) > _MOST_CHECKED:
            del _checked[next(iter(_checked))]
    return told


_checked: dict[tuple[tuple[ObjectId | None, ...], bool], tuple[Finding, ...]] = {}
_lock = Lock()


def _refuse_malformed(kind: Kind, text: str) -> None:
    told = malformed(kind, text)
    if told:
        first = told[0]
        more = f" There are {len(told) - 1} more findings." if len(told) > 1 else ""
        raise ContractMalformed(f"{first.file}, line {first.line}: {first.message}{more}", hint=first.hint)


def _refuse_changed(kind: Kind, now: str | None, expected: str | None) -> None:
    if expected is not None and expected != ("" if now is None else etag_of(now)):
        raise ContractChanged(
            f"{kind.value} was saved by somebody else meanwhile.",
            hint="Read it again, and put your changes into the newer text.",
        )


def _ended(text: str) -> str:
    """With line breaks as git keeps them, and one at the end."""
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"
