"""Summaries on disk: shared by processes, and never trusted blindly."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from forge.context.summary_cache import FORMAT, SummaryCache
from forge.git import ObjectId

A, B = ObjectId("a" * 40), ObjectId("b" * 40)


def file_of(folder: Path) -> Path:
    return folder / f"summaries-{FORMAT}.txt"


def test_what_one_process_keeps_another_reads(tmp_path: Path) -> None:
    first, second = SummaryCache(tmp_path), SummaryCache(tmp_path)
    assert second.get((A, "python")) is None
    first.put({(A, "python"): "python, 1 line: def f", (A, "json"): "json"})
    assert second.get((A, "python")) == "python, 1 line: def f"
    first.put({(B, "python"): "later – été"})
    assert second.get_all([(A, "json"), (B, "python"), (B, "json")]) == {
        (A, "json"): "json",
        (B, "python"): "later – été",
    }


def test_a_damaged_line_is_made_again_and_the_others_stay(tmp_path: Path) -> None:
    SummaryCache(tmp_path).put({(A, "python"): "right", (B, "python"): "also right"})
    place = file_of(tmp_path)
    place.write_bytes(place.read_bytes().replace(b"also right", b"also wrong"))
    cache = SummaryCache(tmp_path)
    assert cache.get((A, "python")) == "right"
    assert cache.get((B, "python")) is None
    cache.put({(B, "python"): "also right"})
    assert SummaryCache(tmp_path).get((B, "python")) == "also right"


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"\n" * 100, b"no tabs here\n", b"\t\t\t\n", b"a" * 100_000])
def test_any_content_of_the_file_is_survived(tmp_path: Path, content: bytes) -> None:
    tmp_path.mkdir(exist_ok=True)
    file_of(tmp_path).write_bytes(content)
    cache = SummaryCache(tmp_path)
    assert cache.get((A, "python")) is None
    cache.put({(A, "python"): "made"})
    assert SummaryCache(tmp_path).get((A, "python")) == "made"


def test_a_line_cut_short_by_a_crash_does_not_spoil_the_next(tmp_path: Path) -> None:
    SummaryCache(tmp_path).put({(A, "python"): "first"})
    place = file_of(tmp_path)
    place.write_bytes(place.read_bytes() + b"b" * 40 + b" pyth")
    SummaryCache(tmp_path).put({(B, "python"): "second"})
    cache = SummaryCache(tmp_path)
    assert cache.get((A, "python")) == "first"
    assert cache.get((B, "python")) == "second"


def test_a_file_that_grew_too_large_begins_anew(tmp_path: Path) -> None:
    cache = SummaryCache(tmp_path, most_bytes=500)
    for number in range(50):
        cache.put({(ObjectId(f"{number:040x}"), "python"): "x" * 20})
    assert file_of(tmp_path).stat().st_size <= 500
    assert SummaryCache(tmp_path).get((ObjectId(f"{49:040x}"), "python")) == "x" * 20
    assert SummaryCache(tmp_path).get((ObjectId(f"{0:040x}"), "python")) is None


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = SummaryCache(tmp_path / "file" / "below")
    cache.put({(A, "python"): "kept in memory"})
    assert cache.get((A, "python")) == "kept in memory"


def write_many(folder: str, start: int) -> None:
    cache = SummaryCache(Path(folder))
    for number in range(start, start + 150):
        cache.put({(ObjectId(f"{number:040x}"), "python"): f"summary {number}"})


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(str(tmp_path), n * 1000)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    cache = SummaryCache(tmp_path)
    for start in (0, 1000):
        for number in range(start, start + 150):
            assert cache.get((ObjectId(f"{number:040x}"), "python")) == f"summary {number}"
