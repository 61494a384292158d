"""Merging: the preview is what git says, performing gives exactly that, and conflicts are settled by contents."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from forge.errors import InvalidInput
from forge.git import (
    PERSON,
    Actor,
    BranchMissing,
    BranchMoved,
    CommitId,
    MergeConflicts,
    MergePreview,
    Mode,
    ProtectedBranch,
    Repository,
)
from forge.git.errors import FileMissing, InvalidRevision
from forge.git.merging import git_merge
from forge.git.merging.merge import preview_merge
from forge.git.merging.preview import perform
from tests.git import worlds
from tests.git.merging.lineages import COMMITTER, Author, Files, Lineage, git_verdicts

pytestmark = pytest.mark.req("G-16")

FILE = 0o100644
TEXT = b"one\ntwo\nthree\nfour\nfive\n"


def text(content: str | bytes, mode: int = FILE) -> tuple[int, bytes]:
    return mode, content.encode() if isinstance(content, str) else content


def sides(directory: Path, base: Files, ours: Files, theirs: Files) -> Repository:
    """A repository where main has `ours` and topic has `theirs`, both from `base`."""
    worlds.git(directory, "init", "--quiet", "--bare", ".")
    lineage = Lineage()
    root = lineage.commit("main", base)
    lineage.commit("topic", theirs, root)
    lineage.commit("main", ours, root)
    lineage.write(directory)
    return Repository.open(directory)


def preview_of(repo: Repository, source: str, target: str, *, no_ff: bool = False) -> MergePreview:
    tip = repo.resolve(source)
    return preview_merge(repo.objects, repo.refs, tip, target, committer=COMMITTER, source_name=source, no_ff=no_ff)


def contents(repo: Repository, preview: MergePreview) -> dict[str, tuple[int, str]]:
    return {path: (entry.mode, entry.id) for path, entry in preview.view(repo.objects).files(preview.tree)}


def listing(directory: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder with its size and time. git renews the time of an object it would write again."""
    stats = {str(p.relative_to(directory)): p.stat() for p in directory.rglob("*")}
    return {n: (s.st_size, 0 if n.startswith("objects/") else s.st_mtime_ns) for n, s in stats.items()}


def pairs(directory: Path, seeds: range, *, sessions: bool = False) -> list[tuple[Files, Files, Files]]:
    """Branches `t<seed>` and `s<seed>` to merge; every twelfth pair has crossed before."""
    worlds.git(directory, "init", "--quiet", "--bare", ".")
    lineage, made = Lineage(), []
    for seed in seeds:
        author = Author(seed, sessions=sessions)
        base = author.first()
        ours, theirs = (author.changed(base, author.random.randrange(1, 4)) for _ in range(2))
        root = lineage.commit(f"t{seed}", base)
        our, their = lineage.commit(f"t{seed}", ours, root), lineage.commit(f"s{seed}", theirs, root)
        if seed % 12 == 0 and not sessions:
            lineage.commit(f"t{seed}", author.changed(author.joined(ours, theirs), 1), our, their)
            lineage.commit(f"s{seed}", author.changed(author.joined(theirs, ours), 1), their, our)
        made.append((base, ours, theirs))
    lineage.write(directory)
    return made


def merged_by(repo: Repository, actor: Actor) -> None:
    preview = preview_merge(repo.objects, repo.refs, repo.resolve("topic"), "main", committer=COMMITTER)
    perform(repo.objects, repo.refs, preview, actor=actor)


@pytest.mark.parametrize("seeds", [range(n, n + 150) for n in range(0, 600, 150)], ids=lambda r: str(r.start))
def test_previews_of_generated_pairs_equal_what_git_says_and_write_nothing(tmp_path: Path, seeds: range) -> None:
    pairs(tmp_path, seeds)
    verdicts = git_verdicts(tmp_path, [(f"t{n}", f"s{n}") for n in seeds])
    repo = Repository.open(tmp_path)
    before = listing(tmp_path)
    outcomes = set()
    for seed, verdict in zip(seeds, verdicts, strict=True):
        preview = preview_of(repo, f"s{seed}", f"t{seed}", no_ff=True)
        outcomes.add(preview.outcome)
        if verdict is None or preview.outcome == "up to date":
            continue
        assert preview.tree == verdict.tree, seed
        assert (preview.outcome == "clean") == (preview.result is not None) == verdict.clean, seed
        if verdict.paths:
            assert {conflict.path for conflict in preview.conflicts} == verdict.paths, seed
        assert bool(preview.conflicts) == (not verdict.clean), seed
    assert listing(tmp_path) == before
    assert {"clean", "conflicts"} <= outcomes


def test_a_performed_merge_is_the_very_commit_that_git_makes(tmp_path: Path) -> None:
    seeds = range(1000, 1036)
    (tmp_path / "ours").mkdir()
    pairs(tmp_path / "ours", seeds)
    worlds.git(tmp_path, "clone", "--quiet", "--mirror", "ours", "theirs/.git")
    worlds.git(tmp_path / "theirs", "config", "core.bare", "false")
    repo = Repository.open(tmp_path / "ours")
    merged = 0
    for seed in seeds:
        preview = preview_of(repo, f"s{seed}", f"t{seed}", no_ff=True)
        worlds.git(tmp_path / "theirs", "checkout", "--quiet", "--force", f"t{seed}")
        worlds.git(tmp_path / "theirs", "merge", "--no-ff", "--no-edit", "--quiet", f"s{seed}", ok=(0, 1, 2, -6))
        unmerged = worlds.text(tmp_path / "theirs", "diff", "--name-only", "--diff-filter=U").splitlines()
        if preview.conflicts:
            with pytest.raises(MergeConflicts):
                perform(repo.objects, repo.refs, preview, actor=PERSON)
            # Where a file must step aside for a folder, git calls our side HEAD and we name the branch.
            ours = {path.replace("~HEAD", f"~t{seed}") for path in unmerged}
            assert {c.path for c in preview.conflicts if c.ours or c.theirs or c.base} == ours, seed
        else:
            perform(repo.objects, repo.refs, preview, actor=PERSON)
            assert preview.result == repo.refs.tip(f"t{seed}") == worlds.text(tmp_path / "theirs", "rev-parse", "HEAD")
            assert changed(preview) == by_git(tmp_path / "ours", preview), seed
            merged += 1
        worlds.git(tmp_path / "theirs", "reset", "--quiet", "--hard")
        worlds.git(tmp_path / "theirs", "clean", "-qffdx")
    assert merged > 15
    worlds.assert_fsck_clean(tmp_path / "ours")


def changed(preview: MergePreview) -> set[tuple[str, str]]:
    return {(file.path, file.change) for file in preview.files}


def by_git(directory: Path, preview: MergePreview) -> set[tuple[str, str]]:
    letters = {"A": "added", "D": "deleted", "M": "modified", "T": "modified"}
    command = ("diff-tree", "-r", "--name-status", "--no-renames", preview.target_tip, preview.tree)
    rows = (line.split("\t") for line in worlds.text(directory, *command).splitlines())
    return {(path, letters[letter]) for letter, path in rows}


@pytest.mark.req("G-07")
def test_conversations_never_conflict_and_leave_the_rest_to_git(tmp_path: Path) -> None:
    seeds = range(2000, 2120)
    made = pairs(tmp_path, seeds, sessions=True)
    verdicts = git_verdicts(tmp_path, [(f"t{n}", f"s{n}") for n in seeds])
    repo = Repository.open(tmp_path)
    both = 0
    for seed, (base, ours, theirs), verdict in zip(seeds, made, verdicts, strict=True):
        preview = preview_of(repo, f"s{seed}", f"t{seed}", no_ff=True)
        view = preview.view(repo.objects)
        found = dict(view.files(preview.tree))
        talk = {path: view.blob(entry.id) for path, entry in found.items() if is_talk(path)}
        assert talk == merged_talk(base, ours, theirs), seed
        both += ours.get(HEAD_FILE) != base.get(HEAD_FILE) != theirs.get(HEAD_FILE) != ours.get(HEAD_FILE)
        if verdict is not None:
            rest = {p: e for p, e in found.items() if not is_talk(p)}
            tree = repo.objects.files(worlds.ObjectId(verdict.tree))
            assert rest == {p: e for p, e in tree if not is_talk(p)}, seed
            assert {c.path for c in preview.conflicts} == {p for p in verdict.paths if not is_talk(p)}, seed
    assert both > 10


HEAD_FILE = ".forge/session.json"


def is_talk(path: str) -> bool:
    return path.startswith(".forge/session")


def merged_talk(base: Files, ours: Files, theirs: Files) -> dict[str, bytes]:
    """Changed on one side: that side. Changed on both: ours, unless we deleted it."""
    result = {}
    for path in filter(is_talk, {*base, *ours, *theirs}):
        old, our, their = (side.get(path) for side in (base, ours, theirs))
        kept = their if our == old else our if their == old else our or their
        if kept is not None:
            result[path] = kept[1]
    return result


@pytest.mark.req("G-07")
def test_both_branches_went_on_talking(tmp_path: Path) -> None:
    base: Files = {HEAD_FILE: text('{"turns": 1}'), ".forge/session/00/a.json": text("a"), "code": text("1")}
    ours = base | {HEAD_FILE: text('{"turns": 2}'), ".forge/session/00/b.json": text("b"), "ours": text("")}
    theirs = base | {HEAD_FILE: text('{"turns": 3}'), ".forge/session/00/c.json": text("c"), "theirs": text("")}
    repo = sides(tmp_path, base, ours, theirs)
    merged_by(repo, PERSON)
    merged = repo.commit_vfs("main")
    assert merged.read_file(HEAD_FILE) == '{"turns": 2}'
    assert merged.list_files(".forge/session/") == [f".forge/session/00/{turn}.json" for turn in "abc"]
    assert {"ours", "theirs", "code"} <= set(merged.list_files())


@pytest.mark.req("G-07")
def test_a_conversation_beside_a_real_conflict_is_no_conflict(tmp_path: Path) -> None:
    base: Files = {HEAD_FILE: text("{}"), "f": text(TEXT)}
    ours: Files = {HEAD_FILE: text("ours"), "f": text(TEXT.replace(b"two", b"2"))}
    theirs: Files = {HEAD_FILE: text("theirs"), ".forge/session/1": text("x"), "f": text(TEXT.replace(b"two", b"II"))}
    repo = sides(tmp_path, base, ours, theirs)
    preview = preview_of(repo, "topic", "main")
    assert [conflict.path for conflict in preview.conflicts] == ["f"]
    assert preview.read(repo.objects, HEAD_FILE) == b"ours"
    assert preview.read(repo.objects, ".forge/session/1") == b"x"
    assert not any("session" in message for message in preview.messages)


@pytest.fixture
def conflicted(tmp_path: Path) -> Repository:
    """Both sides edit the same line of `run`; `gone` is edited here and deleted there; `free` is theirs alone."""
    base: Files = {"run": text(TEXT, Mode.EXECUTABLE), "gone": text(TEXT), "free": text(TEXT), "same": text(TEXT)}
    ours = base | {"run": text(TEXT.replace(b"two", b"2"), Mode.EXECUTABLE), "gone": text(TEXT + b"more\n")}
    theirs = base | {"run": text(TEXT.replace(b"two", b"II"), Mode.EXECUTABLE), "free": text("theirs\n")}
    del theirs["gone"]
    return sides(tmp_path, base, ours, theirs)


def test_a_conflict_shows_its_three_sides_and_names_them(conflicted: Repository) -> None:
    preview = preview_of(conflicted, "topic", "main")
    read = conflicted.objects.blob
    content, deleted = sorted(preview.conflicts, key=lambda c: c.path, reverse=True)
    assert (content.path, content.kind) == ("run", "content")
    assert [read(side.id) for side in (content.base, content.ours, content.theirs) if side] == [
        TEXT,
        TEXT.replace(b"two", b"2"),
        TEXT.replace(b"two", b"II"),
    ]
    assert content.marked == b"one\n<<<<<<< main\n2\n=======\nII\n>>>>>>> topic\nthree\nfour\nfive\n"
    assert (deleted.path, deleted.kind, deleted.theirs, deleted.marked) == ("gone", "modify/delete", None, None)
    assert preview.outcome == "conflicts"
    assert preview.result is None
    assert preview.read(conflicted.objects, "run") == content.marked


def test_unresolved_conflicts_are_named_and_nothing_is_written(conflicted: Repository) -> None:
    before = listing(conflicted.git_dir)
    preview = preview_of(conflicted, "topic", "main")
    for given in (None, {"run": "settled\n"}):
        with pytest.raises(MergeConflicts, match="gone") as refused:
            perform(conflicted.objects, conflicted.refs, preview, actor=PERSON, resolutions=given)
        assert refused.value.hint
    assert listing(conflicted.git_dir) == before


def test_given_contents_settle_conflicts_and_keep_modes(conflicted: Repository) -> None:
    preview = preview_of(conflicted, "topic", "main")
    settled = preview.resolved(conflicted.objects, {"run": "settled\n", "gone": None})
    assert settled.outcome == "clean"
    perform(conflicted.objects, conflicted.refs, preview, actor=PERSON, resolutions={"run": b"settled\n", "gone": None})
    main = conflicted.commit_vfs("main")
    assert conflicted.refs.tip("main") == settled.result
    assert main.list_files() == ["free", "run", "same"]
    assert (main.read_file("run"), main.mode("run")) == ("settled\n", Mode.EXECUTABLE)
    assert main.read_file("free") == "theirs\n"
    parents = worlds.text(conflicted.git_dir, "log", "-1", "--format=%P", "main").split()
    assert parents == [preview.target_tip, *preview.sources]
    worlds.assert_fsck_clean(conflicted.git_dir)


def test_a_side_can_be_taken_as_it_is_and_in_steps(conflicted: Repository) -> None:
    preview = preview_of(conflicted, "topic", "main")
    ours = {conflict.path: conflict.ours for conflict in preview.conflicts}
    half = preview.resolved(conflicted.objects, {"run": ours["run"]})
    assert [conflict.path for conflict in half.conflicts] == ["gone"]
    perform(conflicted.objects, conflicted.refs, half, actor=PERSON, resolutions={"gone": ours["gone"]})
    assert conflicted.commit_vfs("main").read_bytes("gone") == TEXT + b"more\n"
    assert conflicted.commit_vfs("main").read_bytes("run") == TEXT.replace(b"two", b"2")


@pytest.mark.parametrize("path", ["same", "nowhere", "free"])
def test_only_what_is_in_conflict_can_be_resolved(conflicted: Repository, path: str) -> None:
    preview = preview_of(conflicted, "topic", "main")
    with pytest.raises(InvalidInput, match=path):
        preview.resolved(conflicted.objects, {"run": "x", "gone": None, path: "y"})


def test_a_clean_merge_takes_no_resolutions(tmp_path: Path) -> None:
    repo = sides(tmp_path, {"a": text("1")}, {"a": text("1"), "b": text("2")}, {"a": text("3")})
    with pytest.raises(InvalidInput):
        preview_of(repo, "topic", "main").resolved(repo.objects, {"a": "x"})


def test_a_side_of_another_file_is_refused(conflicted: Repository) -> None:
    preview = preview_of(conflicted, "topic", "main")
    stranger = conflicted.objects.entry(preview.tree, "free")
    with pytest.raises(InvalidInput, match="no side"):
        preview.resolved(conflicted.objects, {"run": stranger})


def test_a_submodule_in_conflict_is_settled_by_a_side(tmp_path: Path) -> None:
    one, two, three = (b"%040x" % n for n in (1, 2, 3))
    link = Mode.SUBMODULE
    repo = sides(tmp_path, {"lib": (link, one)}, {"lib": (link, two)}, {"lib": (link, three)})
    preview = preview_of(repo, "topic", "main")
    (conflict,) = preview.conflicts
    with pytest.raises(InvalidInput, match="submodule"):
        preview.resolved(repo.objects, {"lib": "text"})
    settled = preview.resolved(repo.objects, {"lib": conflict.theirs})
    assert contents(repo, settled) == {"lib": (link, three.decode())}


@pytest.mark.req("G-09")
def test_a_branch_that_moved_after_the_preview_is_never_overwritten(tmp_path: Path) -> None:
    repo = sides(tmp_path, {"a": text("1")}, {"a": text("1"), "b": text("2")}, {"a": text("3")})
    preview = preview_of(repo, "topic", "main")
    space = repo.workspace("main")
    space.write_file("c", "meanwhile")
    moved = space.commit("meanwhile")
    packs = listing(tmp_path / "objects")
    with pytest.raises(BranchMoved):
        perform(repo.objects, repo.refs, preview, actor=PERSON)
    assert repo.refs.tip("main") == moved
    assert listing(tmp_path / "objects") == packs


def test_a_branch_that_is_behind_follows_and_one_that_is_ahead_stays(tmp_path: Path) -> None:
    lineage = Lineage()
    worlds.git(tmp_path, "init", "--quiet", "--bare", ".")
    first = lineage.commit("main", {"a": text("1")})
    lineage.commit("topic", {"a": text("2")}, first)
    old, new = lineage.write(tmp_path)[1:]
    repo = Repository.open(tmp_path)
    ahead = preview_of(repo, "main", "topic")
    assert (ahead.outcome, ahead.result, ahead.files) == ("up to date", new, ())
    assert perform(repo.objects, repo.refs, ahead, actor=PERSON) is None
    always = preview_of(repo, "topic", "main", no_ff=True)
    assert always.outcome == "clean"
    behind = preview_of(repo, "topic", "main")
    assert (behind.outcome, behind.result, changed(behind)) == ("fast-forward", new, {("a", "modified")})
    assert behind.target_tip == old
    perform(repo.objects, repo.refs, behind, actor=PERSON)
    assert repo.refs.tip("main") == new


def test_unrelated_histories_and_missing_branches_are_refused_with_advice(tmp_path: Path) -> None:
    worlds.git(tmp_path, "init", "--quiet", "--bare", ".")
    lineage = Lineage()
    lineage.commit("main", {"a": text("1")})
    lineage.commit("other", {"b": text("1")})
    lineage.write(tmp_path)
    repo = Repository.open(tmp_path)
    with pytest.raises(InvalidRevision, match="no commit in common") as refused:
        preview_of(repo, "other", "main")
    assert "unrelated" in refused.value.hint
    with pytest.raises(BranchMissing):
        preview_of(repo, "other", "nowhere")


def test_an_agent_cannot_merge_into_the_default_branch(tmp_path: Path) -> None:
    repo = sides(tmp_path, {"a": text("1")}, {"a": text("1"), "b": text("2")}, {"a": text("3")})
    before = repo.refs.tip("main")
    with pytest.raises(ProtectedBranch):
        merged_by(repo, worlds.AGENT)
    assert repo.refs.tip("main") == before


@pytest.mark.parametrize(
    ("attributes", "merged"),
    [("*.md merge=union\n", b"first\nours\ntheirs\n"), ("* -merge\n", None), ("", None)],
    ids=["union", "binary", "none"],
)
def test_our_gitattributes_say_how_contents_are_merged(tmp_path: Path, attributes: str, merged: bytes | None) -> None:
    base: Files = {"docs/.gitattributes": text(attributes), "docs/log.md": text("first\n")}
    ours = base | {"docs/log.md": text("first\nours\n")}
    repo = sides(tmp_path, base, ours, base | {"docs/log.md": text("first\ntheirs\n")})
    preview = preview_of(repo, "topic", "main")
    if merged is not None:
        assert preview.read(repo.objects, "docs/log.md") == merged
    else:
        assert [conflict.path for conflict in preview.conflicts] == ["docs/log.md"]
        assert (preview.conflicts[0].marked is None) == bool(attributes)


def test_no_gitattributes_file_leads_out_of_the_private_folder(tmp_path: Path) -> None:
    """A hostile tree names a folder `..`; its attributes must not be written above ours."""
    worlds.git(tmp_path, "init", "--quiet", "--bare", ".")

    def commit(content: bytes, *parents: str) -> CommitId:
        file = worlds.blob(tmp_path, content)
        inner = worlds.tree(tmp_path, [(b"100644", b".gitattributes", file), (b"100644", b"f", file)])
        return worlds.commit(tmp_path, worlds.tree(tmp_path, [(b"40000", b"..", inner)]), *parents)

    base = commit(b"one\n")
    worlds.git(tmp_path, "update-ref", "refs/heads/main", commit(b"two\n", base))
    worlds.git(tmp_path, "update-ref", "refs/heads/topic", commit(b"three\n", base))
    repo = Repository.open(tmp_path)
    place = tmp_path / "private"
    place.mkdir()
    merger = git_merge.GitMerger(repo.objects, place)
    merger.show_attributes(repo.objects.commit(repo.resolve("main")).tree, ["../f"])
    assert not list(tmp_path.rglob(".gitattributes"))


def test_asking_git_leaves_nothing_behind(
    conflicted: Repository, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path_factory.mktemp("memory")
    seen = []
    monkeypatch.setattr(git_merge, "_in_memory", lambda: seen.append(place) or str(place))
    preview_of(conflicted, "topic", "main")
    assert seen == [place]
    assert not list(place.iterdir())


@pytest.mark.parametrize("name", ['a:b "c"', "new\nline", "back\\slash", "caf\u00e9 \U0001f600", "-dash"])
def test_repositories_in_oddly_named_folders_merge_too(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    repo = sides(place, {"f": text(TEXT)}, {"f": text(b"0\n" + TEXT)}, {"f": text(TEXT + b"6\n")})
    preview = preview_of(repo, "topic", "main")
    assert preview.read(repo.objects, "f") == b"0\n" + TEXT + b"6\n"


@pytest.mark.parametrize("source", ["config", "heads/main", "topic/deep", "deadbeef", "main~1", "v1^{}"])
def test_a_source_of_any_name_is_merged(tmp_path: Path, source: str) -> None:
    repo = sides(tmp_path, {"f": text(TEXT)}, {"f": text(b"0\n" + TEXT)}, {"f": text(TEXT + b"6\n")})
    theirs = repo.resolve("topic")
    preview = preview_merge(repo.objects, repo.refs, theirs, "main", committer=COMMITTER, source_name=source)
    assert preview.read(repo.objects, "f") == b"0\n" + TEXT + b"6\n"


def test_names_that_are_not_utf8_survive_a_merge_by_git(tmp_path: Path) -> None:
    worlds.git(tmp_path, "init", "--quiet", "--bare", ".")
    odd = b"caf\xe9"

    def commit(content: bytes, *parents: str) -> CommitId:
        return worlds.commit(
            tmp_path, worlds.tree(tmp_path, [(b"100644", odd, worlds.blob(tmp_path, content))]), *parents
        )

    base = commit(TEXT)
    worlds.git(tmp_path, "update-ref", "refs/heads/main", commit(b"0\n" + TEXT, base))
    worlds.git(tmp_path, "update-ref", "refs/heads/topic", commit(TEXT + b"6\n", base))
    worlds.git(tmp_path, "update-ref", "refs/heads/clash", commit(b"9\n" + TEXT, base))
    repo = Repository.open(tmp_path)
    path = odd.decode("utf-8", "surrogateescape")
    assert preview_of(repo, "topic", "main").read(repo.objects, path) == b"0\n" + TEXT + b"6\n"
    assert [conflict.path for conflict in preview_of(repo, "clash", "main").conflicts] == [path]


def test_a_merge_on_which_git_aborts_is_made_without_moving_folders(tmp_path: Path) -> None:
    """One side makes a folder a file, the other moves the folder above it: git 2.39 gives up."""
    base: Files = {"a/b/y": text(TEXT), "a/w": text(TEXT * 2)}
    repo = sides(tmp_path, base, {"a/b": text(TEXT), "a/w": base["a/w"]}, {f"n{p[1:]}": f for p, f in base.items()})
    preview = preview_of(repo, "topic", "main")
    assert preview.outcome in ("clean", "conflicts")
    assert preview.read(repo.objects, "n/w") == TEXT * 2


def test_a_worktree_and_a_shallow_clone_merge_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    repo = sides(tmp_path / "whole", {"f": text(TEXT)}, {"f": text(b"0\n" + TEXT)}, {"f": text(TEXT + b"6\n")})
    expected = preview_of(repo, "topic", "main").tree
    worlds.git(tmp_path / "whole", "worktree", "add", "--quiet", str(tmp_path / "linked"), "topic")
    linked = Repository.open(tmp_path / "linked")
    assert preview_of(linked, "topic", "main").tree == expected
    url = f"file://{tmp_path / 'whole'}"
    worlds.git(tmp_path, "clone", "--quiet", "--bare", "--depth=2", "--no-single-branch", url, "cut")
    assert preview_of(Repository.open(tmp_path / "cut"), "topic", "main").tree == expected
    worlds.git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", "--no-single-branch", url, "stumps")
    with pytest.raises(InvalidRevision, match="no commit in common"):
        preview_of(Repository.open(tmp_path / "stumps"), "topic", "main")


def test_a_merge_brings_objects_that_only_chance_has_put_there(tmp_path: Path) -> None:
    """The merged file equals a blob that no branch needs: a gc may be about to take it, so it is written again."""
    merged = b"0\n" + TEXT + b"6\n"
    repo = sides(tmp_path, {"f": text(TEXT)}, {"f": text(b"0\n" + TEXT)}, {"f": text(TEXT + b"6\n")})
    blob = worlds.blob(tmp_path, merged)
    worlds.tree(tmp_path, [(b"100644", b"f", blob)])
    merged_by(repo, PERSON)
    listings = [worlds.text(tmp_path, "verify-pack", "-v", str(p)) for p in (tmp_path / "objects/pack").glob("*.idx")]
    packed = {row.split()[0] for listing in listings for row in listing.splitlines()}
    assert {blob, repo.objects.commit(repo.resolve("main")).tree} <= packed
    worlds.git(tmp_path, "gc", "--quiet", "--prune=now")
    assert Repository.open(tmp_path).commit_vfs("main").read_bytes("f") == merged
    worlds.assert_fsck_clean(tmp_path)


def test_messages_are_worded_as_git_words_them(tmp_path: Path) -> None:
    repo = sides(tmp_path, {"a": text("1")}, {"a": text("1"), "b": text("2")}, {"a": text("3")})
    worlds.git(tmp_path, "branch", "dev", "main")
    tip = repo.resolve("topic")
    words = {
        (target, name): repo_message(repo, preview_merge(repo.objects, repo.refs, tip, target, **options))
        for target, name in itertools.product(("main", "dev"), ("topic", "topic~0", None))
        for options in [{"committer": COMMITTER, "source_name": name}]
    }
    assert words == {
        ("main", "topic"): "Merge branch 'topic'\n",
        ("main", "topic~0"): "Merge commit 'topic~0'\n",
        ("main", None): f"Merge commit '{tip}'\n",
        ("dev", "topic"): "Merge branch 'topic' into dev\n",
        ("dev", "topic~0"): "Merge commit 'topic~0' into dev\n",
        ("dev", None): f"Merge commit '{tip}' into dev\n",
    }


def repo_message(repo: Repository, preview: MergePreview) -> str:
    assert preview.result is not None
    return preview.view(repo.objects).commit(preview.result).message


def test_the_result_is_read_before_it_exists(tmp_path: Path) -> None:
    repo = sides(tmp_path, {"a": text("1")}, {"a": text("1"), "b": text("2")}, {"a": text("3")})
    preview = preview_of(repo, "topic", "main")
    assert preview.result is not None
    assert not repo.objects.has(preview.result)
    assert (preview.read(repo.objects, "a"), preview.read(repo.objects, "b")) == (b"3", b"2")
    with pytest.raises(FileMissing):
        preview.read(repo.objects, "c")
