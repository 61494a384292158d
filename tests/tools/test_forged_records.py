"""The short form of `script/soak hostile --part forged_records`: every way in once, and what a person is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forge.app.sessions.tools import ApprovalDenied, approved, revoked, tool_of, tools_of
from forge.git import Actor, ActorKind
from forge.git.refs.reservations import reserve
from forge.tools.approval_records import ApprovalRecords
from forge.tools.approvals import FOLDER, PATH, POINTER, read_approvals
from forge.tools.user_tools import ToolChanged, approved_tools
from tests.support.soak.hostile import forged_records
from tests.support.soak.hostile.forged_records import (
    BRANCH,
    BY_FORGE,
    BY_GIT,
    EVIL,
    Scene,
    attacked,
    plain_commit,
    scene,
)

pytestmark = pytest.mark.req("G-12", "X-06")
Way = Callable[[Scene], None]


@pytest.fixture
def here(home: Path, tmp_path: Path) -> Scene:
    return scene(tmp_path)


def runs(here: Scene) -> list[str]:
    ready, _ = approved_tools(here.repo.workspace(BRANCH), {})
    return [str(tool.get_schema()["name"]) for tool in ready]


@pytest.mark.parametrize("way", [*BY_FORGE, *BY_GIT], ids=lambda way: way.__name__)
def test_no_way_in_forges_an_approval(here: Scene, way: Way) -> None:
    attacked(here, way)


def test_ways_in_after_each_other_forge_nothing(home: Path, tmp_path: Path) -> None:
    assert forged_records.run(tmp_path, 2, 17)


def test_a_forged_copy_is_named_where_tools_are_listed(here: Scene) -> None:
    plain_commit(here)
    found = tools_of(here.repo, BRANCH)
    sentence = f"{FOLDER} lists an approval by Ada Example <ada@example.org> that is not on record here."
    assert found.differences == (f"evil: {sentence}",)
    assert found.listed_only == ("evil",)
    (tool,) = found.own
    assert (tool.state, tool.reason, tool.differs) == ("new", "Nobody has approved it yet.", sentence)


def test_what_was_approved_by_an_earlier_forge_counts_when_a_person_approves_it_again(here: Scene) -> None:
    plain_commit(here)
    assert runs(here) == []
    approved(here.repo, BRANCH, tools_of(here.repo, BRANCH).listed_only)
    assert runs(here) == ["evil"]
    assert tools_of(here.repo, BRANCH).differences == ()


def test_an_approval_that_the_branch_does_not_list_does_not_count_there_and_is_named(here: Scene) -> None:
    here.git("branch", "other", BRANCH)
    approved(here.repo, "other", ["evil"])
    assert runs(here) == []
    (tool,) = tools_of(here.repo, BRANCH).own
    assert tool.reason == "It is approved, but not on this branch."
    assert tool.differs.startswith(f"{FOLDER} on this branch does not list the approval by ")
    approved(here.repo, BRANCH, ["evil"])
    assert runs(here) == ["evil"]


def test_undo_takes_an_approval_back(here: Scene) -> None:
    approved(here.repo, BRANCH, ["evil"])
    assert runs(here) == ["evil"]
    here.repo.undo()
    assert runs(here) == []


def test_a_copy_with_other_details_than_the_record_is_named(here: Scene) -> None:
    approved(here.repo, BRANCH, ["evil"])
    plain_commit(here)
    (told,) = tools_of(here.repo, BRANCH).differences
    assert "tells other details of the approval than the record: by " in told


def test_the_record_says_who_approved_what_where_and_when(here: Scene) -> None:
    (change,), _ = approved(here.repo, BRANCH, ["evil"], user="u_7")
    (found,) = ApprovalRecords(here.repo.common_dir).of("evil")
    assert (found.tool, found.user, found.branch, found.approval.hash) == ("evil", "u_7", BRANCH, change.hash)
    assert found.approval.approved_by
    assert found.approval.approved_at
    assert not here.repo.commit_vfs(BRANCH).list_files(".git")


def test_another_clone_has_approvals_of_its_own(here: Scene, tmp_path: Path) -> None:
    approved(here.repo, BRANCH, ["evil"])
    here.git("clone", "-q", "-b", BRANCH, str(here.place), str(tmp_path / "clone"))
    there = Scene(type(here.repo).open(tmp_path / "clone"), tmp_path / "clone", here.random)
    assert runs(there) == []
    assert tools_of(there.repo, BRANCH).listed_only == ("evil",)


def test_a_linked_worktree_has_the_approvals_of_its_repository(here: Scene, tmp_path: Path) -> None:
    approved(here.repo, BRANCH, ["evil"])
    here.git("worktree", "add", "-q", str(tmp_path / "beside"), "-b", "beside", BRANCH)
    there = type(here.repo).open(tmp_path / "beside")
    assert [tool.state for tool in tools_of(there, BRANCH).own] == ["approved"]


def test_a_damaged_record_approves_nothing(here: Scene) -> None:
    approved(here.repo, BRANCH, ["evil"])
    for path in (here.repo.common_dir / "forge/approvals").iterdir():
        path.write_text("{")
    assert runs(here) == []


def test_revoking_counts_at_once_on_every_branch_also_while_a_turn_works(here: Scene) -> None:
    approved(here.repo, BRANCH, ["evil"])
    here.git("branch", "other", BRANCH)
    reserve(here.repo.common_dir, BRANCH, "some-turn", "a model")
    change, operation = revoked(here.repo, BRANCH, "evil")
    assert (change.commit, operation) == (None, None)
    assert change.left.startswith(f"The copy on {BRANCH} still lists it: ")
    assert runs(here) == []
    assert [tool.state for tool in tools_of(here.repo, "other").own] == ["new"]


def test_only_a_person_approves_and_only_what_they_read(here: Scene) -> None:
    for kind in (ActorKind.AGENT, ActorKind.BUILD):
        for change in (approved, revoked):
            with pytest.raises(ApprovalDenied):
                change(here.repo, BRANCH, ["evil"] if change is approved else "evil", actor=Actor(kind, "bot"))  # type: ignore[arg-type]
    read = tool_of(here.repo, BRANCH, "evil").hash
    person = here.repo.workspace(BRANCH)
    person.write_file("tools/evil.py", EVIL.replace("evil ran", "worse"))
    person.commit("behind the person's back")
    with pytest.raises(ToolChanged, match="changed since you read it"):
        approved(here.repo, BRANCH, ["evil"], expected={"evil": read})
    assert runs(here) == []


def test_a_changed_tool_shows_what_changed_since_it_was_approved(here: Scene) -> None:
    approved(here.repo, BRANCH, ["evil"])
    person = here.repo.workspace(BRANCH)
    person.write_file("tools/evil.py", "import extra\n" + EVIL.replace("evil ran", "worse"))
    person.write_file("extra.py", "X = 1\n")
    person.commit("a change")
    here.git("reflog", "expire", "--expire=now", "--all")
    tool = tool_of(here.repo, BRANCH, "evil")
    assert tool.state == "changed"
    assert tool.reason == "Since it was approved, tools/evil.py changed; extra.py came in."
    lines = tool.difference.splitlines()
    assert {'-    return "evil ran"', '+    return "worse"', "+import extra", "+X = 1", "--- /dev/null"} <= set(lines)
    approved(here.repo, BRANCH, ["evil"])
    assert tool_of(here.repo, BRANCH, "evil").difference == ""


@pytest.mark.parametrize("damage", [b"not json", b'{"files": 7}', None])
def test_a_difference_that_cannot_be_told_is_said(here: Scene, damage: bytes | None) -> None:
    """Nothing shown would look like nothing changed."""
    approved(here.repo, BRANCH, ["evil"])
    person = here.repo.workspace(BRANCH)
    person.write_file("tools/evil.py", EVIL.replace("evil ran", "worse"))
    person.commit("a change")
    (sources,) = (here.repo.common_dir / "forge/approvals").glob("*.sources.json")
    sources.unlink() if damage is None else sources.write_bytes(damage)
    tool = tool_of(here.repo, BRANCH, "evil")
    assert tool.state == "changed"
    assert tool.difference.startswith("The approved version cannot be read")


def test_a_long_difference_says_how_much_is_left_out(here: Scene) -> None:
    approved(here.repo, BRANCH, ["evil"])
    person = here.repo.workspace(BRANCH)
    person.write_file("tools/evil.py", EVIL + "X = 1\n" * 20_000)
    person.commit("much")
    told = tool_of(here.repo, BRANCH, "evil").difference
    assert len(told) < 41_000
    assert "more lines; open the files to read them." in told


def test_merged_approvals_count_where_they_are_on_record(here: Scene) -> None:
    here.git("branch", "topic", BRANCH)
    approved(here.repo, "topic", ["evil"])
    here.repo.perform(here.repo.preview_merge("topic", BRANCH))
    assert runs(here) == ["evil"]


def test_approvals_on_both_sides_are_no_conflict(here: Scene) -> None:
    here.git("branch", "topic", BRANCH)
    approved(here.repo, "topic", ["evil"])
    other = here.repo.workspace(BRANCH)
    other.write_file("tools/other.py", EVIL.replace('"evil"', '"other"'))
    other.commit("another tool")
    approved(here.repo, BRANCH, ["other"])
    preview = here.repo.preview_merge("topic", BRANCH)
    assert preview.conflicts == ()
    here.repo.perform(preview)
    assert sorted(read_approvals(here.repo.commit_vfs(BRANCH))) == ["evil", "other"]
    assert tools_of(here.repo, BRANCH).differences == ()
    assert runs(here) == ["evil", "other"]


def test_an_approval_in_the_first_format_is_taken_over_by_the_next_change(here: Scene) -> None:
    plain_commit(here)
    approved(here.repo, BRANCH, ["evil"])
    files = here.repo.commit_vfs(BRANCH)
    assert files.read_bytes(PATH) == POINTER
    assert len(files.list_files(f"{FOLDER}/")) == 1
    assert runs(here) == ["evil"]


def test_what_the_first_format_lists_besides_stays_listed(here: Scene) -> None:
    other = here.repo.workspace(BRANCH)
    other.write_file("tools/other.py", EVIL.replace('"evil"', '"other"'))
    other.commit("another tool")
    plain_commit(here)
    approved(here.repo, BRANCH, ["other"])
    assert sorted(read_approvals(here.repo.commit_vfs(BRANCH))) == ["evil", "other"]
    assert tools_of(here.repo, BRANCH).listed_only == ("evil",)
