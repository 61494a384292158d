"""Opening and making repositories of every kind: it works, or the error says what to do."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pygit2
import pytest

from forge.errors import ForgeError
from forge.git import PERSON, Repository
from forge.git.errors import (
    BranchMissing,
    FileMissing,
    InvalidRevision,
    RepositoryMissing,
    RepositoryUnreadable,
    RevisionMissing,
    UnsupportedRepository,
)
from tests.conftest import Git, MakeRepo
from tests.git import worlds
from tests.git.worlds import AGENT

pytestmark = pytest.mark.req("G-02")


def save(repo: Repository, branch: str, path: str = "saved.txt") -> str:
    space = repo.workspace(branch, actor=PERSON)
    space.write_file(path, "saved\n")
    return space.commit(f"edit: {path}")


# -- kinds that work


def test_a_repository_is_found_from_anywhere_inside_it(make_repo: MakeRepo) -> None:
    place = make_repo({"deep/er/file": "x"})
    for inside in (place, place / "deep", place / "deep/er", place / ".git", str(place), place / "deep/er/file"):
        repo = Repository.open(inside)
        assert (repo.git_dir, repo.work_tree) == (place / ".git", place)
        assert repo.commit_vfs("main").list_files() == ["deep/er/file"]


def test_a_bare_repository_takes_commits(tmp_path: Path) -> None:
    repo = Repository.init(tmp_path / "bare.git", bare=True)
    assert repo.work_tree is None
    made = save(repo, "main")
    assert worlds.text(repo.git_dir, "rev-parse", "main") == made
    worlds.assert_fsck_clean(repo.git_dir)


def test_an_empty_repository_gets_its_first_commit(tmp_path: Path) -> None:
    worlds.git(tmp_path, "init", "-q", "-b", "trunk", "new")
    repo = Repository.open(tmp_path / "new")
    assert repo.is_empty
    assert repo.branches() == ()
    assert repo.default_branch == "trunk"
    made = save(repo, "trunk")
    assert not repo.is_empty
    assert worlds.text(tmp_path / "new", "rev-parse", "HEAD") == made
    assert worlds.text(tmp_path / "new", "log", "--format=%P", "trunk") == ""
    assert worlds.text(tmp_path / "new", "status", "--porcelain") == ""


def test_init_makes_a_repository_and_opens_one_that_is_there(tmp_path: Path) -> None:
    repo = Repository.init(tmp_path / "a/b", default_branch="trunk")
    assert worlds.text(tmp_path / "a/b", "symbolic-ref", "HEAD") == "refs/heads/trunk"
    save(repo, "trunk")
    again = Repository.init(tmp_path / "a/b")
    assert [b.name for b in again.branches()] == ["trunk"]
    assert worlds.text(tmp_path / "a/b", "symbolic-ref", "HEAD") == "refs/heads/trunk"


@pytest.mark.parametrize("name", ["-x", "a b", "..", "refs/heads/x", "a\nb", "", "HEAD"])
def test_init_refuses_a_default_branch_that_no_branch_can_be_called(tmp_path: Path, name: str) -> None:
    with pytest.raises(ForgeError) as refused:
        Repository.init(tmp_path / "new", default_branch=name)
    assert refused.value.code == "invalid_name"
    assert not (tmp_path / "new").exists()


def test_a_linked_worktree_shares_branches_and_objects(make_repo: MakeRepo, tmp_path: Path) -> None:
    place = make_repo({"f": "f\n"})
    linked = tmp_path / "linked"
    worlds.git(place, "worktree", "add", "-q", "-b", "side", str(linked))
    repo = Repository.open(linked)
    assert repo.work_tree == linked
    assert repo.common_dir == place / ".git"
    head = (place / ".git/HEAD").read_bytes(), (repo.git_dir / "HEAD").read_bytes()

    repo.create_branch("work", "side")
    made = save(repo, "work")
    assert worlds.branches(place)["work"] == made
    assert Repository.open(place).commit_vfs("work").read_file("saved.txt") == "saved\n"
    assert not (repo.git_dir / "objects").exists()
    assert not (repo.git_dir / "refs/heads").exists()
    assert ((place / ".git/HEAD").read_bytes(), (repo.git_dir / "HEAD").read_bytes()) == head
    assert [op.reason for op in Repository.open(place).operations()] == [op.reason for op in repo.operations()]
    worlds.assert_fsck_clean(place)


def test_a_submodule_is_a_repository_of_its_own(make_repo: MakeRepo) -> None:
    inner = make_repo({"lib.c": "int x;\n"}, name="inner")
    outer = make_repo({"main.c": "int y;\n"}, name="outer")
    worlds.git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib")
    worlds.git(outer, "commit", "-qm", "with lib")
    before = worlds.refs(outer)

    repo = Repository.open(outer / "lib")
    assert repo.work_tree == outer / "lib"
    assert repo.git_dir == outer / ".git/modules/lib"
    repo.create_branch("work", "main", actor=AGENT)
    made = save(repo, "work")
    assert worlds.branches(outer / "lib")["work"] == made
    assert worlds.refs(outer) == before
    assert Repository.open(outer).commit_vfs("main").list_files() == [".gitmodules", "main.c"]
    worlds.assert_fsck_clean(outer / "lib")


def test_a_shallow_clone_reads_its_tip_takes_commits_and_stays_shallow(make_repo: MakeRepo, tmp_path: Path) -> None:
    place = make_repo({"f": "1"})
    (place / "f").write_text("2")
    worlds.git(place, "commit", "-qam", "second")
    worlds.git(tmp_path, "clone", "-q", "--depth=1", place.as_uri(), "shallow")
    repo = Repository.open(tmp_path / "shallow")
    assert repo.commit_vfs("main").read_file("f") == "2"
    with pytest.raises(RevisionMissing):
        repo.commit_vfs("main~1")
    save(repo, "main")
    worlds.assert_fsck_clean(tmp_path / "shallow")


def test_a_partial_clone_says_which_file_has_to_be_fetched(make_repo: MakeRepo, tmp_path: Path) -> None:
    place = make_repo({"f": "content\n", "g/h": "more\n"})
    worlds.git(place, "config", "uploadpack.allowFilter", "true")
    worlds.git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", place.as_uri(), "partial")
    repo = Repository.open(tmp_path / "partial")
    assert repo.commit_vfs("main").list_files() == ["f", "g/h"]
    with pytest.raises(RevisionMissing) as missing:
        repo.commit_vfs("main").read_bytes("f")
    assert "fetch" in missing.value.hint
    repo.create_branch("work", "main")
    save(repo, "work", "g/new.txt")
    assert worlds.text(tmp_path / "partial", "ls-tree", "-r", "--name-only", "work").splitlines() == [
        "f",
        "g/h",
        "g/new.txt",
    ]


@pytest.mark.parametrize("extension", ["worktreeConfig=true", "preciousObjects=true", "noop=1", "objectFormat=sha1"])
def test_harmless_extensions_do_not_matter(make_repo: MakeRepo, extension: str) -> None:
    place = make_repo({"f": "x"})
    worlds.git(place, "config", "core.repositoryFormatVersion", "1")
    worlds.git(place, "config", f"extensions.{extension.split('=', maxsplit=1)[0]}", extension.split("=")[1])
    repo = Repository.open(place)
    repo.create_branch("work", "main")
    save(repo, "work")


# -- kinds that are refused


def test_a_path_that_is_not_there_or_no_repository_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for place in (tmp_path / "missing", tmp_path / "plain", "a\0b", "~nobody-of-that-name/x", "x" * 300):
        with pytest.raises(RepositoryMissing) as missing:
            Repository.open(place)
        assert missing.value.code == "repository_missing"
        assert missing.value.hint


def test_sha256_names_are_refused(tmp_path: Path) -> None:
    worlds.git(tmp_path, "init", "-q", "--object-format=sha256", "new")
    with pytest.raises(UnsupportedRepository, match="SHA-256") as refused:
        Repository.open(tmp_path / "new")
    assert "SHA-1" in refused.value.hint


@pytest.mark.parametrize(
    "setting", ["extensions.refStorage=reftable", "extensions.fromTheFuture=1", "core.repositoryFormatVersion=99"]
)
def test_a_format_that_we_cannot_read_is_refused(make_repo: MakeRepo, setting: str) -> None:
    place = make_repo({"f": "x"})
    worlds.git(place, "config", "core.repositoryFormatVersion", "1")
    worlds.git(place, "config", *setting.split("="))
    with pytest.raises(UnsupportedRepository) as refused:
        Repository.open(place)
    assert refused.value.code == "unsupported_repository"
    assert refused.value.hint


def test_a_broken_configuration_is_refused(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "x"})
    (place / ".git/config").write_text("[core\nbroken")
    with pytest.raises(RepositoryUnreadable, match="config") as refused:
        Repository.open(place)
    assert refused.value.hint


def test_a_git_file_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(ForgeError) as refused:
        Repository.open(tmp_path / "w")
    assert refused.value.code in ("repository_missing", "repository_unreadable")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_refused_with_the_way_to_trust_it(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "x"})
    for folder, _, files in os.walk(place):
        for name in [folder, *(os.path.join(folder, f) for f in files)]:
            os.chown(name, 12345, 12345)
    with pytest.raises(RepositoryUnreadable, match="another user") as refused:
        Repository.open(place)
    assert "safe.directory" in refused.value.hint
    worlds.git(place, "config", "--global", "--add", "safe.directory", str(place))
    assert Repository.open(place).commit_vfs("main").list_files() == ["f"]


@pytest.mark.req("X-04")
@pytest.mark.parametrize("what", ["blob", "tree", "commit"])
@pytest.mark.parametrize("damage", [b"garbage", b"", None], ids=["garbage", "empty", "missing"])
def test_a_damaged_object_is_named_and_nothing_else_suffers(
    make_repo: MakeRepo, what: str, damage: bytes | None
) -> None:
    place = make_repo({"f": "x", "good/file": "fine\n"})
    worlds.git(place, "branch", "healthy", worlds.commit(place, worlds.text(place, "rev-parse", "main:good")))
    oid = worlds.text(place, "rev-parse", {"blob": "main:f", "tree": "main^{tree}", "commit": "main"}[what])
    file = place / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    file.unlink() if damage is None else file.write_bytes(damage)
    repo = Repository.open(place)
    with pytest.raises((RepositoryUnreadable, RevisionMissing), match=oid) as broken:
        repo.commit_vfs("main").read_bytes("f")
    assert broken.value.hint
    assert [b.name for b in repo.branches()] == ["healthy", "main"]
    assert repo.commit_vfs("healthy").read_file("file") == "fine\n"
    save(repo, "healthy")


def test_a_blob_that_a_tree_calls_a_folder_is_refused(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "x" * 100})
    oid = worlds.text(place, "rev-parse", "main:f")
    worlds.commit(place, worlds.tree(place, [(b"40000", b"no-folder", oid), (b"100644", b"ok", oid)]), branch="lie")
    vfs = Repository.open(place).commit_vfs("lie")
    assert [e.name for e in vfs.list_dir()] == ["no-folder", "ok"]
    for look in (vfs.list_files, lambda: vfs.list_dir("no-folder"), lambda: vfs.read_bytes("no-folder/x")):
        with pytest.raises(RepositoryUnreadable, match=oid):
            look()
    assert vfs.read_bytes("ok") == b"x" * 100


# -- revisions


def test_a_revision_is_a_branch_a_tag_an_id_or_an_expression(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "1"})
    (place / "f").write_text("2")
    worlds.git(place, "commit", "-qam", "second")
    worlds.git(place, "tag", "light", "main~1")
    worlds.git(place, "tag", "-a", "heavy", "-m", "x", "main~1")
    worlds.git(place, "update-ref", "refs/remotes/origin/main", "main~1")
    repo = Repository.open(place)
    tip, first = worlds.text(place, "rev-parse", "main"), worlds.text(place, "rev-parse", "main~1")
    for rev in ("main", "HEAD", "@", "refs/heads/main", tip, tip[:8], tip.upper(), ":/second"):
        assert repo.resolve(rev) == tip, rev
    for rev in (
        "main~1",
        "main^",
        "HEAD~",
        "light",
        "heavy",
        "heavy^{commit}",
        "origin/main",
        first,
        "refs/tags/heavy",
    ):
        assert repo.resolve(rev) == first, rev


NO_COMMITS = ["", " ", "nope", "-x", "--all", "main~99", "main^5", "main..main", "..", "a\0b", "main\0", "\ud800"]
NO_COMMITS += ["caf\udce9", "main:f", "main^{tree}", "x" * 5000, "refs/heads/../../config", "0" * 40, "@{-1}", "^main"]


@pytest.mark.parametrize("rev", NO_COMMITS)
def test_what_names_no_commit_is_refused_with_a_hint(make_repo: MakeRepo, rev: str) -> None:
    repo = Repository.open(make_repo({"f": "1"}))
    with pytest.raises((RevisionMissing, InvalidRevision)) as refused:
        repo.resolve(rev)
    assert refused.value.code in ("revision_missing", "invalid_revision")
    assert refused.value.hint
    assert len(refused.value.message) < 400
    refused.value.message.encode()


@pytest.mark.req("X-06")
def test_a_branch_cannot_pose_as_a_commit_id_or_as_head(make_repo: MakeRepo) -> None:
    """Such branches cannot be made through Forge, but a fetch can bring them."""
    place = make_repo({"f": "1"})
    first = worlds.text(place, "rev-parse", "main")
    evil = worlds.commit(place, worlds.tree(place, []), branch="evil")
    for name in (first, "HEAD"):
        (place / ".git/refs/heads" / name).write_text(evil + "\n")
    repo = Repository.open(place)
    assert repo.resolve(first) == first
    assert repo.resolve("HEAD") == first


def test_a_repository_that_is_opened_twice_shows_the_same(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "1"})
    one, two = Repository.open(place), Repository.open(place)
    one.create_branch("work", "main")
    made = save(one, "work")
    assert two.commit_vfs("work").read_file("saved.txt") == "saved\n"
    assert two.resolve("work") == made
    with pytest.raises(FileMissing):
        two.commit_vfs("main").read_file("saved.txt")


def test_opening_reads_no_environment_that_points_elsewhere(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of another repository may have started us."""
    here, other = make_repo({"f": "1"}, name="here"), make_repo({"g": "1"}, name="other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
    repo = Repository.open(here)
    repo.create_branch("work", "main")
    made = save(repo, "work")
    monkeypatch.undo()
    assert worlds.branches(here)["work"] == made
    assert "work" not in worlds.branches(other)
    assert pygit2.Repository(str(here))[made]


def test_an_orphan_branch_gets_its_first_commit(make_repo: MakeRepo, git: Git) -> None:
    place = make_repo({"a.txt": "a"})
    git(place, "checkout", "--orphan", "fresh")
    git(place, "rm", "-rfq", "--cached", ".")
    repo = Repository.open(place)

    for ask in (repo.log, lambda: repo.resolve("HEAD")):
        with pytest.raises(RevisionMissing, match="names the branch fresh, which has no commit"):
            ask()
    workspace = repo.workspace("fresh")
    workspace.write_file("b.txt", "b")
    made = workspace.commit("first")
    assert repo.commit(made).parents == ()
    with pytest.raises(BranchMissing):
        repo.workspace("elsewhere")


def test_a_git_directory_that_may_not_be_read_is_told_apart_from_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "theirs" / ".git"
    closed.mkdir(parents=True)
    inside = tmp_path / "theirs" / "docs"
    inside.mkdir()
    with pytest.raises(RepositoryMissing):
        Repository.open(inside)
    listed = os.listdir

    def refused(place: Path) -> list[str]:
        if place == closed:
            raise PermissionError(13, "Permission denied")
        return listed(place)

    # Root may read everything, so nothing else would refuse the tests.
    monkeypatch.setattr(os, "listdir", refused)
    with pytest.raises(RepositoryUnreadable, match="Permission denied") as told:
        Repository.open(inside)
    assert f"ls -ld {closed}" in (told.value.hint or "")
