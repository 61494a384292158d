"""History through the one door: pages and cuts that say so."""

from __future__ import annotations

import pytest

from forge.app.access.identity import LOCAL, Who
from forge.app.process.workshop import Workshop
from forge.app.repositories import diff, history
from forge.app.repositories.catalog import add_repository
from forge.errors import InvalidInput, NotFound
from tests.app.facade import BO, Place, place, shop
from tests.conftest import Git, MakeRepo

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")


def commit(place: Place, text: str, *, path: str = "a.txt", branch: str = "main") -> str:
    files = place.repo.workspace(branch)
    files.write_bytes(path, text.encode())
    return files.commit(f"write {text.strip()[:10]}".replace("\0", ""))


def test_the_log_comes_in_pages_of_one_history_also_when_the_branch_moves(place: Place) -> None:
    made = [place.repo.resolve("main"), *(commit(place, f"{number}\n") for number in range(5))]
    seen: list[str] = []
    page = history.log(place.shop, LOCAL, place.id, "main", limit=2)
    commit(place, "later\n")
    while True:
        seen += [each.id for each in page.items]
        if page.next is None:
            break
        page = history.log(place.shop, LOCAL, place.id, "main", after=page.next, limit=2)
    assert seen == made[::-1]


def test_the_log_keeps_to_a_path_and_to_words(place: Place) -> None:
    commit(place, "x\n", path="b/c.txt")
    commit(place, "y\n")
    assert history.log(place.shop, LOCAL, place.id, paths=["b"]).items[0].subject == "write x"
    [found] = history.log(place.shop, LOCAL, place.id, grep="write y").items
    assert (found.author.name, found.time) == ("Ada Example", place.repo.commit("main").committer.time)


@pytest.mark.parametrize("after", ["x", "+1", f"{'0' * 40}+x", f"{'0' * 40}+{'9' * 20}", "main+1"])
def test_a_senseless_place_in_the_log_is_refused(place: Place, after: str) -> None:
    with pytest.raises(InvalidInput):
        history.log(place.shop, LOCAL, place.id, after=after)


def test_the_log_of_an_empty_repository_is_empty(shop: Workshop, make_repo: MakeRepo) -> None:
    id_ = add_repository(shop, LOCAL, make_repo({})).id
    assert history.log(shop, LOCAL, id_).items == ()
    assert history.graph(shop, LOCAL, id_).items == ()


def test_a_commit_tells_what_it_changed(place: Place) -> None:
    made = commit(place, "one\nmore\n")
    found = history.commit(place.shop, LOCAL, place.id, "main")
    assert (found.commit.id, found.truncated) == (made, False)
    [file] = found.files
    assert (file.kind, file.path, file.additions, file.deletions, file.binary) == ("modified", "a.txt", 1, 0, False)
    assert "refs/heads/main" in found.refs


def test_a_diff_is_cut_and_says_so(place: Place) -> None:
    base = place.repo.resolve("main")
    for name in ("x", "y", "z"):
        commit(place, name, path=name)
    whole = history.diff(place.shop, LOCAL, place.id, "main", base)
    assert ([each.path for each in whole.files], whole.truncated) == (["x", "y", "z"], False)
    cut = history.diff(place.shop, LOCAL, place.id, "main", base, limit=2)
    assert ([each.path for each in cut.files], cut.truncated) == (["x", "y"], True)


def test_lines_of_very_many_files_are_not_counted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    base = place.repo.resolve("main")
    monkeypatch.setattr(diff, "_COUNTED", 1)
    for name in ("x", "y"):
        commit(place, f"{name}\n", path=name)
    found = history.diff(place.shop, LOCAL, place.id, "main", base)
    assert [(each.path, each.additions) for each in found.files] == [("x", None), ("y", None)]


def test_what_a_branch_has_done_is_compared_with_where_it_began(place: Place) -> None:
    place.repo.create_branch("side", "main")
    commit(place, "side\n", path="s.txt", branch="side")
    commit(place, "main\n", path="m.txt")
    found = history.diff(place.shop, LOCAL, place.id, "side", "main", since_fork=True)
    assert [each.path for each in found.files] == ["s.txt"]
    assert {each.path for each in history.diff(place.shop, LOCAL, place.id, "side", "main").files} == {"s.txt", "m.txt"}


def test_a_patch_has_numbered_lines(place: Place) -> None:
    commit(place, "one\nmore\n")
    found = history.patch(place.shop, LOCAL, place.id, "a.txt", "main")
    [hunk] = found.hunks
    assert [(line.sign, line.old_number, line.new_number, line.text) for line in hunk.lines] == [
        (" ", 1, 1, "one\n"),
        ("+", None, 2, "more\n"),
    ]
    with pytest.raises(NotFound):
        history.patch(place.shop, LOCAL, place.id, "b/c.txt", "main")


def test_a_patch_of_a_renamed_file_tells_where_it_came_from(place: Place) -> None:
    files = place.repo.workspace("main")
    files.rename_file("a.txt", "z.txt")
    files.commit("move")
    found = history.patch(place.shop, LOCAL, place.id, "z.txt", "main")
    assert (found.file.kind, found.file.old_path, found.hunks) == ("renamed", "a.txt", ())


def test_a_patch_is_cut_and_binary_files_have_none(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(place, "".join(f"{number}\n" for number in range(40)))
    monkeypatch.setattr(diff, "MOST_LINES", 10)
    found = history.patch(place.shop, LOCAL, place.id, "a.txt", "main")
    assert (sum(len(hunk.lines) for hunk in found.hunks), found.truncated) == (10, True)
    monkeypatch.setattr(diff, "_LARGEST", 10)
    assert history.patch(place.shop, LOCAL, place.id, "a.txt", "main").hunks == ()
    commit(place, "\0\1", path="picture.png")
    binary = history.patch(place.shop, LOCAL, place.id, "picture.png", "main")
    assert (binary.file.binary, binary.hunks, binary.truncated) == (True, (), False)


def test_blame_goes_on_where_it_was_cut(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    made = commit(place, "one\ntwo\nthree\n")
    monkeypatch.setattr(history, "MOST_BLAMED", 2)
    first = history.blame(place.shop, LOCAL, place.id, "a.txt")
    assert ([line.text for line in first.lines], first.truncated) == (["one", "two"], True)
    rest = history.blame(place.shop, LOCAL, place.id, "a.txt", first=3)
    assert ([(line.number, line.commit) for line in rest.lines], rest.truncated) == ([(3, made)], False)
    with pytest.raises(InvalidInput):
        history.blame(place.shop, LOCAL, place.id, "a.txt", first=0)
    with pytest.raises(InvalidInput):
        history.blame(place.shop, LOCAL, place.id, "a.txt", first=99)
    with pytest.raises(InvalidInput) as binary:
        history.blame(place.shop, LOCAL, place.id, "picture.png")
    assert binary.value.code == "not_text"


def test_blame_of_an_empty_file_has_no_lines(place: Place) -> None:
    commit(place, "", path="empty")
    assert history.blame(place.shop, LOCAL, place.id, "empty").lines == ()


def test_the_graph_comes_in_pages(place: Place, git: Git) -> None:
    place.repo.create_branch("side", "main")
    commit(place, "side\n", path="s.txt", branch="side")
    commit(place, "main\n", path="m.txt")
    first = history.graph(place.shop, LOCAL, place.id, limit=2)
    rest = history.graph(place.shop, LOCAL, place.id, after=first.next, limit=2)
    assert rest.next is None
    ids = [each.id for each in (*first.items, *rest.items)]
    assert sorted(ids) == sorted(git(place.path, "rev-list", "--all").split())
    with pytest.raises(InvalidInput):
        history.graph(place.shop, LOCAL, place.id, after="x")


def test_nobody_else_sees_any_of_it(place: Place) -> None:
    who: Who = BO
    for look in (
        lambda: history.log(place.shop, who, place.id),
        lambda: history.commit(place.shop, who, place.id, "main"),
        lambda: history.diff(place.shop, who, place.id, "main"),
        lambda: history.patch(place.shop, who, place.id, "a.txt", "main"),
        lambda: history.blame(place.shop, who, place.id, "a.txt"),
        lambda: history.graph(place.shop, who, place.id),
    ):
        with pytest.raises(NotFound) as refused:
            look()
        assert refused.value.code == "repository_missing"
