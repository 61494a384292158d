"""Trees that no honest git writes: they can be looked at, are never made worse, and never take Forge down."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.git import VFS, InvalidPath, Mode, Repository, WorkInProgressVFS
from forge.git.errors import PathClash, RepositoryUnreadable
from forge.git.objects.object_store import Objects
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.objects.trees import parsed
from forge.git.values import ObjectKind
from tests.git import worlds
from tests.git.hostile_paths import NEVER, NEVER_NEW
from tests.git.hostile_trees import BLOB, CONTENT, EMPTY, HOSTILE, INNER, MISSING, SUB, hostile_tree
from tests.git.worlds import AGENT

pytestmark = pytest.mark.req("G-03", "X-04", "X-06")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile") / "repo.git"
    worlds.git(place.parent, "init", "-q", "--bare", "repo.git")
    return place


@contextmanager
def quickly(seconds: float = 5.0, megabytes: int = 150) -> Iterator[None]:
    """Neither a hang nor a blow-up: how long the processor works, and how much the highest use of memory grows."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    assert time.process_time() - start < seconds
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < megabytes


def branch_of(place: Path, tree: str) -> Repository:
    """A branch `odd` at `tree` and a repository that has seen nothing yet."""
    worlds.commit(place, tree, branch="odd")
    worlds.commit(place, tree, branch="main")
    return Repository.open(place)


def looked_at(vfs: VFS) -> list[str]:
    """Look at everything there is, in every way there is; only our own errors may come of it."""
    seen: list[str] = []

    def tolerant(look: Callable[[], object]) -> None:
        refused = worlds.refusal(look)
        if refused is not None:
            assert refused.code
            assert refused.hint
            refused.message.encode("utf-8", "surrogateescape")

    tolerant(lambda: seen.extend(vfs.list_files()))
    names: list[str] = []
    tolerant(lambda: names.extend(entry.name for entry in vfs.list_dir()))
    for path in [*names, *seen]:
        for look in (vfs.read_bytes, vfs.read_file, vfs.mode, vfs.entry, vfs.file_exists, vfs.list_dir, vfs.list_files):
            tolerant(lambda look=look, path=path: look(path))
            tolerant(lambda look=look, path=path: look(f"{path}/below"))
    return seen


# The folder itself is changed: what cannot be written back as it was is refused.
NOT_REWRITTEN = {"name twice", "file and folder of one name"}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_tree_can_be_looked_at_from_a_commit_and_from_a_workspace(hostile: Path, kind: str) -> None:
    repo = branch_of(hostile, hostile_tree(hostile, kind))
    with quickly():
        looked_at(repo.commit_vfs("odd"))
        assert repo.commit_vfs("odd").read_bytes("zz-file") == CONTENT
        space = repo.workspace("odd", actor=AGENT)
        looked_at(space)
        space.write_file("new/file", "x")
        space.write_file("zz-file", "y")
        looked_at(space)
        assert {"new", "zz-file"} <= {entry.name for entry in space.list_dir()}


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_edit_beside_a_hostile_folder_keeps_it_bit_by_bit(hostile: Path, kind: str) -> None:
    tree = hostile_tree(hostile, kind)
    root = worlds.tree(hostile, [(b"40000", b"evil", tree), (b"40000", b"good", worlds.tree(hostile, []))])
    repo = branch_of(hostile, root)
    space = repo.workspace("odd", actor=AGENT)
    space.write_file("good/file", "x")
    space.write_file("top", "x")
    with quickly():
        made = space.commit("beside it")
    kept = {name: oid.hex() for _, name, oid in parsed(worlds.stored(hostile, repo.objects.commit(made).tree))}
    assert kept[b"evil"] == tree
    assert repo.commit_vfs("odd").read_file("good/file") == "x"


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_edit_inside_a_hostile_folder_keeps_the_rest_or_is_refused(hostile: Path, kind: str) -> None:
    tree = hostile_tree(hostile, kind)
    repo = branch_of(hostile, worlds.tree(hostile, [(b"40000", b"evil", tree)]))
    space = repo.workspace("odd", actor=AGENT)
    space.write_file("evil/new", "x")
    if kind in NOT_REWRITTEN:
        with pytest.raises(RepositoryUnreadable, match="same") as refused:
            space.commit("inside it")
        assert refused.value.hint
        assert list(space.pending_changes()) == ["evil/new"]
        assert repo.resolve("odd") == space.base
        return
    space.commit("inside it")
    after = parsed(worlds.stored(hostile, repo.commit_vfs("odd").entry("evil").id))
    assert sorted(entry for entry in after if entry[1] != b"new") == sorted(parsed(worlds.stored(hostile, tree)))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [b"100644", b"100755", b"120000", b"160000", b"40000", b"040000", b"0", b"100664", b"40755"]
            ),
            st.binary(min_size=1, max_size=8).map(lambda b: b.replace(b"\0", b"x"))
            | st.sampled_from([b".git", b"..", b".", b"a", b"A", b"a/b", b"\xc3\xa9", b"e\xcc\x81", b"con"]),
            st.sampled_from([BLOB, EMPTY, INNER, MISSING]),
        ),
        max_size=6,
    ),
    st.lists(st.sampled_from(["a", "A", "a/b", "a/b/c", "new", "con", "e\u0301", "\u00e9", ".git", ".."]), max_size=4),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_trees_are_survived_and_what_is_untouched_stays(
    hostile: Path, entries: list[tuple[bytes, bytes, str]], writes: list[str]
) -> None:
    blob = worlds.blob(hostile, CONTENT)
    known = {BLOB: blob, EMPTY: worlds.tree(hostile, []), INNER: worlds.tree(hostile, [(b"100644", b"b", blob)])}
    tree = worlds.tree(hostile, [(mode, name, known.get(oid, oid)) for mode, name, oid in entries])
    repo = branch_of(hostile, tree)
    space = repo.workspace("odd", actor=AGENT)
    looked_at(space)
    for path in writes:
        for change in (lambda path=path: space.write_file(path, "x"), lambda path=path: space.delete_file(path)):
            worlds.refusal(change)
    looked_at(space)
    touched = {path.split("/")[0].encode() for path in space.pending_changes()}
    refused = worlds.refusal(lambda: space.commit("random", allow_empty=True))
    if refused is not None:
        assert refused.code in ("repository_unreadable", "revision_missing")
        assert repo.resolve("odd") == space.base
        return
    after = parsed(worlds.stored(hostile, repo.commit_vfs("odd").tree))
    assert sorted(e for e in after if e[1] not in touched) == sorted(
        e for e in parsed(worlds.stored(hostile, tree)) if e[1] not in touched
    )


# -- trees made to exhaust memory or patience


def nested(place: Path, depth: int, leaf: str) -> str:
    """`depth` folders in each other; the objects go into one pack, written here, for speed."""
    new: NewObjects = {}
    tree = leaf
    for _ in range(depth):
        raw = worlds.raw_tree([(b"40000", b"d", tree)])
        tree = object_id(ObjectKind.TREE, raw)
        new[tree] = RawObject(ObjectKind.TREE, raw)
    with Objects(place, place).writing(new):
        return tree


def bomb(place: Path, levels: int, width: int, *, mode: bytes, leaf: str, name: bytes = b"x") -> str:
    """width ** levels entries in a handful of objects."""
    tree = worlds.tree(place, [(mode, name + b"%d" % n, leaf) for n in range(width)])
    for _ in range(levels - 1):
        tree = worlds.tree(place, [(b"40000", name + b"%d" % n, tree) for n in range(width)])
    return tree


def assert_survived(repo: Repository) -> None:
    """`evil` lies at the top as `evil`: nothing that needs the whole of it works, everything else does."""
    vfs = repo.commit_vfs("odd")
    with quickly():
        with pytest.raises(RepositoryUnreadable, match="folders") as refused:
            vfs.list_files()
        assert "memory" in refused.value.hint
        assert [e.name for e in vfs.list_dir()] == ["evil", "good"]
        assert vfs.list_dir("evil")
        assert vfs.list_files("good") == ["good"]
        assert vfs.read_bytes("good") == CONTENT
        space = repo.workspace("odd", actor=AGENT)
        space.write_file("good", "edited")
        space.write_file("evil/new", "x")
        space.write_file("beside/new", "x")
        assert space.list_dir("evil")
        made = space.commit("an edit beside it")
        assert repo.commit_vfs(made).read_file("evil/new") == "x"
        assert repo.commit_vfs(made).read_file("good") == "edited"
        space.delete_file("evil/new")
        with pytest.raises(PathClash):
            space.write_file("evil", "over it all")
        assert [e.name for e in space.list_dir()] == ["beside", "evil", "good"]
        with pytest.raises(RepositoryUnreadable):
            list(repo.objects.files(repo.objects.commit(made).tree))


def with_good(place: Path, evil: str) -> Repository:
    return branch_of(
        place, worlds.tree(place, [(b"40000", b"evil", evil), (b"100644", b"good", worlds.blob(place, CONTENT))])
    )


@pytest.mark.parametrize(
    ("mode", "leaf", "name"),
    [(b"100644", BLOB, b"x"), (b"160000", SUB, b"x"), (b"40000", EMPTY, b"x"), (b"100644", BLOB, b"n" * 250)],
    ids=["files", "submodules", "empty folders", "long names"],
)
def test_ten_billion_entries_in_a_few_objects_are_survived(hostile: Path, mode: bytes, leaf: str, name: bytes) -> None:
    known = {BLOB: worlds.blob(hostile, CONTENT), EMPTY: worlds.tree(hostile, [])}
    evil = bomb(hostile, 10, 10, mode=mode, leaf=known.get(leaf, leaf), name=name)
    assert_survived(with_good(hostile, evil))


def test_a_long_list_of_long_paths_is_refused_before_it_is_made(hostile: Path) -> None:
    """Few entries, but each path is 50 KB: 30,000 of them would take 1.5 GB."""
    blob = worlds.blob(hostile, CONTENT)
    evil = worlds.tree(hostile, [(b"100644", b"f%d" % n, blob) for n in range(30_000)])
    for _ in range(200):
        evil = worlds.tree(hostile, [(b"40000", b"n" * 250, evil)])
    assert_survived(with_good(hostile, evil))


@pytest.mark.parametrize("depth", [300, 10_000])
def test_folders_nested_beyond_reason_are_survived(hostile: Path, depth: int) -> None:
    leaf = worlds.tree(hostile, [(b"100644", b"f", worlds.blob(hostile, CONTENT))])
    evil = nested(hostile, depth, leaf)
    assert_survived(with_good(hostile, evil))


def test_folders_nested_deeply_but_within_reason_work(hostile: Path) -> None:
    leaf = worlds.tree(hostile, [(b"100644", b"f", worlds.blob(hostile, CONTENT))])
    repo = with_good(hostile, nested(hostile, 100, leaf))
    path = "evil/" + "d/" * 100 + "f"
    assert repo.commit_vfs("odd").list_files() == [path, "good"]
    space = repo.workspace("odd", actor=AGENT)
    space.write_file(path, "deep edit")
    space.commit("deep")
    assert repo.commit_vfs("odd").read_file(path) == "deep edit"
    space.delete_file(path)
    space.commit("gone")
    assert repo.commit_vfs("odd").list_files() == ["good"]


def test_a_folder_with_very_many_names_is_listed_and_edited(hostile: Path) -> None:
    blob = worlds.blob(hostile, CONTENT)
    wide = worlds.tree(hostile, [(b"100644", b"f%06d" % n, blob) for n in range(20_000)])
    repo = branch_of(hostile, wide)
    with quickly(20):
        space = repo.workspace("odd", actor=AGENT)
        assert len(space.list_files()) == 20_000
        assert len(space.list_dir()) == 20_000
        space.write_file("f000500x", "new")
        space.delete_file("f000500")
        space.commit("one of many")
        assert len(repo.commit_vfs("odd").list_files()) == 20_000


# -- at the border


@pytest.fixture(scope="module")
def space(hostile: Path) -> WorkInProgressVFS:
    """One for all: nothing of what these tests try ever becomes pending."""
    blob = worlds.blob(hostile, CONTENT)
    repo = branch_of(hostile, worlds.tree(hostile, [(b"100644", b"file", blob), (b"120000", b"link", blob)]))
    return repo.workspace("odd", actor=AGENT)


@pytest.mark.parametrize("path", [*NEVER, *NEVER_NEW])
def test_a_hostile_path_is_refused_by_every_way_to_write(space: WorkInProgressVFS, path: str) -> None:
    for write in (
        lambda: space.write_file(path, "x"),
        lambda: space.write_bytes(path, b"x"),
        lambda: space.write_bytes(path, b"target", mode=Mode.SYMLINK),
        lambda: space.rename_file("file", path),
        lambda: space.rename_file("link", path),
        lambda: space.write_file(f"good/{path}", "x"),
    ):
        with pytest.raises(InvalidPath):
            write()
    assert space.pending_changes() == {}


@pytest.mark.parametrize("path", NEVER)
def test_a_hostile_path_is_refused_by_every_way_to_read_or_delete(space: WorkInProgressVFS, path: str) -> None:
    for use in (space.read_file, space.read_bytes, space.mode, space.delete_file, space.entry):
        with pytest.raises(InvalidPath):
            use(path)
    with pytest.raises(InvalidPath):
        space.set_mode(path, Mode.FILE)
    with pytest.raises(InvalidPath):
        space.rename_file(path, "elsewhere")
    assert not space.file_exists(path)
    assert space.list_files(path) == [] or path in ("", "/", ".")
