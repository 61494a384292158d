"""What is kept of what could be read again: the values used last, within a budget of their own and a common one."""

from __future__ import annotations

import ctypes
import gc
import random
import subprocess
import sys
import threading

import pytest

from forge.git import Actor, ActorKind, Repository
from forge.git.objects import cache as caches
from forge.git.objects.cache import Cache, Memory
from tests.conftest import Git, MakeRepo


@pytest.fixture(autouse=True)
def _plain_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_EACH", 0)


def test_what_was_used_longest_ago_goes_first() -> None:
    cache: Cache[int, bytes] = Cache(40, len, memory=Memory(1_000))
    for key in range(4):
        cache.put(key, bytes(10))
    assert cache.get(0) == bytes(10)
    cache.put(4, bytes(10))
    assert [key for key in range(5) if cache.get(key) is not None] == [0, 2, 3, 4]
    assert cache.weight == 40


def test_what_would_push_out_much_is_not_kept() -> None:
    cache: Cache[int, bytes] = Cache(40, len, memory=Memory(1_000))
    cache.put(1, bytes(11))
    assert cache.get(1) is None
    assert cache.weight == 0


def test_the_same_key_counts_once() -> None:
    cache: Cache[int, bytes] = Cache(40, len, memory=Memory(1_000))
    cache.put(1, bytes(10))
    cache.put(1, bytes(10))
    assert cache.weight == 10


def test_all_caches_together_stay_within_their_memory_and_the_largest_gives_way() -> None:
    memory = Memory(1_600)
    small: Cache[int, bytes] = Cache(10_000, len, memory=memory)
    large: Cache[int, bytes] = Cache(10_000, len, memory=memory)
    for key in range(30):
        small.put(key, bytes(10))
    for key in range(1_000):
        large.put(key, bytes(10))
        assert small.weight + large.weight <= 1_600
    assert small.weight == 300
    assert large.weight >= 1_000
    assert large.get(999) is not None


def test_what_a_closed_repository_kept_is_room_for_others() -> None:
    memory = Memory(1_600)
    gone: Cache[int, bytes] = Cache(10_000, len, memory=memory)
    for key in range(120):
        gone.put(key, bytes(10))
    del gone
    gc.collect()
    other: Cache[int, bytes] = Cache(10_000, len, memory=memory)
    for key in range(140):
        other.put(key, bytes(10))
    assert other.weight == 1_400


def test_what_nobody_asks_for_any_more_goes_when_the_memory_ages() -> None:
    memory = Memory(1_000)
    cache: Cache[int, bytes] = Cache(1_000, len, memory=memory)
    for key in range(3):
        cache.put(key, bytes(10))
    memory.age()
    assert cache.get(1) == bytes(10)
    cache.put(3, bytes(10))
    assert cache.weight == 40
    memory.age()
    assert [key for key in range(4) if cache.get(key) is not None] == [1, 3]
    assert cache.weight == 20


def test_what_was_not_used_goes_before_what_was() -> None:
    memory = Memory(1_000)
    cache: Cache[int, bytes] = Cache(40, len, memory=memory)
    for key in range(4):
        cache.put(key, bytes(10))
    memory.age()
    assert cache.get(0) is not None
    cache.put(4, bytes(10))
    cache.put(2, bytes(10))  # it is there
    assert [key for key in range(5) if cache.get(key) is not None] == [0, 2, 3, 4]
    assert cache.weight == 40


def test_a_branch_that_is_written_to_for_long_leaves_nothing_behind(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({f"{folder}/{number}.txt": "x" for folder in "abc" for number in range(40)}))
    repo.create_branch("work", "main")
    weights = []
    for round_ in range(6):
        for number in range(10):
            work = repo.workspace("work", actor=Actor(ActorKind.PERSON, "Ana"))
            work.write_file(f"{'abc'[number % 3]}/{number}.txt", f"{round_} {number}")
            work.commit("edit")
        caches.KEPT.age()
        weights.append(sum(cache.weight for cache in caches.KEPT._caches))
    assert max(weights[2:]) < weights[1] * 1.2


def test_many_threads_may_use_it_at_once() -> None:
    memory = Memory(3_200)
    some: list[Cache[int, bytes]] = [Cache(2_000, len, memory=memory) for _ in range(3)]
    wrong: list[object] = []

    def use(first: int) -> None:
        for number in range(3_000):
            cache, key = some[number % 3], (first + number * 7) % 500
            found = cache.get(key)
            if found is None:
                cache.put(key, key.to_bytes(20, "big"))
            elif found != key.to_bytes(20, "big"):
                wrong.append(found)

    def let_it_age() -> None:
        for _ in range(200):
            memory.age()

    threads = [threading.Thread(target=use, args=(n * 31,)) for n in range(6)]
    threads.append(threading.Thread(target=let_it_age))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sum(cache.weight for cache in some) <= 3_200
    assert all(cache.weight == 20 * sum(cache.get(key) is not None for key in range(500)) for cache in some)


_READS_ALL = """
import ctypes, gc, sys
from forge.git import Repository; from forge.git.objects import object_store as objects
fields = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
Info = type("Info", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in fields]})
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
def used():
    found = libc.mallinfo2()
    return found.uordblks + found.hblkhd
kept = Repository.open(sys.argv[1]).objects
tree = kept.commit(kept.handle.branches["main"].peel().id.__str__()).tree
ids = [entry.id for _, entry in kept.files(tree)]
gc.collect()  # the repository, whose parts refer to each other
gc.disable()
before = used()
def read_all():
    for oid in ids:
        kept.read(oid)
    return used() - before
full = read_all()
held, objects._HELD_SECONDS = objects._HELD_SECONDS, 0.0
kept.read(ids[0])
later = used() - before
objects._HELD_SECONDS = held
again = read_all()
kept.let_go_of_packs()
repacked = used() - before
read_all()
del kept
print(full, later, again, repacked, used() - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="not a GNU C library that tells")
def test_what_the_library_keeps_of_packs_is_let_go(make_repo: MakeRepo, git: Git) -> None:
    """From time to time, after every repack, and with the repository."""
    text = [random.Random(1).randbytes(60).hex() for _ in range(300)]
    place = make_repo({f"{number}.txt": "\n".join([str(number), *text, str(number)]) for number in range(300)})
    git(place, "gc", "-q")
    ran = subprocess.run([sys.executable, "-c", _READS_ALL, place], capture_output=True, text=True, check=True)
    full, later, again, repacked, closed = map(int, ran.stdout.split())
    assert min(full, again) > 2 << 20
    assert max(later, repacked, closed) < full // 4
