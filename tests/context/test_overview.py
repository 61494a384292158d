"""A whole branch in a few thousand tokens, always the same for the same tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.context.file_order import Folders, ordered, words_of
from forge.context.folders import counts
from forge.context.overview import Asked, Overview, overview, tokens_of
from forge.context.summary_cache import SummaryCache
from forge.git import Repository
from tests.context.conftest import OpenRepo


def plain(text: str) -> str:
    return text


def made(repository: Repository, cache: SummaryCache, asked: Asked, **options: object) -> Overview:
    view = repository.commit_vfs("main")
    return overview(repository.objects, view.tree, asked, cache, plain, **options)  # type: ignore[arg-type]


def project(many: int = 30) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {"README.md": "# Shop\n", "logo.png": b"\0", "uv.lock": "a\n"}
    files |= {f"src/api/r{n}.py": f"def route_{n}(): ...\n" for n in range(many)}
    files |= {f"src/deep/er/still/m{n}.py": f"class M{n}: ...\n" for n in range(many)}
    files |= {f"node_modules/x/{n}.js": "x\n" for n in range(many)}
    files |= {f"node_modules/x/{n}.css": "x\n" for n in range(5)}
    files |= {".forge/session.json": "{}\n", ".forge/session/0000/000001-aaaaaaaa.json": "{}\n"}
    return files


@pytest.mark.req("G-13")
def test_every_file_of_a_small_branch_has_its_line(opened: OpenRepo, cache: SummaryCache) -> None:
    found = made(opened(project(3)), cache, Asked(4_000))
    assert found.text.splitlines()[1:] == [
        "README.md — markdown, 1 line: Shop",
        "logo.png — image, 1 B",
        *(f"src/api/r{n}.py — python, 1 line: def route_{n}" for n in range(3)),
        *(f"src/deep/er/still/m{n}.py — python, 1 line: class M{n}" for n in range(3)),
        "",
        "Files that are not named here:",
        "./ — 1 more file (lock 1)",
        "node_modules/ — 8 files (css 5, js 3)",
    ]


def test_the_nearest_files_come_first_and_the_rest_is_counted(opened: OpenRepo, cache: SummaryCache) -> None:
    repository = opened(project(60))
    far = made(repository, cache, Asked(700))
    near = made(repository, cache, Asked(700, near=("src/deep/er/still/m1.py",)))
    assert "README.md — " in far.text
    beside_near, beside_far = (len(re.findall(r"still/m\d+.py — ", found.text)) for found in (near, far))
    assert beside_near == near.summarised  # its folder first
    assert 0 < beside_far < far.summarised  # all folders by turns
    for found in (far, near):
        assert "src/deep/er/still/ — 60 files (py 60)\n" in found.text
        assert "node_modules/ — 65 files (js 60, css 5)\n" in found.text
        assert tokens_of(found.text) <= 700
        assert found.files == 3 + 60 + 60 + 65


def test_the_conversation_itself_is_never_listed(opened: OpenRepo, cache: SummaryCache) -> None:
    assert ".forge" not in made(opened(project(3)), cache, Asked(4_000, exclude=())).text


def test_the_same_tree_gives_the_same_bytes_in_any_process(opened: OpenRepo, tmp_path: Path) -> None:
    repository = opened(project(40))
    asked = Asked(900, near=("src/api/r3.py",))
    cold = made(repository, SummaryCache(tmp_path / "one"), asked)
    warm = made(Repository.open(repository.git_dir), SummaryCache(tmp_path / "one"), asked)
    other = made(Repository.open(repository.git_dir), SummaryCache(tmp_path / "two"), asked, summarise=cold.summarised)
    assert cold.text == warm.text == other.text
    assert warm.computed == 0


def test_out_of_time_names_stand_for_summaries_and_the_text_can_be_made_again(opened: OpenRepo, tmp_path: Path) -> None:
    repository = opened(project(10))
    hurried = made(repository, SummaryCache(tmp_path / "one"), Asked(4_000), budget_seconds=0.0)
    assert not hurried.complete
    assert hurried.summarised == 0
    assert "src/api/: r0.py, r1.py" in hurried.text
    cache = SummaryCache(tmp_path / "one")
    assert made(repository, cache, Asked(4_000)).complete
    assert made(repository, cache, Asked(4_000), summarise=hurried.summarised).text == hurried.text


def test_exclusions_can_be_chosen(opened: OpenRepo, cache: SummaryCache) -> None:
    found = made(opened(project(3)), cache, Asked(4_000, exclude=("src/**", "*.png")))
    assert "src/ — 6 files (py 6)" in found.text
    assert "node_modules/x/0.js — javascript, 1 line" in found.text
    assert "./ — 1 more file (png 1)" in found.text


def test_an_empty_branch_has_an_overview(tmp_path: Path, cache: SummaryCache) -> None:
    repository = Repository.init(tmp_path / "new")
    view = repository.workspace("main")
    assert overview(repository.objects, view.base_tree, Asked(1_000), cache, plain).summarised == 0


NAMES = st.lists(
    st.tuples(st.lists(st.sampled_from("abc"), max_size=4).map(tuple), st.sampled_from(["x.py", "y.js", "z", "w.png"])),
    max_size=60,
    unique=True,
).map(lambda found: sorted({"/".join([*folders, name]) for folders, name in found}))


@settings(max_examples=100)
@given(NAMES, st.integers(1, 12), st.data())
def test_counts_add_up_however_few_lines_there_are(paths: list[str], most: int, data: st.DataObject) -> None:
    named = data.draw(st.lists(st.sampled_from(paths), unique=True)) if paths else []
    left = [path for path in paths if path not in named]
    lines = counts(left[::2], named, excluded=left[1::2], most=most)
    assert len(lines) <= most
    assert sum(int(line.split(" — ")[1].split(" ")[0].replace(",", "")) for line in lines) == len(left)


def wide(folders: int, each: int) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {
        f"area{a:02}/part{n % 4}/file_{a}_{n}.py": f"def work_{a}_{n}(): ...\n"
        for a in range(folders)
        for n in range(each)
    }
    return files | {"README.md": "# Wide\n", "zoo/OrderBook.py": "class OrderBook: ...\n"}


@pytest.mark.req("G-13")
def test_a_large_branch_is_shared_over_all_folders_behind_a_map_of_them(opened: OpenRepo, cache: SummaryCache) -> None:
    found = made(opened(wide(20, 40)), cache, Asked(2_500))
    folders, some, *_ = found.text.split("\n\n")
    assert sorted({line.partition("/")[0] for line in folders.splitlines()[2:-1]}) == [f"area{a:02}" for a in range(20)]
    assert sum(int(line.split(" — ")[1].split()[0]) for line in folders.splitlines()[1:]) == 802
    assert all(f"\narea{a:02}/" in some for a in range(20))
    assert "zoo/OrderBook.py — " in some
    assert 2_000 <= tokens_of(found.text) <= 2_500


@pytest.mark.req("G-13")
def test_what_the_message_calls_comes_first(opened: OpenRepo, cache: SummaryCache) -> None:
    repository = opened(wide(20, 40))
    told = words_of("Please mend the file area17/part3/file_17_39.py, and the order book.")
    tight = Asked(900, words=told)
    found = made(repository, cache, tight)
    assert "area17/part3/file_17_39.py — " in found.text
    assert "zoo/OrderBook.py — " in found.text
    assert "file_17_39" not in made(repository, cache, Asked(900)).text
    assert made(repository, cache, tight, summarise=found.summarised).text == found.text


@pytest.mark.req("G-14")
def test_odd_spaces_in_a_file_read_the_same_in_the_next_process(opened: OpenRepo, tmp_path: Path) -> None:
    repository = opened(
        {"a.md": "# Much   room\u00a0\u00a0here \u2003 there\n", "b.txt": "one  \t two\n\x0bthree   four\n"}
    )
    first = made(repository, SummaryCache(tmp_path / "one"), Asked(1_000))
    second = made(repository, SummaryCache(tmp_path / "one"), Asked(1_000))
    assert (first.computed, second.computed) == (2, 0)
    assert first.text == second.text


def test_folders_deeper_than_any_stack_are_ordered(opened: OpenRepo) -> None:
    entry = opened({"a": "x"}).commit_vfs("main").entry("a")
    assert entry is not None
    deep = "/".join("d" * 3_000)
    folders: Folders = {"": [("a.py", entry)], deep: [(f"{deep}/b.py", entry)]}
    assert [path[-4:] for path, _ in ordered(folders, (), ())] == ["a.py", "b.py"]


@pytest.mark.parametrize("budget", [60, 150, 400, 1_000, 3_000])
def test_the_budget_is_never_exceeded(opened: OpenRepo, cache: SummaryCache, budget: int) -> None:
    found = made(opened(project(50)), cache, Asked(budget))
    assert tokens_of(found.text) <= budget
    assert "README.md" in found.text or budget < 100
