"""docs/architecture.md names only modules, functions and folders that exist."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.support.documents import DOCS, ROOT

pytestmark = pytest.mark.req("X-03")

PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "forge"
PACKAGES = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("_")}
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.S))
NAMES = sorted({span for span in SPANS if re.fullmatch(r"(forge\.)?\w+(\.\w+)+", span)})
MODULES = [name for name in NAMES if name.removeprefix("forge.").partition(".")[0] in PACKAGES]
FOLDERS = sorted(
    {span for span in SPANS if re.match(rf"(src/forge|web|{'|'.join(sorted(PACKAGES))})/", span)} - {"forge/"}
)
QUESTIONS = re.findall(r"^\| (Where .+?\?) \| `(.+?)` \|$", PAGE, re.M)
WALKS = re.split(r"^## ", PAGE, flags=re.M)


def exists(name: str) -> bool:
    """A module, or something that a module has."""
    parts = ["forge", *name.removeprefix("forge.").split(".")]
    for length in range(len(parts), 0, -1):
        path = SOURCE.parent.joinpath(*parts[:length])
        if path.is_dir() or path.with_suffix(".py").is_file():
            found: object = importlib.import_module(".".join(parts[:length]))
            for attribute in parts[length:]:
                if not hasattr(found, attribute):
                    return False
                found = getattr(found, attribute)
            return True
    return False


@pytest.mark.parametrize("name", MODULES)
def test_every_module_that_the_page_names_exists(name: str) -> None:
    assert exists(name)


def test_a_module_that_does_not_exist_is_noticed() -> None:
    assert len(MODULES) > 40
    assert exists("app.repositories.write.save")
    assert not exists("app.saving.save")
    assert not exists("app.repositories.write.nothing")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_that_the_page_names_exists(folder: str) -> None:
    # Built by script/web, so not in every checkout.
    if folder != "src/forge/web/static":
        assert (ROOT / folder).exists() or (SOURCE / folder).exists() or "<" in folder


def test_ten_questions_are_answered_by_folders() -> None:
    assert len(QUESTIONS) == 10
    assert [folder for _, folder in QUESTIONS if not (ROOT / folder).is_dir()] == []


def test_the_four_large_packages_have_all_their_folders_on_the_page() -> None:
    for package in ("app", "git", "api", "cli"):
        rooms = {path.name for path in (SOURCE / package).iterdir() if (path / "__init__.py").is_file()}
        assert {room for room in rooms if f"`{package}/{room}/`" not in PAGE} == set()


@pytest.mark.parametrize("walk", ["save a file", "send a message", "act on a project", "publish an event"])
def test_each_walk_is_a_numbered_list_of_hops(walk: str) -> None:
    section = next(part for part in WALKS if re.match(rf"Walk \d: {walk}\n", part))
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", section, re.M)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 10
