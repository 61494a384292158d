"""Commands on projects print the same, exit the same and give the same JSON alone and beside a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.beside import Beside, beside

pytestmark = [pytest.mark.req("X-02", "X-04"), pytest.mark.xdist_group("same words")]
IDEA = (
    "We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be exceeded. "
    "It should be on the second Saturday in July, in the garden of the club house. We need food for vegetarians."
)
COMMANDS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("project", "new", "party", "--agent", "builtin"), 0),
    (("project", "new", "party"), 1),
    (("project", "say", "party", "-m", IDEA, "--file", "notes.txt", "--file", "none.txt"), 1),
    (("explore", "party", "-m", "The treasurer loses two evenings because he collects the answers by hand."), 0),
    (("explore", "assumptions", "party", "--json"), 0),
    (("explore", "party", "--brain-dump"), 0),
    (("contracts", "answer", "party", "--set", "product=A summer party."), 0),
    (("contracts", "generate", "manifesto", "party"), 0),
    (("contracts", "generate", "none", "party"), 1),
    (("contracts", "stop", "party"), 1),
    (("project", "distill", "party", "--json"), 4),
    (("project", "override", "party", "--yes"), 1),
    (("project", "terminate", "party"), 4),
    (("project", "tests", "party", "--set", "make check", "--json"), 0),
    (("notes", "edit", "party", "--file", "notes.txt"), 0),
    (("contracts", "edit", "manifesto", "party", "--file", "notes.txt"), 0),
    (("contracts", "generate", "manifesto", "party"), 1),
    (("explore", "party", "-m", "And one more thing."), 1),
    (("project", "confirm", "party"), 4),
    (("project", "terminate", "party", "--yes"), 0),
    (("project", "delete", "party", "--confirm", "party", "--json"), 0),
    (("run", "idea.txt", "--agent", "builtin", "--name", "whole", "--json"), 4),
)


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


def plain(text: str, place: Path) -> str:
    """Without ids, times and places."""
    text = text.replace(str(place), "PLACE")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|\d{8}-\d{6}|\b\d{8}-[0-9a-f]{4,}\b", "WHEN", text)
    text = re.sub(r"\b\d+\.\d+\b", "0.0", text)
    return re.sub(r"\b[0-9a-f]{7,64}\b", "#", text)


def said(there: Beside, place: Path) -> list[tuple[str, ...]]:
    (place / "notes.txt").write_text("Ask Ana about the fees.\n")
    (place / "idea.txt").write_text(IDEA)
    told = []
    for words, code in COMMANDS:
        done = there.run(*words)
        assert done.code == code, (words, done.out, done.err)
        told.append((" ".join(words), plain(done.out, place), plain(done.err, place)))
    return told


def test_every_command_on_projects_answers_the_same_beside_a_server(
    there: Beside, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    with beside(other, {}) as served:
        server = served.serve()
        with_server = said(served, other)
        assert set(served.runs().values()) == {server.pid}
    for alone, along in zip(said(there, tmp_path), with_server, strict=True):
        assert alone == along
