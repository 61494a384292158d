"""The text cache: shared, bounded, deletable at any time, and never the reason for a wrong result."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.git import ObjectId
from forge.git.errors import StorageFailed
from forge.git.objects.object_store import Objects
from forge.git.process import children
from forge.git.search import blob_reader, blob_text, segments, texts
from forge.git.search.blob_lists import Folder
from forge.git.search.blob_text import TextCache, cache_of
from forge.git.search.cache_fill import is_warm, warm
from forge.git.search.literals import Literals
from forge.git.search.query import Query
from forge.git.search.results import search
from tests.git.search.oracle import Lines, cold, found_in, matching_lines, new_objects, signed, tree_of

pytestmark = pytest.mark.req("G-11")

COUNT = 300
FILES = {
    f"d{n % 7}/{n:03}.txt": b"line %d\n%s\nend of %d" % (n, b"rare needle" if n % 50 == 0 else b"common straw", n)
    for n in range(COUNT)
}
QUERIES = {
    Query("needle"): b"needle",
    Query("straw"): b"straw",
    Query("end of 7"): b"end of 7",
    Query(r"^line \d7$", regex=True): rb"^line \d7$",
    Query("1"): b"1",
    Query("nowhere to be found"): b"nowhere to be found",
}


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return new_objects(tmp_path / "repo.git")


@pytest.fixture
def tree(objects: Objects) -> ObjectId:
    return tree_of(objects, FILES)


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Several segments from a few blobs."""
    monkeypatch.setattr(segments, "MOST_BLOBS", 70)
    monkeypatch.setattr(blob_text, "_FEW_BLOBS", 60)
    with signed():
        yield


def cached(objects: Objects) -> list[Path]:
    return sorted((objects.common_dir / "forge" / "search").glob("*.texts"))


def another(objects: Objects) -> Objects:
    """The same repository as another process sees it."""
    return Objects(objects.git_dir, objects.common_dir)


def assert_all_found(objects: Objects, tree: ObjectId) -> None:
    for query, pattern in QUERIES.items():
        assert found_in(objects, tree, query) == matching_lines(FILES, pattern), query


def test_a_warm_tree_is_searched_without_reading_from_git(
    objects: Objects, tree: ObjectId, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_warm(objects, tree)
    told: list[tuple[int, int]] = []
    warmth = warm(objects, tree, progress=lambda done, total: told.append((done, total)))
    assert (warmth.added, warmth.missing) == (COUNT, 0)
    assert told[-1] == (COUNT, COUNT)
    assert is_warm(objects, tree)
    assert warm(objects, tree).added == 0
    assert_all_found(objects, tree)
    fresh = another(objects)
    assert is_warm(fresh, tree)
    for reading in ("contents", "stored"):
        monkeypatch.setattr(blob_reader, reading, None)
    monkeypatch.setattr(Objects, "blob", None)
    assert_all_found(objects, tree)
    assert_all_found(fresh, tree)


def test_git_is_asked_while_nothing_is_cached_and_ended_when_the_texts_were_few(
    objects: Objects, tree: ObjectId, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    end, read = children.end, texts.listing

    def listed(objects: Objects, tree: ObjectId) -> Folder:
        told.append("listed")
        return read(objects, tree)

    def ended(process: subprocess.Popen[bytes]) -> None:
        told.append(" ".join(map(str, process.args)))
        end(process)
        assert process.returncode is not None

    monkeypatch.setattr(texts, "listing", listed)
    monkeypatch.setattr(children, "end", ended)
    assert found_in(objects, tree, Query("needle")) == matching_lines(FILES, b"needle")
    assert [line for line in told if " grep " in line]
    assert is_warm(objects, tree)
    told.clear()
    assert found_in(objects, tree, Query("needle")) == matching_lines(FILES, b"needle")
    assert set(told) == {"listed"}


def test_rare_words_need_few_texts(objects: Objects, tree: ObjectId) -> None:
    warm(objects, tree)
    ready = texts.texts_of(objects, tree, Literals((frozenset([b"rare needle"]),), folded=False))
    assert ready is not None
    assert ready.possible is not None
    assert len(ready.possible) < 20


def test_only_what_is_new_is_read_for_the_next_commit(objects: Objects, tree: ObjectId) -> None:
    warm(objects, tree)
    changed = tree_of(objects, {"d1/001.txt": b"changed\n", "copy": FILES["d2/002.txt"]}, base=tree)
    assert warm(objects, changed).added == 1


def test_every_branch_and_worktree_uses_the_same_cache(objects: Objects, tree: ObjectId) -> None:
    warm(objects, tree)
    other = tree_of(objects, {"x/y": FILES["d1/001.txt"], "z": FILES["d2/002.txt"]})
    assert is_warm(objects, other)


# -- damage


@pytest.mark.req("X-04")
@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_cache_is_thrown_away_and_never_gives_a_wrong_result(
    objects: Objects, tree: ObjectId, seed: int
) -> None:
    chance = random.Random(seed)
    warm(objects, tree)
    watching = another(objects)
    assert_all_found(watching, tree)
    for path in cached(objects):
        damage(path, chance)
    # One that had the files open, one that opens them damaged.
    for each in (watching, another(objects)):
        assert_all_found(each, tree)
    assert warm(objects, tree).missing == 0
    assert_all_found(objects, tree)


def damage(path: Path, chance: random.Random) -> None:
    size = path.stat().st_size
    match chance.choice(["keep", "cut", "empty", "flip", "zero", "grow", "delete"]):
        case "cut":
            os.truncate(path, chance.randrange(size))
        case "empty":
            path.write_bytes(b"")
        case "flip":
            data = bytearray(path.read_bytes())
            for _ in range(chance.choice([1, 50, 5_000])):
                data[chance.randrange(size)] ^= 1 << chance.randrange(8)
            path.write_bytes(data)
        case "zero":
            start = chance.randrange(size)
            data = bytearray(path.read_bytes())
            data[start : start + 4096] = bytes(len(data[start : start + 4096]))
            path.write_bytes(data)
        case "grow":
            path.write_bytes(path.read_bytes() + b"x" * chance.randrange(1, 100))
        case "delete":
            path.unlink()


def test_each_damaged_byte_of_a_segment_is_noticed_before_it_is_used(objects: Objects) -> None:
    files = {f"{n}": b"some needle %d\n" % n for n in range(3)}
    tree = tree_of(objects, files)
    warm(objects, tree)
    (path,) = cached(objects)
    whole = path.read_bytes()
    size = len(whole)
    # Texts, then the rows of the strings that are asked for, then index and foot.
    places = [*range(70), *range(size - 9_000, size, 37), *range(size - 40, size)]
    for place in random.Random(5).sample(places, 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        assert found_in(another(objects), tree, Query("needle")) == {"0": [1], "1": [1], "2": [1]}, place
        for made in cached(objects):
            made.unlink()


def test_the_cache_may_be_deleted_between_and_during_searches(objects: Objects, tree: ObjectId) -> None:
    warm(objects, tree)
    folder = cache_of(objects).folder
    found = iter(search(objects, tree, Query("straw")))
    first = next(found)
    shutil.rmtree(folder)
    paths = [first.path, *(file.path for file in found)]
    assert paths == list(matching_lines(FILES, b"straw"))
    assert_all_found(objects, tree)


def test_files_of_another_kind_in_the_cache_are_no_harm(objects: Objects, tree: ObjectId) -> None:
    folder = cache_of(objects).folder
    folder.mkdir(parents=True)
    (folder / "0.texts").mkdir()
    (folder / "1.texts").write_bytes(os.urandom(5_000))
    (folder / "2.texts").symlink_to("nowhere")
    (folder / "left.new").write_bytes(b"x")
    assert_all_found(objects, tree)
    assert warm(objects, tree).missing == 0
    assert_all_found(objects, tree)
    assert not (folder / "left.new").exists()


def test_where_nothing_can_be_written_searching_works_and_warming_says_why(objects: Objects, tree: ObjectId) -> None:
    folder = cache_of(objects).folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"in the way")
    assert_all_found(objects, tree)
    with pytest.raises(StorageFailed):
        warm(objects, tree)


# -- bounds


def test_the_cache_stays_within_its_budget_and_keeps_what_the_tree_needs(
    objects: Objects, tree: ObjectId, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm(objects, tree)
    full = sum(path.stat().st_size for path in cached(objects))
    monkeypatch.setattr(blob_text, "MOST_DISK", full + full // 2)
    other = {path: data.replace(b"straw", b"hay") for path, data in FILES.items()}
    newer = tree_of(objects, other)
    assert warm(objects, newer).missing == 0
    assert sum(path.stat().st_size for path in cached(objects)) <= full + full // 2
    assert not is_warm(objects, tree)
    assert found_in(objects, newer, Query("hay")) == matching_lines(other, b"hay")
    assert_all_found(objects, tree)


def test_a_tree_beyond_the_budget_is_cached_in_part_and_found_whole(
    objects: Objects, tree: ObjectId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blob_text, "MOST_DISK", 300_000)
    monkeypatch.setattr(texts, "_FEW", 10)
    warmth = warm(objects, tree)
    assert 0 < warmth.missing < COUNT
    assert warmth.added == COUNT - warmth.missing
    assert sum(path.stat().st_size for path in cached(objects)) <= 300_000
    assert_all_found(objects, tree)


def test_many_small_commits_do_not_become_many_files(objects: Objects, tree: ObjectId) -> None:
    warm(objects, tree)
    before = len(cached(objects))
    wanted: Lines = {}
    for n in range(80):
        tree = tree_of(objects, {f"new/{n:02}": b"fresh %d\n" % n}, base=tree)
        wanted[f"new/{n:02}"] = [1]
        assert found_in(objects, tree, Query("fresh")) == wanted
    assert len(cached(objects)) <= before + 40
    warm(objects, tree_of(objects, {"last": b"one"}, base=tree))
    assert is_warm(objects, tree)
    known = [oid for segment in cache_of(another(objects)).view().segments for oid in segment.ids]
    assert len(known) == len(set(known)) == COUNT + 81
    assert is_warm(another(objects), tree)


# -- several at once


def test_warming_can_be_stopped_and_goes_on_where_it_was(objects: Objects, tree: ObjectId) -> None:
    asked = iter([False, True])
    first = warm(objects, tree, stop=lambda: next(asked, True))
    assert 0 < first.added < COUNT
    second = warm(objects, tree)
    assert first.added + second.added == COUNT
    assert second.missing == 0


def test_who_waits_for_the_cache_can_be_stopped(objects: Objects, tree: ObjectId) -> None:
    with cache_of(another(objects)).writing() as locked:
        assert locked
        began = time.monotonic()
        warmth = warm(objects, tree, stop=lambda: time.monotonic() > began + 0.1)
        assert (warmth.added, warmth.missing) == (0, COUNT)
        assert_all_found(objects, tree)
    assert not is_warm(another(objects), tree)


WARM = """
import sys
from pathlib import Path
from forge.git.objects.object_store import Objects
from forge.git.search import segments
from forge.git.search.cache_fill import warm
segments.MOST_BLOBS = 20
directory = Path(sys.argv[1])
print(warm(Objects(directory, directory), sys.argv[2]).missing)
"""


def warming_process(objects: Objects, tree: ObjectId) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WARM, str(objects.git_dir), tree]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


@pytest.mark.req("G-09")
def test_two_processes_may_fill_the_cache_at_once(objects: Objects, tree: ObjectId) -> None:
    both = [warming_process(objects, tree) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == [b"0\n", b"0\n"]
    known = [oid for segment in cache_of(objects).view().segments for oid in segment.ids]
    assert len(known) == len(set(known)) == COUNT
    assert_all_found(objects, tree)


@pytest.mark.req("X-04")
def test_a_killed_process_leaves_a_cache_that_can_be_used(objects: Objects, tree: ObjectId) -> None:
    for pause in (0.0, 0.05, 0.1):
        process = warming_process(objects, tree)
        until = time.monotonic() + 20
        while not cached(objects) and time.monotonic() < until and process.poll() is None:
            time.sleep(0.005)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert_all_found(another(objects), tree)
    assert warm(objects, tree).missing == 0
    assert_all_found(objects, tree)


def test_threads_may_search_while_the_cache_is_filled(objects: Objects, tree: ObjectId) -> None:
    wrong: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            try:
                assert_all_found(objects, tree)
            except BaseException as e:  # noqa: BLE001 - told to the main thread
                wrong.append(e)
                return

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    warm(another(objects), tree)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_cold_search_leaves_no_trace(objects: Objects, tree: ObjectId) -> None:
    with cold():
        assert_all_found(objects, tree)
    assert not cached(objects)


def test_a_cache_that_is_told_its_budget_keeps_it(tmp_path: Path) -> None:
    cache = TextCache(tmp_path / "cache", budget=1_000)
    blob = segments.Stored(b"1" * 20, 5_000, b"x" * 5_000)
    with cache.writing():
        assert not cache.add([blob], needed=[])
        assert cache.view().segments == []
