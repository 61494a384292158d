"""Branches made, forked, renamed, rewound and deleted: no tip is ever lost, no bad name ever made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.errors import ForgeError
from forge.git import PERSON, Branch, BranchExists, BranchMissing, BranchMoved, Repository
from forge.git.errors import BranchCheckedOut, InvalidName, InvalidRevision, RepositoryUnreadable, RevisionMissing
from forge.git.refs.operations.operation import RefMove
from tests.git import worlds
from tests.git.worlds import AGENT

pytestmark = pytest.mark.req("G-01", "G-09")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return worlds.template(tmp_path_factory.mktemp("template"), *({"f": f"{n}\n"} for n in (1, 2, 3)))


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    return worlds.copied(template, tmp_path / "repo")


@pytest.fixture
def repo(place: Path) -> Repository:
    return Repository.open(place)


def edit(repo: Repository, branch: str, text: str = "edited\n") -> str:
    space = repo.workspace(branch)
    space.write_file("f", text)
    return space.commit(f"edit {branch}")


def test_branches_are_listed_with_what_a_person_wants_to_know(repo: Repository, place: Path) -> None:
    worlds.git(place, "branch", "zed", "main~1")
    worlds.git(place, "branch", "ai/cache", "main~2")
    tips = worlds.branches(place)
    assert repo.branches() == (
        Branch("ai/cache", tips["ai/cache"], default=False, protected=False, checked_out=False),
        Branch("main", tips["main"], default=True, protected=True, checked_out=True),
        Branch("zed", tips["zed"], default=False, protected=False, checked_out=False),
    )
    assert repo.default_branch == "main"


def test_a_branch_starts_at_any_commit(repo: Repository, place: Path) -> None:
    worlds.git(place, "tag", "-a", "v1", "-m", "one", "main~2")
    first, tip = worlds.text(place, "rev-parse", "main~2"), worlds.text(place, "rev-parse", "main")
    assert repo.create_branch("from-head") == tip
    for number, start in enumerate(["main~2", "v1", first, first[:9], "from-head~2"]):
        assert repo.create_branch(f"b{number}", start, actor=AGENT) == first
        assert worlds.branches(place)[f"b{number}"] == first


def test_a_fork_begins_where_its_source_is_and_goes_its_own_way(repo: Repository, place: Path) -> None:
    repo.create_branch("one", "main~1")
    tip = edit(repo, "one")
    assert repo.fork_branch("one", "two", actor=AGENT) == tip
    edit(repo, "two", "other\n")
    assert repo.resolve("one") == tip
    with pytest.raises(BranchMissing):
        repo.fork_branch("nowhere", "three")
    with pytest.raises(BranchMissing):
        repo.fork_branch("v1", "three")


def test_a_branch_that_exists_is_not_made_again(repo: Repository, place: Path) -> None:
    repo.create_branch("one", "main~1")
    before = worlds.refs(place)
    for attempt in (
        lambda: repo.create_branch("one", "main"),
        lambda: repo.fork_branch("main", "one"),
        lambda: repo.rename_branch("one", "main"),
        lambda: repo.rename_branch("one", "one"),
    ):
        with pytest.raises(BranchExists) as refused:
            attempt()
        assert refused.value.hint
    assert worlds.refs(place) == before


def test_a_start_that_is_no_commit_makes_no_branch(repo: Repository, place: Path) -> None:
    before = worlds.refs(place)
    for start in ("nope", "main:f", "main^{tree}", "", "0" * 40, "main~99"):
        with pytest.raises((RevisionMissing, InvalidRevision)):
            repo.create_branch("new", start)
    assert worlds.refs(place) == before


BAD_NAMES = [
    "",
    "-x",
    "--force",
    "-",
    "@",
    "HEAD",
    "..",
    "a..b",
    "a b",
    " a",
    "a\tb",
    "a\nb",
    "a\x00b",
    "a\x01b",
    "a\x7fb",
    "a\x85b",
    "a\u2028b",
    "a~b",
    "a^b",
    "a:b",
    "a?b",
    "a*b",
    "a[b",
    "a\\b",
    "@{",
    "a@{b",
    "a@{-1}",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a.",
    "a/",
    "/a",
    "a//b",
    "refs/heads/a",
    "refs/x",
    "0123456789abcdef0123456789abcdef01234567",
    "0123456789ABCDEF0123456789ABCDEF01234567",
    "x" * 201,
    "\u00e9" * 120,
    "/".join(["y" * 100] * 30),
    "/".join(["z"] * 2000),
    "caf\udce9",
    "\ud800",
    "ma\u200cin",
    "evil\u202eniam",
    "a\u2066b",
    "a\ufeff",
]


@pytest.mark.parametrize("name", [*BAD_NAMES, None, 7, b"bytes"])
def test_a_bad_name_is_refused_everywhere_and_nothing_changes(repo: Repository, place: Path, name: str) -> None:
    repo.create_branch("one", "main~1")
    before = worlds.refs(place)
    for attempt in (
        lambda: repo.create_branch(name, "main"),
        lambda: repo.fork_branch("one", name),
        lambda: repo.fork_branch(name, "two"),
        lambda: repo.rename_branch("one", name),
        lambda: repo.rename_branch(name, "two"),
        lambda: repo.delete_branch(name),
        lambda: repo.rewind_branch(name, "main~1"),
        lambda: repo.workspace(name),
    ):
        with pytest.raises(InvalidName) as refused:
            attempt()
        assert refused.value.code == "invalid_name"
        assert refused.value.hint
        assert len(refused.value.message) < 300
        refused.value.message.encode()
    assert worlds.refs(place) == before


@pytest.mark.parametrize(
    "name", ["ai/cache-layer", "a.b", "x@y", "feature/#12", "\u00e9t\u00e9", "a-", "forge/build-7", "x" * 200]
)
def test_a_usual_name_is_a_name_for_git_too(repo: Repository, place: Path, name: str) -> None:
    repo.create_branch(name, "main")
    assert name in worlds.branches(place)
    repo.delete_branch(name)
    assert name not in worlds.branches(place)
    assert [tip for kept, tip in repo.kept() if kept.startswith(f"{name}@")] == [repo.resolve("main")]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("there", "wanted"), [("d1", "d1/x"), ("d1/x", "d1"), ("d1/x/y", "d1"), ("d1", "d1/x/y/z")])
def test_a_name_that_is_a_folder_of_another_is_refused(
    repo: Repository, place: Path, there: str, wanted: str, packed: bool
) -> None:
    repo.create_branch(there, "main")
    repo.create_branch("other", "main")
    if packed:
        worlds.git(place, "pack-refs", "--all")
    before = worlds.refs(place)
    for attempt in (lambda: repo.create_branch(wanted, "main"), lambda: repo.rename_branch("other", wanted)):
        with pytest.raises(BranchExists, match=there):
            attempt()
    assert worlds.refs(place) == before
    assert edit(repo, there)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("old", "new"), [("x", "y"), ("x", "x/y"), ("x/y", "x"), ("x", "x/y/z/w"), ("a/b/c", "a"), ("x", "X")]
)
def test_a_rename_keeps_tip_and_work(repo: Repository, place: Path, old: str, new: str, packed: bool) -> None:
    repo.create_branch(old, "main~1")
    tip = edit(repo, old)
    if packed:
        worlds.git(place, "pack-refs", "--all")
    before = worlds.branches(place)
    operation = repo.rename_branch(old, new, actor=AGENT)
    after = worlds.branches(place)
    assert {*before} - {*after} == {old}
    assert after[new] == tip
    assert operation.actor == AGENT
    repo.undo()
    assert worlds.branches(place) == before
    worlds.assert_fsck_clean(place)


def test_a_deleted_branch_is_found_again_even_after_a_gc(repo: Repository, place: Path) -> None:
    repo.create_branch("work/one", "main")
    tip = edit(repo, "work/one", "precious\n")
    repo.delete_branch("work/one", actor=AGENT)
    assert "work/one" not in worlds.branches(place)
    worlds.git(place, "reflog", "expire", "--expire=now", "--all")
    worlds.git(place, "gc", "-q", "--prune=now")
    repo = Repository.open(place)
    kept = dict(repo.kept())
    assert tip in kept.values()
    name = next(name for name, commit in kept.items() if commit == tip)
    assert name.startswith("work/one@")
    repo.create_branch("again", tip)
    assert repo.commit_vfs("again").read_file("f") == "precious\n"


def test_deleting_one_name_twice_keeps_both_tips(repo: Repository) -> None:
    tips = []
    for text in ("one\n", "two\n"):
        repo.create_branch("work", "main")
        tips.append(edit(repo, "work", text))
        repo.delete_branch("work")
    assert {tip for _, tip in repo.kept()} >= set(tips)


@pytest.mark.req("G-08")
def test_a_rewind_keeps_the_old_tip_reachable(repo: Repository, place: Path) -> None:
    repo.create_branch("work", "main")
    tip = edit(repo, "work")
    repo.rewind_branch("work", "work~2", actor=AGENT)
    assert repo.resolve("work") == repo.resolve("main~1")
    assert tip in dict(repo.kept()).values()
    repo.rewind_branch("work", tip)
    assert repo.resolve("work") == tip
    worlds.git(place, "tag", "elsewhere", worlds.commit(place, worlds.tree(place, [])))
    repo.rewind_branch("work", "elsewhere")
    assert repo.commit_vfs("work").list_files() == []


def test_what_is_not_there_cannot_be_changed(repo: Repository, place: Path) -> None:
    before = worlds.refs(place)
    for attempt in (
        lambda: repo.delete_branch("nope"),
        lambda: repo.rename_branch("nope", "other"),
        lambda: repo.rewind_branch("nope", "main"),
        lambda: repo.workspace("nope"),
    ):
        with pytest.raises(BranchMissing) as missing:
            attempt()
        assert missing.value.code == "branch_missing"
    assert worlds.refs(place) == before


@pytest.mark.parametrize("packed", [False, True])
def test_every_move_is_a_compare_and_swap(repo: Repository, place: Path, packed: bool) -> None:
    repo.create_branch("work", "main~1")
    stale, tip = repo.resolve("main~2"), repo.resolve("main~1")
    if packed:
        worlds.git(place, "pack-refs", "--all")
    before = worlds.branches(place)
    ref = "refs/heads/work"
    for move in (
        RefMove(ref, stale, repo.resolve("main")),
        RefMove(ref, stale, None),
        RefMove(ref, None, stale),
        RefMove("refs/heads/absent", stale, tip),
        RefMove("refs/heads/absent", stale, None),
    ):
        with pytest.raises((BranchMoved, BranchExists)):
            repo.refs.move([move], actor=PERSON, reason="stale")
    assert worlds.branches(place) == before
    assert not list((place / ".git/refs/heads").rglob("*.lock"))


def test_of_several_moves_all_happen_or_none(repo: Repository, place: Path) -> None:
    repo.create_branch("one", "main~1")
    repo.create_branch("two", "main~1")
    tip, first = repo.resolve("main~1"), repo.resolve("main~2")
    before = worlds.branches(place)
    moves = [
        RefMove("refs/heads/one", tip, first),
        RefMove("refs/heads/new", None, first),
        RefMove("refs/heads/two", first, None),
    ]
    with pytest.raises(BranchMoved):
        repo.refs.move(moves, actor=PERSON, reason="all or none")
    assert worlds.branches(place) == before
    assert next(repo.operations()).reason == f"new branch two at {tip[:7]}"


def test_a_branch_that_is_checked_out_is_neither_deleted_nor_renamed(
    repo: Repository, place: Path, tmp_path: Path
) -> None:
    worlds.git(place, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    before = worlds.refs(place)
    for branch in ("main", "side"):
        for attempt in (
            lambda branch=branch: repo.delete_branch(branch),
            lambda branch=branch: repo.rename_branch(branch, "elsewhere"),
        ):
            with pytest.raises(BranchCheckedOut) as refused:
                attempt()
            assert refused.value.code == "branch_checked_out"
            assert refused.value.hint
    assert worlds.refs(place) == before


def test_undoing_the_making_of_a_branch_that_is_checked_out_is_refused(repo: Repository, place: Path) -> None:
    repo.create_branch("work", "main")
    worlds.git(place, "checkout", "-q", "work")
    with pytest.raises(BranchCheckedOut):
        repo.undo()
    assert worlds.text(place, "symbolic-ref", "HEAD") == "refs/heads/work"
    assert "work" in worlds.branches(place)


# -- refs that others left in a strange state


def test_a_symbolic_branch_is_no_way_to_delete_or_rename_its_target(repo: Repository, place: Path) -> None:
    repo.create_branch("real", "main~1")
    worlds.git(place, "symbolic-ref", "refs/heads/alias", "refs/heads/real")
    before = worlds.refs(place)
    for attempt in (lambda: repo.delete_branch("alias"), lambda: repo.rename_branch("alias", "other")):
        with pytest.raises(ForgeError, match="real") as refused:
            attempt()
        assert refused.value.hint
    assert worlds.refs(place) == before
    assert worlds.text(place, "symbolic-ref", "refs/heads/alias") == "refs/heads/real"


def test_a_commit_through_a_symbolic_branch_lands_on_its_target(repo: Repository, place: Path) -> None:
    repo.create_branch("real", "main~1")
    worlds.git(place, "symbolic-ref", "refs/heads/alias", "refs/heads/real")
    made = edit(repo, "alias")
    assert worlds.branches(place)["real"] == made
    assert worlds.text(place, "symbolic-ref", "refs/heads/alias") == "refs/heads/real"


def test_one_broken_ref_does_not_hide_the_others(repo: Repository, place: Path) -> None:
    heads = place / ".git/refs/heads"
    (heads / "garbage").write_text("garbage\n")
    (heads / "empty").write_text("")
    (heads / "loop1").write_text("ref: refs/heads/loop2\n")
    (heads / "loop2").write_text("ref: refs/heads/loop1\n")
    (heads / "dangling").write_text("ref: refs/heads/nowhere\n")
    (heads / "x.lock").write_text("")
    os.mkdir(heads / "empty-folder")
    (heads / os.fsdecode(b"caf\xe9")).write_text(repo.resolve("main") + "\n")
    assert (
        {"main", "caf\udce9"}
        <= {b.name for b in repo.branches()}
        <= {
            "main",
            "caf\udce9",
            "dangling",
            "garbage",
            "empty",
        }
    )
    assert {b.name for b in repo.branches() if b.damage} >= {"garbage", "empty"}
    assert repo.create_branch("new", "main")
    edit(repo, "new")
    repo.delete_branch("new")
    for broken in ("garbage", "empty", "loop1"):
        for attempt in (
            lambda broken=broken: repo.workspace(broken),
            lambda broken=broken: repo.create_branch(broken, "main"),
            lambda broken=broken: repo.delete_branch(broken),
            lambda broken=broken: repo.rename_branch("main", broken),
        ):
            with pytest.raises(ForgeError) as refused:
                attempt()
            assert refused.value.hint


def test_a_checkout_of_a_branch_in_another_encoding_stops_nothing(place: Path) -> None:
    """A person may have made it long ago; Forge cannot name it, but works beside it."""
    odd = os.fsdecode(b"caf\xe9")
    worlds.git(place, "branch", odd)
    worlds.git(place, "symbolic-ref", "HEAD", f"refs/heads/{odd}")
    worlds.git(place, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{odd}")
    worlds.git(place, "update-ref", "-d", "refs/heads/main")
    repo = Repository.open(place)
    assert [(b.name, b.checked_out) for b in repo.branches()] == [(odd, True)]
    repo.create_branch("work", "HEAD", actor=AGENT)
    edit(repo, "work")
    repo.rename_branch("work", "other", actor=AGENT)
    repo.undo()
    assert "work" in [b.name for b in repo.branches()]


def test_names_of_kept_tips_never_stand_in_the_way_of_branches(repo: Repository, place: Path) -> None:
    """A deleted branch is kept as name@id; no branch may be called so that both cannot be kept."""
    repo.create_branch("x", "main")
    tip = repo.resolve("main")
    with pytest.raises(InvalidName):
        repo.create_branch(f"x@{tip[:12]}/y", "main", actor=AGENT)
    repo.create_branch(f"x@{tip[:12]}", "main", actor=AGENT)
    repo.delete_branch("x")
    repo.delete_branch(f"x@{tip[:12]}")
    assert len(repo.kept()) == 2


def test_a_branch_whose_commit_is_gone_is_listed_and_says_so_when_opened(repo: Repository, place: Path) -> None:
    (place / ".git/refs/heads/lost").write_text("1" * 40 + "\n")
    assert "lost" in [b.name for b in repo.branches()]
    with pytest.raises(RevisionMissing):
        repo.workspace("lost")


def test_a_branch_that_names_something_else_than_a_commit_is_refused(repo: Repository, place: Path) -> None:
    (place / ".git/refs/heads/blob").write_text(worlds.text(place, "rev-parse", "main:f") + "\n")
    with pytest.raises((RevisionMissing, RepositoryUnreadable)):
        repo.workspace("blob")
    assert "main" in [b.name for b in repo.branches()]


def test_many_branches_are_made_listed_and_deleted(tmp_path: Path) -> None:
    repo = worlds.filled(tmp_path / "many.git", {"f": "x"})
    for n in range(70):
        repo.create_branch(f"team{n % 7}/b{n}", "main", actor=AGENT)
    assert len(repo.branches()) == 71
    worlds.git(repo.git_dir, "pack-refs", "--all")
    for n in range(0, 70, 2):
        repo.delete_branch(f"team{n % 7}/b{n}", actor=AGENT)
    assert len(repo.branches()) == 36
    worlds.assert_fsck_clean(repo.git_dir)
