"""Contracts in a project: every save a version, edits over what was read, pinned sets that no later change reaches."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from forge.contracts import documents, pins
from forge.contracts import history as contract_history
from forge.contracts.contract_set import etag_of
from forge.contracts.documents import Written, save, save_written
from forge.contracts.errors import (
    BatchMissing,
    ContractChanged,
    ContractMalformed,
    ContractMissing,
    PhaseMissing,
    PhasesWhole,
    VersionMissing,
)
from forge.contracts.history import history, walked
from forge.contracts.history_index import Index
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.pins import current, pin, pinned
from forge.contracts.templates import template
from forge.projects.project import Project
from forge.projects.workspace import Workspace
from tests.conftest import Git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Workspace(tmp_path / "work").create("Garden", now=datetime.now(UTC))


def write_all(project: Project) -> None:
    for kind in ORDER:
        save(project, kind, template(kind), expected="")


@pytest.mark.req("C-05")
def test_each_save_is_a_version_and_a_commit(project: Project, git: Git) -> None:
    first = save(project, Kind.MANIFESTO, template(Kind.MANIFESTO), expected="", editor="Ada")
    longer = template(Kind.MANIFESTO) + "\n## More\n\nAnd more.\n"
    second = save(project, Kind.MANIFESTO, longer, expected=first.etag)
    same = save(project, Kind.MANIFESTO, longer, expected=second.etag)
    assert (first.version, second.version, same.version) == (1, 2, 2)
    versions = current(project).history.versions[Kind.MANIFESTO]
    assert [(each.number, each.author, each.origin) for each in versions] == [
        (2, "Forge", "person"),
        (1, "Ada", "person"),
    ]
    assert git(project.directory, "rev-parse", "HEAD") == second.commit
    assert (project.directory / "contracts/manifesto.md").read_text() == longer
    assert git(project.directory, "status", "--porcelain") == ""
    with pytest.raises(VersionMissing, match="version 3"):
        current(project).history.version(Kind.MANIFESTO, 3)


@pytest.mark.req("C-05")
def test_edits_by_hand_deletions_and_restores_are_versions_too(project: Project) -> None:
    save(project, Kind.STACK, template(Kind.STACK), expected="")
    file = project.directory / "contracts/stack.md"
    file.write_text("# Stack by hand\n")
    assert current(project).whole(Kind.STACK).version == 2
    file.unlink()
    gone = current(project)
    assert gone.text(Kind.STACK) is None
    assert gone.whole(Kind.STACK).source == "template"
    with pytest.raises(VersionMissing, match="deletion"):
        documents.restore(project, Kind.STACK, 3)
    back = documents.restore(project, Kind.STACK, 1)
    assert (back.version, back.content) == (4, template(Kind.STACK))
    (project.directory / "contracts" / "notes.txt").write_text("not a contract")
    assert current(project).whole(Kind.STACK).version == 4


def test_two_people_with_the_same_text_never_lose_a_word(project: Project) -> None:
    started = save(project, Kind.UI, template(Kind.UI), expected="").etag
    mine, theirs = (template(Kind.UI) + f"\n## {name}\n\nText of {name}.\n" for name in ("Ada", "Ben"))
    saved = save(project, Kind.UI, mine, expected=started)
    with pytest.raises(ContractChanged):
        save(project, Kind.UI, theirs, expected=started)
    assert current(project).text(Kind.UI) == mine
    joined = mine + theirs.removeprefix(template(Kind.UI))
    save(project, Kind.UI, joined, expected=saved.etag)
    with pytest.raises(ContractChanged):
        save(project, Kind.UI, template(Kind.UI), expected="")


def test_of_many_at_once_exactly_one_is_saved(project: Project) -> None:
    started = save(project, Kind.UI, template(Kind.UI), expected="").etag
    outcomes: list[str] = []

    def edit(name: str) -> None:
        try:
            own = Project.at(project.directory)
            save(own, Kind.UI, template(Kind.UI) + f"\n## {name}\n\nText.\n", expected=started)
            outcomes.append("saved")
        except ContractChanged:
            outcomes.append("refused")

    threads = [threading.Thread(target=edit, args=(f"Person {n}",)) for n in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == ["refused"] * 5 + ["saved"]
    assert current(project).whole(Kind.UI).version == 2


def malformed() -> list[tuple[Kind, str]]:
    physics, boundaries = template(Kind.PHYSICS), template(Kind.BOUNDARIES)
    found = [(Kind.BOUNDARIES, boundaries[:end].rstrip() or "{") for end in range(1, len(boundaries) - 2, 6)][:120]
    wrong: list[object] = [7, "text", [], None, True, {"x": 1}]
    for kind, loaded in ((Kind.BOUNDARIES, json.loads(boundaries)), (Kind.PHYSICS, yaml.safe_load(physics))):
        for name in loaded:
            if name not in ("security", "invariants"):
                changed = [loaded | {name: each} for each in wrong if type(each) is not type(loaded[name])]
                found += [(kind, json.dumps(each)) for each in changed]
    lines = physics.splitlines()
    found += [
        (Kind.PHYSICS, "\n".join([*lines[:at], lines[at], lines[at], *lines[at + 1 :]])) for at in (0, 1, 3, 4, 5)
    ]
    tricks = ["&a ", "*a ", "!!set ", "\t- ", "}", "[", '"', "? [a]: "]
    found += [
        (Kind.PHYSICS, "\n".join([*lines[:at], f"x: {trick}", *lines[at:]])) for at in range(2, 18) for trick in tricks
    ]
    huge = [(kind, "x" * (kind.largest + 1)) for kind in ORDER]
    empty = [(kind, text) for kind in ORDER for text in ("", " \n\n", "a\0b", "a\ufffdb")]
    bombs = [
        (Kind.PHYSICS, "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(count)))
        for count in range(1, 6)
    ]
    return [*found, *huge, *empty, *bombs]


@pytest.mark.req("C-02")
def test_three_hundred_malformed_documents_get_a_finding_and_nothing_is_written(project: Project, git: Git) -> None:
    cases = malformed()
    assert len(cases) >= 300
    before = git(project.directory, "rev-parse", "HEAD")
    for kind, text in cases:
        with pytest.raises(ContractMalformed) as refused:
            save(project, kind, text, expected="")
        assert kind.file in refused.value.message, text
        assert refused.value.hint
    assert git(project.directory, "rev-parse", "HEAD") == before
    assert git(project.directory, "status", "--porcelain") == ""
    assert not (project.directory / "contracts").exists()


@pytest.mark.req("C-05")
def test_a_pinned_set_never_sees_a_later_change(project: Project, git: Git) -> None:
    write_all(project)
    held = pin(project)
    assert (held.batch, held.project) == (1, project.id)
    assert held.pinned_at == pytest.approx(time.time(), abs=60)
    save(project, Kind.MANIFESTO, "# Other\n", expected=None)
    folder = project.directory / "contracts"
    (folder / "stack.md").rename(folder / "stack-old.md")
    (folder / "schema.md").unlink()
    later = pin(project)
    assert later.batch == 2
    # A rewritten history without any contract, and all that nothing holds thrown away.
    first = git(project.directory, "rev-list", "--max-parents=0", "HEAD")
    git(project.directory, "reset", "--hard", "--quiet", first)
    git(project.directory, "reflog", "expire", "--expire=now", "--all")
    git(project.directory, "gc", "--quiet", "--prune=now")
    again = pinned(Project.at(project.directory), 1)
    for seen in (held, again):
        assert {kind: seen.whole(kind).content for kind in ORDER} == {kind: template(kind) for kind in ORDER}
        assert all(seen.whole(kind).source == "pinned" and seen.whole(kind).version == 1 for kind in ORDER)
    assert again.pinned_at == held.pinned_at
    assert pinned(project, 2).whole(Kind.SCHEMA).source == "template"
    assert current(Project.at(project.directory)).kinds() == ()
    with pytest.raises(BatchMissing):
        pinned(project, 3)


def test_a_commit_is_pinned_once(project: Project) -> None:
    with pytest.raises(ContractMissing):
        pin(project)
    write_all(project)
    assert [pin(project).batch, pin(project).batch] == [1, 1]
    (project.directory / "docs").mkdir(exist_ok=True)
    (project.directory / "docs" / "other.md").write_text("No contract.\n")
    assert pin(project).batch == 1
    save(project, Kind.UI, template(Kind.UI) + "\n## More\n\nx\n", expected=None)
    assert pin(project).batch == 2
    assert list(pins.batches(project)) == [1, 2]


@pytest.mark.req("C-06")
def test_a_set_is_read_by_summary_window_and_single_contracts(project: Project) -> None:
    assert current(project).contract(Kind.STACK).source == "template"
    with pytest.raises(ContractMissing):
        current(project).window(0)
    write_all(project)
    found = current(project)
    assert found.contract(Kind.STACK).source == "project"
    with pytest.raises(PhasesWhole, match="too much") as refused:
        found.contract(Kind.PHASES)
    assert "window" in refused.value.hint
    assert [line for line in found.window(0).splitlines() if line.startswith("## ")] == [
        "## Phase 0 — Foundation",
        "## Phase 1 — Tasks",
    ]
    assert [line for line in found.window(3).splitlines() if line.startswith("## ")] == ["## Phase 3 — Board"]
    for wrong in (-1, 4, -7):
        with pytest.raises(PhaseMissing):
            found.window(wrong)
    summary = found.summary()
    assert summary.layers == ("routers", "services", "repos", "clients")
    assert summary.invariants[0].startswith("Every query")
    lines = {each.contract_type: each.line for each in summary.contracts}
    assert lines[Kind.SCHEMA] == "3 entities: User, Task, Comment"
    assert lines[Kind.PHYSICS] == "4 endpoints: listTasks, createTask, updateTask, deleteTask"
    assert lines[Kind.PHASES] == "0 Foundation; 1 Tasks; 2 Comments; 3 Board"
    assert all(each.version == 1 and each.size_chars > 500 for each in summary.contracts)


def test_a_contract_is_stale_when_one_that_its_writer_fetched_has_another_text(project: Project) -> None:
    write_all(project)
    texts = {kind: template(kind) + "\n## Generated\n\nYes.\n" for kind in (Kind.STACK, Kind.SCHEMA)}
    reads = {Kind.BLUEPRINT: str(current(project).history.blobs[Kind.BLUEPRINT])}
    written = Written("run-1", "run-1/stack", reads=reads)
    save_written(project, Kind.STACK, texts[Kind.STACK], written, expected=None)
    save_written(project, Kind.STACK, "ignored: this step is done\n", written, expected=None)
    assert current(project).text(Kind.STACK) == texts[Kind.STACK]
    assert not current(project).history.is_stale(Kind.STACK)
    save(project, Kind.MANIFESTO, "# Not fetched\n", expected=None)
    assert not current(project).history.is_stale(Kind.STACK)
    before = current(project).text(Kind.BLUEPRINT) or ""
    save(project, Kind.BLUEPRINT, before + "\n## New\n\nx\n", expected=etag_of(before))
    assert current(project).history.is_stale(Kind.STACK)
    assert not current(project).history.is_stale(Kind.SCHEMA)
    # The earlier text is back, so what was read is what there is.
    documents.restore(project, Kind.BLUEPRINT, 1)
    assert not current(project).history.is_stale(Kind.STACK)
    newest = current(project).history.newest(Kind.STACK)
    assert newest is not None
    assert (newest.origin, newest.draft) == ("generated", False)


@pytest.mark.slow
def test_a_project_of_500_versions_opens_as_fast_as_one_of_5(tmp_path: Path) -> None:
    places = {count: _with_versions(tmp_path / str(count), count) for count in (5, 500)}

    def opened(directory: Path) -> float:
        project = Project.at(directory)
        began = _cpu()
        found = current(project)
        assert found.whole(Kind.MANIFESTO).version == len(found.history.versions[Kind.MANIFESTO])
        assert len(found.summary().contracts) == 9
        return _cpu() - began

    for directory in places.values():
        opened(directory)
    # Turn by turn and in time of the processor, so that whatever else the machine does changes neither.
    warm: dict[int, list[float]] = {count: [] for count in places}
    for _ in range(25):
        for count, directory in places.items():
            warm[count].append(opened(directory))
    assert min(warm[500]) <= 1.3 * min(warm[5]), warm
    another = _with_versions(tmp_path / "another", 2)
    cold: dict[int, list[float]] = {count: [] for count in places}
    for _ in range(7):
        for count, directory in places.items():
            cold[count].append(_opened_by_a_new_process(directory, another))
    assert min(cold[500]) <= 1.3 * min(cold[5]), cold
    known = history(Project.at(places[500]).records.repository, Project.at(places[500]).records.tip())
    assert len(known.versions[Kind.MANIFESTO]) == 500
    repository = Project.at(places[500]).records.repository
    tip = known.commit
    assert tip is not None
    assert walked(repository, tip) == known


def _cpu() -> float:
    """Seconds of this process and of the commands that it waited for."""
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


_OPEN = """
import resource, sys
from pathlib import Path
from forge.contracts.pins import current
from forge.projects.project import Project
def cpu():
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
current(Project.at(Path(sys.argv[2]))).summary()
project = Project.at(Path(sys.argv[1]))
began = cpu()
listed = current(project).summary().contracts
print(cpu() - began)
assert listed[0].version in (5, 500)
"""


def _opened_by_a_new_process(directory: Path, another: Path) -> float:
    """Seconds for its summary, with nothing known of this project; `another` makes it load its code before."""
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(directory), str(another)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def test_the_index_is_read_by_a_new_process_and_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = _with_versions(tmp_path, 40)
    repository = Project.at(directory).records.repository
    place = repository.common_dir / "forge/contract-history.json"
    contract_history._known.clear()
    whole = current(Project.at(directory)).history
    assert place.exists()
    contract_history._known.clear()
    with monkeypatch.context() as patched:
        patched.setattr(contract_history, "walked", lambda *_: pytest.fail("no commit is read"))
        assert current(Project.at(directory)).history == whole
    contract_history._known.clear()
    with monkeypatch.context() as patched:
        patched.setattr(Index, "rows", lambda _: pytest.fail("the head is enough"))
        assert current(Project.at(directory)).summary().contracts[0].version == 40
        assert not current(Project.at(directory)).history.is_stale(Kind.UI)
    project = Project.at(directory)
    save(project, Kind.UI, template(Kind.UI) + "\n## More\n\nx\n", expected=None)
    contract_history._known.clear()
    assert current(project).whole(Kind.UI).version == 2, "what came after the index is read from the commits"
    tip = project.records.tip()
    assert tip is not None
    assert walked(repository, tip) == current(project).history
    head = place.read_text().partition("\n")[0]
    for damaged in (
        "",
        "{",
        "[]",
        '{"form": 1, "tip": "x", "changes": []}',
        head,
        f"{head}\n[[[1]], []]",
        f"{head}\n[",
    ):
        place.write_text(damaged)
        contract_history._known.clear()
        assert current(project).whole(Kind.MANIFESTO).version == 40
        assert len(current(project).history.versions[Kind.MANIFESTO]) == 40


def _with_versions(place: Path, count: int) -> Path:
    """Written by git itself: thousands of our own durable writes would take minutes."""
    project = Workspace(place).create("Many", now=datetime.now(UTC))
    write_all(project)
    text, stream = template(Kind.MANIFESTO), []
    for number in range(2, count + 1):
        data = f"{text}\n## Version\n\nNumber {number}.\n".encode()
        message = f"contracts: edit manifesto {number}".encode()
        stream.append(b"commit refs/heads/main\ncommitter Ada <a@b> %d +0000\n" % (1_800_000_000 + number))
        stream.append(b"data %d\n%s\n" % (len(message), message))
        stream.append(b"from refs/heads/main^0\n" if number == 2 else b"")
        stream.append(b"M 100644 inline contracts/manifesto.md\ndata %d\n%s\n" % (len(data), data))
    if stream:
        given = b"".join(stream)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=project.directory, input=given, check=True)
        subprocess.run(["git", "reset", "--hard", "--quiet"], cwd=project.directory, check=True)
    return project.directory


def test_what_was_found_is_kept_and_a_rewritten_history_is_read_anew(project: Project, git: Git) -> None:
    write_all(project)
    assert current(project).whole(Kind.UI).version == 1
    save(project, Kind.UI, template(Kind.UI) + "\n## More\n\nx\n", expected=None)
    assert current(project).whole(Kind.UI).version == 2
    git(project.directory, "reset", "--hard", "--quiet", "HEAD~1")
    assert current(project).whole(Kind.UI).version == 1
    git(project.directory, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    assert current(project).whole(Kind.UI).version == 1
