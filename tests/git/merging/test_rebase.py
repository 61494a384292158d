"""Rebase and cherry-pick: the commits that git would make, id for id, and stops where git stops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pygit2.enums import ObjectType

from forge.errors import InvalidInput
from forge.git import PERSON, BranchMissing, BranchMoved, CommitId, MergeConflicts, MergePreview, Repository
from forge.git.errors import InvalidRevision
from forge.git.merging.preview import StepResolutions, perform
from forge.git.merging.rebase import preview_cherry_pick, preview_rebase
from tests.git import worlds
from tests.git.merging.lineages import COMMITTER, Author, Files, Lineage

pytestmark = pytest.mark.req("G-16")

TEXT = b"one\ntwo\nthree\nfour\nfive\n"


def files(**contents: bytes) -> Files:
    return {path: (0o100644, data) for path, data in contents.items()}


def written(directory: Path, lineage: Lineage) -> tuple[Repository, list[CommitId]]:
    directory.mkdir(exist_ok=True)
    worlds.git(directory, "init", "--quiet", "--bare", ".")
    ids = lineage.write(directory)
    return Repository.open(directory), ids


def rebase_of(repo: Repository, branch: str, onto: str, *, resolutions: StepResolutions | None = None) -> MergePreview:
    return preview_rebase(
        repo.objects,
        repo.refs,
        branch,
        repo.resolve(onto),
        committer=COMMITTER,
        onto_name=onto,
        resolutions=resolutions,
    )


def pick_of(
    repo: Repository, picked: Sequence[CommitId], target: str, *, origin: bool = False, mainline: int | None = None
) -> MergePreview:
    return preview_cherry_pick(
        repo.objects, repo.refs, picked, target, committer=COMMITTER, record_origin=origin, mainline=mainline
    )


def reference(directory: Path, name: str) -> Path:
    """A copy of the repository with a checkout, for git to work in."""
    worlds.git(directory.parent, "clone", "--quiet", "--mirror", directory.name, f"{name}/.git")
    worlds.git(directory.parent / name, "config", "core.bare", "false")
    return directory.parent / name


def unmerged(directory: Path) -> set[str]:
    return set(worlds.text(directory, "diff", "--name-only", "--diff-filter=U").splitlines())


def plain(paths: set[str]) -> set[str]:
    """Paths without the label that a file gets when it steps aside for a folder."""
    return {path.split("~")[0] for path in paths}


def generated(seed: int, lineage: Lineage) -> None:
    """A topic of a few commits, with a merge, an empty commit and a picked one among them, and an upstream."""
    author = Author(f"rebase {seed}", submodules=False)
    base = author.first()
    root = lineage.commit(f"up{seed}", base)
    topic, up, last = [root], root, base
    for n in range(author.random.randrange(1, 4)):
        last = author.changed(last, author.random.randrange(0, 2) if n else 1)
        topic.append(lineage.commit(f"topic{seed}", last, topic[-1], message=b"topic %d\n\nwith a body\n" % n))
    other = author.changed(base, author.random.randrange(1, 3))
    up = lineage.commit(f"up{seed}", other, up)
    if seed % 4 == 0:
        joined = author.joined(last, other)
        topic.append(lineage.commit(f"topic{seed}", joined, topic[-1], up, message=b"merged\n"))
        topic.append(lineage.commit(f"topic{seed}", author.changed(joined, 1), topic[-1], message=b"after"))
    if seed % 3 == 0:
        lineage.commit(f"up{seed}", author.changed(other, 1), up)


def test_a_rebase_makes_the_very_commits_that_git_makes(tmp_path: Path) -> None:
    seeds, lineage = range(36), Lineage()
    for seed in seeds:
        generated(seed, lineage)
    repo, _ = written(tmp_path / "ours", lineage)
    theirs = reference(tmp_path / "ours", "theirs")
    clean = stopped = 0
    for seed in seeds:
        preview = rebase_of(repo, f"topic{seed}", f"up{seed}")
        worlds.git(theirs, "checkout", "--quiet", "--force", f"topic{seed}")
        worlds.git(theirs, "rebase", "--quiet", f"up{seed}", ok=(0, 1))
        if preview.conflicts:
            head = worlds.text(theirs, "rev-parse", "REBASE_HEAD")
            assert head == preview.stopped_at, seed
            staged = {c.path for c in preview.conflicts if c.base or c.ours or c.theirs}
            assert plain(staged) == plain(unmerged(theirs)), seed
            worlds.git(theirs, "rebase", "--abort")
            stopped += 1
        else:
            tip = worlds.text(theirs, "rev-parse", f"topic{seed}")
            assert preview.result == tip, seed
            perform(repo.objects, repo.refs, preview, actor=PERSON)
            assert repo.refs.tip(f"topic{seed}") == tip
            clean += 1
        worlds.git(theirs, "clean", "-qffdx")
    assert clean > 10
    assert stopped > 3
    worlds.assert_fsck_clean(tmp_path / "ours")


def test_a_cherry_pick_makes_the_very_commit_that_git_makes(tmp_path: Path) -> None:
    seeds, lineage = range(44), Lineage()
    for seed in seeds:
        author = Author(f"pick {seed}", submodules=False)
        base = author.first()
        root = lineage.commit(f"t{seed}", base)
        before = lineage.commit(f"s{seed}", author.changed(base, 1), root)
        changed = author.changed(base, author.random.randrange(1, 4))
        lineage.commit(f"s{seed}", changed, before, message=b"picked\n\nSigned-off-by: Bob <b@example.org>\n")
        lineage.commit(f"t{seed}", author.changed(base, author.random.randrange(1, 3)), root)
    repo, _ = written(tmp_path / "ours", lineage)
    theirs = reference(tmp_path / "ours", "theirs")
    clean = stopped = 0
    for seed in seeds:
        tip = repo.resolve(f"s{seed}")
        preview = pick_of(repo, [tip], f"t{seed}", origin=bool(seed % 2))
        worlds.git(theirs, "checkout", "--quiet", "--force", f"t{seed}")
        flags = ["-x"] if seed % 2 else []
        worlds.git(theirs, "cherry-pick", *flags, tip, ok=(0, 1, 128, -6))
        if preview.conflicts:
            staged = {c.path for c in preview.conflicts if c.base or c.ours or c.theirs}
            assert plain(staged) == plain(unmerged(theirs)), seed
            stopped += 1
        elif preview.outcome == "clean":
            assert preview.result == worlds.text(theirs, "rev-parse", "HEAD"), seed
            perform(repo.objects, repo.refs, preview, actor=PERSON)
            clean += 1
        worlds.git(theirs, "reset", "--quiet", "--hard")
        worlds.git(theirs, "clean", "-qffdx")
    assert clean > 10
    assert stopped > 5
    worlds.assert_fsck_clean(tmp_path / "ours")


@pytest.fixture
def stepped(tmp_path: Path) -> tuple[Repository, list[CommitId]]:
    """Three commits on topic edit the same line, which main has edited too; the second also adds a file."""
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    lineage.commit("main", files(f=TEXT.replace(b"two", b"main")), root)
    last = root
    for n in range(1, 4):
        content = files(f=TEXT.replace(b"two", b"topic %d" % n)) | (files(g=b"new\n") if n > 1 else {})
        last = lineage.commit("topic", content, last, message=b"step %d\n" % n)
    return written(tmp_path / "repo", lineage)


def test_a_rebase_goes_from_stop_to_stop_as_conflicts_are_resolved(
    stepped: tuple[Repository, list[CommitId]],
) -> None:
    repo, (_, _, main, one, two, three) = stepped
    preview = rebase_of(repo, "topic", "main")
    assert [(s.original, s.state) for s in preview.steps] == [(one, "stopped"), (two, "waiting"), (three, "waiting")]
    assert (preview.outcome, preview.result, preview.stopped_at) == ("conflicts", None, one)
    assert preview.conflicts[0].marked is not None
    assert b"<<<<<<< main\n" in preview.conflicts[0].marked
    with pytest.raises(MergeConflicts, match=f"at commit {one[:12]} in f"):
        perform(repo.objects, repo.refs, preview, actor=PERSON)
    second = preview.resolved(repo.objects, {one: {"f": TEXT.replace(b"two", b"both 1")}})
    assert second.stopped_at == two
    assert second.steps[0].state == "picked"
    third = second.resolved(repo.objects, {"f": TEXT.replace(b"two", b"both 2")})
    last = third.resolved(repo.objects, {three: {"f": TEXT.replace(b"two", b"both 3")}})
    assert (last.outcome, [step.state for step in last.steps]) == ("clean", ["picked"] * 3)
    perform(repo.objects, repo.refs, last, actor=PERSON)
    assert repo.refs.tip("topic") == last.result == last.steps[-1].result
    assert repo.commit_vfs("topic").read_bytes("f") == TEXT.replace(b"two", b"both 3")
    assert repo.commit_vfs("topic~1").read_bytes("f") == TEXT.replace(b"two", b"both 2")
    assert repo.commit_vfs("topic").read_file("g") == "new\n"
    assert repo.resolve("topic~3") == main
    assert three in dict(repo.refs.kept()).values()
    worlds.assert_fsck_clean(repo.git_dir)


def test_all_resolutions_can_be_given_at_once(stepped: tuple[Repository, list[CommitId]]) -> None:
    repo, (_, _, _, one, two, three) = stepped
    given = {step: {"f": TEXT.replace(b"two", b"both")} for step in (one, two, three)}
    del given[three]
    preview = rebase_of(repo, "topic", "main", resolutions=given)
    assert preview.stopped_at == three
    given[three] = {"f": TEXT.replace(b"two", b"both")}
    settled = rebase_of(repo, "topic", "main", resolutions=given)
    perform(repo.objects, repo.refs, settled, actor=PERSON)
    log = worlds.text(repo.git_dir, "log", "--format=%s", "main..topic").splitlines()
    assert log == ["step 2", "step 1"], "the third changes nothing any more"


def test_resolutions_for_what_is_not_in_conflict_are_refused(stepped: tuple[Repository, list[CommitId]]) -> None:
    repo, (_, _, main, one, _, three) = stepped
    preview = rebase_of(repo, "topic", "main")
    with pytest.raises(InvalidInput, match="not in conflict"):
        preview.resolved(repo.objects, {one: {"f": b"", "g": b""}})
    with pytest.raises(InvalidInput, match="has no conflict"):
        preview.resolved(repo.objects, {main: {"f": b""}})
    lone = pick_of(repo, [three], "topic")
    assert lone.outcome == "up to date"
    with pytest.raises(InvalidInput, match="has no conflict"):
        lone.resolved(repo.objects, {three: {"f": b""}})


@pytest.mark.req("G-09")
def test_a_branch_that_moved_is_not_rebased(stepped: tuple[Repository, list[CommitId]]) -> None:
    repo, (_, root, *_) = stepped
    repo.create_branch("old", root)
    preview = pick_of(repo, [repo.resolve("main")], "old")
    assert preview.outcome == "clean"
    space = repo.workspace("old")
    space.write_file("g", "meanwhile")
    tip = space.commit("meanwhile")
    with pytest.raises(BranchMoved):
        perform(repo.objects, repo.refs, preview, actor=PERSON)
    assert repo.refs.tip("old") == tip


def test_a_preview_writes_nothing(stepped: tuple[Repository, list[CommitId]]) -> None:
    repo, (_, _, _, one, *_) = stepped
    before = sorted(repo.git_dir.rglob("*"))
    rebase_of(repo, "topic", "main").resolved(repo.objects, {one: {"f": b"both\n"}})
    pick_of(repo, [repo.resolve("topic")], "main")
    assert sorted(repo.git_dir.rglob("*")) == before


def test_commits_that_became_empty_are_dropped_and_those_that_were_are_kept(tmp_path: Path) -> None:
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    same = TEXT.replace(b"five", b"5")
    lineage.commit("main", files(f=same, more=b""), root)
    first = lineage.commit("topic", files(f=same), root, message=b"the same change\n")
    empty = lineage.commit("topic", files(f=same), first, message=b"empty on purpose\n")
    partly = lineage.commit("topic", files(f=same, more=b""), empty, message=b"half of main\n")
    lineage.commit("topic", files(f=same, more=b"", own=b"x"), partly, message=b"own")
    repo, _ = written(tmp_path / "repo", lineage)
    preview = rebase_of(repo, "topic", "main")
    perform(repo.objects, repo.refs, preview, actor=PERSON)
    log = worlds.text(repo.git_dir, "log", "--format=%s", "main..topic").splitlines()
    assert log == ["own", "empty on purpose"]
    assert [step.state for step in preview.steps].count("dropped") == 2


def test_a_branch_on_top_stays_and_one_that_is_behind_follows(tmp_path: Path) -> None:
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    lineage.commit("topic", files(f=TEXT, g=b""), root)
    repo, (_, _, tip) = written(tmp_path / "repo", lineage)
    on_top = rebase_of(repo, "topic", "main")
    assert (on_top.outcome, on_top.result, on_top.files) == ("up to date", tip, ())
    assert perform(repo.objects, repo.refs, on_top, actor=PERSON) is None
    behind = rebase_of(repo, "main", "topic")
    assert (behind.outcome, behind.result) == ("fast-forward", tip)
    perform(repo.objects, repo.refs, behind, actor=PERSON)
    assert repo.refs.tip("main") == tip
    assert not repo.refs.kept()
    with pytest.raises(BranchMissing):
        rebase_of(repo, "nowhere", "main")


def test_authors_and_messages_stay_byte_for_byte(tmp_path: Path) -> None:
    repo, _ = written(tmp_path / "repo", two_branches())
    tree = worlds.text(repo.git_dir, "rev-parse", "topic^{tree}")
    parent = worlds.text(repo.git_dir, "rev-parse", "topic~1")
    lines = [
        b"tree " + tree.encode(),
        b"parent " + parent.encode(),
        b"author Zo\xe9 <zoe@example.org> 1500000000 -0330",
        b"committer Zo\xe9 <zoe@example.org> 1500000001 +0545",
        b"encoding ISO-8859-1",
        b"gpgsig -----BEGIN PGP SIGNATURE-----",
        b" abc",
        b" -----END PGP SIGNATURE-----",
    ]
    message = b"caf\xe9\n\n# not a comment\n\n\n  trailing   \nno newline at the end"
    raw = b"\n".join(lines) + b"\n\n" + message
    odd = CommitId(worlds.literal(repo.git_dir, ObjectType.COMMIT, raw))
    preview = pick_of(repo, [odd], "main")
    assert preview.result is not None
    head, _, body = preview.view(repo.objects).read(preview.result).data.partition(b"\n\n")
    assert body == message
    assert lines[2] in head.split(b"\n")
    assert b"encoding ISO-8859-1" in head.split(b"\n")
    assert b"gpgsig" not in head


def two_branches() -> Lineage:
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    lineage.commit("main", files(f=TEXT, main=b"m"), root)
    lineage.commit("topic", files(f=TEXT, topic=b"t"), root)
    return lineage


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"subject", b"subject\n\n(cherry picked from commit ID)\n"),
        (b"subject\n\nbody\n", b"subject\n\nbody\n\n(cherry picked from commit ID)\n"),
        (b"subject\n\nFixes: 1\nSigned-off-by: A <a>\n", None),
        (b"subject\n\nbody\n\nReviewed-by: B\n(cherry picked from commit 0123456)\n", None),
        (b"key: value\n", b"key: value\n\n(cherry picked from commit ID)\n"),
    ],
)
def test_the_origin_is_recorded_on_request_as_git_records_it(
    tmp_path: Path, message: bytes, expected: bytes | None
) -> None:
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    lineage.commit("main", files(f=TEXT, main=b"m"), root)
    lineage.commit("topic", files(f=TEXT, topic=b"t"), root, message=message)
    repo, ids = written(tmp_path / "repo", lineage)
    preview = pick_of(repo, [ids[3]], "main", origin=True)
    assert preview.result is not None
    made = preview.view(repo.objects).read(preview.result).data.partition(b"\n\n")[2]
    expected = expected or message + b"(cherry picked from commit ID)\n"
    assert made == expected.replace(b"ID", ids[3].encode())
    theirs = reference(tmp_path / "repo", "theirs")
    worlds.git(theirs, "checkout", "--quiet", "--force", "main")
    worlds.git(theirs, "cherry-pick", "-x", ids[3])
    assert preview.result == worlds.text(theirs, "rev-parse", "HEAD")


def test_picking_a_merge_needs_to_know_against_which_parent(tmp_path: Path) -> None:
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    one = lineage.commit("topic", files(f=TEXT, one=b""), root)
    two = lineage.commit("side", files(f=TEXT, two=b""), root)
    lineage.commit("topic", files(f=TEXT, one=b"", two=b""), one, two)
    repo, ids = written(tmp_path / "repo", lineage)
    with pytest.raises(InvalidRevision, match="is a merge") as refused:
        pick_of(repo, [ids[4]], "main")
    assert "mainline" in refused.value.hint
    with pytest.raises(InvalidRevision, match="no mainline 3"):
        pick_of(repo, [ids[4]], "main", mainline=3)
    assert [file.path for file in pick_of(repo, [ids[4]], "main", mainline=1).files] == ["two"]
    assert [file.path for file in pick_of(repo, [ids[4]], "main", mainline=2).files] == ["one"]
    with pytest.raises(InvalidInput, match="No commit"):
        pick_of(repo, [], "main")


def test_several_commits_are_picked_in_the_order_given(tmp_path: Path) -> None:
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    one = lineage.commit("topic", files(f=TEXT, one=b"1"), root, message=b"one\n")
    lineage.commit("topic", files(f=TEXT, one=b"1", two=b"2"), one, message=b"two\n")
    repo, ids = written(tmp_path / "repo", lineage)
    picked = [ids[3], ids[2], ids[3]]
    preview = preview_cherry_pick(repo.objects, repo.refs, picked, "main", committer=COMMITTER)
    operation = perform(repo.objects, repo.refs, preview, actor=PERSON)
    assert operation is not None
    assert worlds.text(repo.git_dir, "log", "--format=%s", "main").splitlines() == ["one", "two", "change"]
    assert len(list((repo.git_dir / "objects/pack").glob("*.pack"))) <= 2, "one pack for the whole operation"


def test_a_first_commit_of_another_history_can_be_picked_and_rebased(tmp_path: Path) -> None:
    lineage = Lineage()
    lineage.commit("main", files(f=TEXT))
    root = lineage.commit("other", files(g=b"g"), message=b"root\n")
    lineage.commit("other", files(g=b"g", h=b"h"), root, message=b"next\n")
    repo, ids = written(tmp_path / "repo", lineage)
    assert [file.path for file in pick_of(repo, [ids[2]], "main").files] == ["g"]
    perform(repo.objects, repo.refs, rebase_of(repo, "other", "main"), actor=PERSON)
    assert repo.commit_vfs("other").list_files() == ["f", "g", "h"]
    assert worlds.text(repo.git_dir, "log", "--format=%s", "other").splitlines() == ["next", "root", "change"]


def test_a_landing_holds_every_object_that_its_parent_lacks(tmp_path: Path) -> None:
    """Objects that only the picked side had are written again: its branch may vanish at any moment."""
    lineage = Lineage()
    root = lineage.commit("main", files(f=TEXT))
    lineage.commit("main", files(f=TEXT, main=b"m"), root)
    lineage.commit("topic", files(f=TEXT) | {"new/deep/file": (0o100644, b"theirs alone\n")}, root)
    repo, ids = written(tmp_path / "repo", lineage)
    repo.git_dir.joinpath("objects/pack").mkdir(exist_ok=True)
    before = set(repo.git_dir.joinpath("objects/pack").glob("*.idx"))
    perform(repo.objects, repo.refs, pick_of(repo, [ids[3]], "main"), actor=PERSON)
    (index,) = set(repo.git_dir.joinpath("objects/pack").glob("*.idx")) - before
    packed = {row.split()[0] for row in worlds.text(repo.git_dir, "verify-pack", "-v", str(index)).splitlines()}
    wanted = worlds.text(repo.git_dir, "rev-list", "--objects", "main", "^main~1").splitlines()
    assert {row.split()[0] for row in wanted} <= packed


@pytest.mark.req("G-07")
def test_a_rebased_branch_goes_on_with_its_own_conversation(tmp_path: Path) -> None:
    talk = ".forge/session.json"
    lineage = Lineage()
    root = lineage.commit("main", {talk: (0o100644, b"start")})
    lineage.commit("main", {talk: (0o100644, b"main"), ".forge/session/00/m": (0o100644, b"m")}, root)
    one = lineage.commit("topic", {talk: (0o100644, b"topic 1"), ".forge/session/00/t": (0o100644, b"t")}, root)
    lineage.commit("topic", {talk: (0o100644, b"topic 2"), ".forge/session/00/t": (0o100644, b"t")}, one)
    repo, ids = written(tmp_path / "repo", lineage)
    preview = rebase_of(repo, "topic", "main")
    assert preview.outcome == "clean"
    assert preview.read(repo.objects, talk) == b"topic 2"
    assert preview.read(repo.objects, ".forge/session/00/m") == b"m"
    assert preview.read(repo.objects, ".forge/session/00/t") == b"t"
    picked = pick_of(repo, [ids[3]], "main")
    assert picked.read(repo.objects, talk) == b"main", "a picked commit does not replace the conversation"


@pytest.mark.req("G-16")
@pytest.mark.parametrize("first", range(4))
def test_a_part_of_a_chain_is_detached_and_reattached_as_git_does_it(tmp_path: Path, first: int) -> None:
    place = tmp_path / "chain"
    worlds.git(tmp_path, "init", "-q", "-b", "main", str(place))
    (place / "base.txt").write_text("base\n")
    worlds.git(place, "add", "-A")
    worlds.git(place, "commit", "-qm", "base")
    worlds.git(place, "checkout", "-q", "-b", "topic")
    ids = []
    for number in range(4):
        (place / f"file-{number}.txt").write_text(f"{number}\n")
        worlds.git(place, "add", "-A")
        worlds.git(place, "commit", "-qm", f"commit {number}")
        ids.append(worlds.text(place, "rev-parse", "HEAD"))
    worlds.git(place, "checkout", "-q", "-b", "other", "main")
    (place / "other.txt").write_text("other\n")
    worlds.git(place, "add", "-A")
    worlds.git(place, "commit", "-qm", "other")
    worlds.git(place, "branch", "theirs", "topic")
    worlds.git(place, "checkout", "-q", "--detach")
    worlds.git(place, "rebase", "-q", "--onto", "other", f"{ids[first]}^", "theirs")
    repo = Repository.open(place)
    repo.perform(repo.preview_rebase("topic", "other", first=ids[first]))
    assert worlds.text(place, "rev-parse", "topic^{tree}") == worlds.text(place, "rev-parse", "theirs^{tree}")
    subjects = worlds.text(place, "log", "--format=%s", "topic").splitlines()
    assert subjects == worlds.text(place, "log", "--format=%s", "theirs").splitlines()
    with pytest.raises(InvalidInput, match="is not on topic"):
        repo.preview_rebase("topic", "main", first=ids[first])
    with pytest.raises(InvalidInput, match="onto themselves"):
        repo.preview_rebase("topic", "topic", first="topic~1")
