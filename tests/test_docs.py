"""The documents are true: links lead somewhere, code compiles, and everything that has a name is described."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
import yaml

from forge.api.openapi import reference
from forge.events import KINDS
from forge.pipeline.actions import Action
from forge.plugins import roles
from forge.projects.status import Phase
from forge.settings import Settings
from forge.tools.builtin import NAMES
from tests.support.documents import DOCS, ROOT, Block, anchors, blocks, documents, links

pytestmark = pytest.mark.req("X-03")

ALL = documents()
RUN = {"README.md", "docs/getting-started.md"}
LANGUAGES = {"sh", "text", "python", "yaml", "json", "toml", "ini", "nginx"}
ROLES = ("DeliverableType", "Desk", "SafetyRules", "Connector", "Channel", "Board")
named = pytest.mark.parametrize("document", ALL, ids=lambda path: str(path.relative_to(ROOT)))


def words(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@named
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    for target in links(document):
        path, _, anchor = target.partition("#")
        place = (document.parent / path).resolve() if path else document
        assert place.is_relative_to(ROOT), target
        assert place.exists(), target
        if anchor:
            assert anchor in anchors(place), target


def test_every_page_can_be_reached_from_the_index() -> None:
    index = {(DOCS / target.partition("#")[0]).resolve() for target in links(DOCS / "README.md")}
    assert {page for page in ALL if page.parent != ROOT and page != DOCS / "README.md"} <= index


def test_the_index_names_decisions_as_they_name_themselves() -> None:
    for page in sorted((DOCS / "decisions").glob("*.md")):
        number, title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").split(". ", 1)
        assert page.name.startswith(f"{int(number):04}-")
        assert f"{number}. [{title}](decisions/{page.name})" in words("README.md")


@named
def test_every_python_block_compiles(document: Path) -> None:
    for block in blocks(document):
        if block.language == "python":
            # A workflow may be shown with the `await` of whoever calls it.
            compile(block.text, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


@named
def test_every_shell_block_is_one_that_a_shell_understands(document: Path) -> None:
    for block in blocks(document):
        if block.language == "sh":
            done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{block.place}: {done.stderr}"


@named
def test_every_block_of_settings_or_data_can_be_read(document: Path) -> None:
    for block in blocks(document):
        match block.language:
            case "yaml":
                yaml.safe_load(block.text)
            case "json":
                json.loads(block.text)
            case "toml":
                tomllib.loads(block.text)


@pytest.mark.parametrize("name", sorted(RUN))
def test_no_block_hides_from_being_run(name: str) -> None:
    found = list(blocks(ROOT / name))
    assert any(runs(block) for block in found)
    for block in found:
        assert block.language in LANGUAGES, block.place
        assert re.fullmatch(r"|run|serves|in a repository|not run: .{10,}", block.mark), block.place


def runs(block: Block) -> bool:
    return block.language == "sh" and not block.mark.startswith("not run")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


def test_the_list_of_addresses_is_up_to_date() -> None:
    page = words("api.md")
    assert reference.MARK in page
    assert reference.updated(page) == page, "run: python -m forge.api.openapi.reference docs/api.md"


def test_what_people_wrote_above_the_addresses_stays() -> None:
    assert reference.updated("# Mine\n").startswith(f"# Mine\n\n{reference.MARK}\n")
    assert reference.updated(f"# Mine\n\n{reference.MARK}\n\nold") == reference.updated("# Mine\n")


def test_every_event_is_described_with_its_facts_and_nothing_else() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", words("events.md"), re.M)
    described = {name: re.findall(r"`(\w+)`", facts) for name, facts, _ in rows}
    assert described == {name: [field.name for field in fields(kind)] for name, kind in KINDS.items()}
    assert {name for name, _, about in rows if about.startswith("Live.")} == {n for n, k in KINDS.items() if k.live}


def test_every_part_of_a_plugin_and_every_member_of_its_roles_is_described() -> None:
    page = words("plugins.md")
    parts = {field.name for field in fields(roles.Offer)}
    for role in ROLES:
        parts |= {name for name in vars(getattr(roles, role)) if not name.startswith("_")}
    parts |= {operation.value for operation in roles.Operation}
    parts |= {f.name for kind in (roles.Notice, roles.Card) if is_dataclass(kind) for f in fields(kind)}
    described = {word for span in re.findall(r"`([^`\n]+)`", page) for word in re.findall(r"\w+", span)}
    assert parts - described == set()


def test_every_section_of_the_settings_has_a_heading() -> None:
    sections = set(Settings.model_fields) - {"data_dir", "path", "origins", "warnings"}
    assert sections - set(re.findall(r"^## (\w+)$", words("configuration.md"), re.M)) == set()


def test_every_tool_that_agents_have_is_described() -> None:
    described = {
        tool for row in re.findall(r"^\| (`\w+`.*?) \|", words("tools.md"), re.M) for tool in re.findall(r"\w+", row)
    }
    assert set(NAMES) - described == set()


def test_every_phase_is_described() -> None:
    assert {phase.value for phase in Phase} - set(re.findall(r"^\| `(\w+)` \|", words("pipeline.md"), re.M)) == set()


def test_every_button_of_a_project_is_described() -> None:
    page = words("pipeline.md")
    assert [action for action in Action if f"`{action}`" not in page] == []


def test_the_picture_of_the_layers_is_the_one_that_is_held() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    held = [set(layer.split(" | ")) for layer in contract["layers"]]
    picture = next(block.text for block in blocks(DOCS / "architecture.md") if "faces" in block.text)
    # The first word says what kind of layer it is, what comes after the names says what they do.
    rows = [set(re.findall(r"\w+", line[12:43])) for line in picture.splitlines()]
    at = [[place for place, names in enumerate(rows) if name in names] for layer in held for name in layer]
    assert all(len(places) == 1 for places in at), at
    order = [min(place for place, names in enumerate(rows) if names & layer) for layer in held]
    assert order == sorted(order)


def test_the_glossary_has_each_word_once_and_in_order() -> None:
    found = [word.lower() for word in re.findall(r"^\| \*\*(.+?)\*\*", words("glossary.md"), re.M)]
    assert found == sorted(set(found))


def test_error_codes_that_pages_name_exist() -> None:
    known = set(re.findall(r"^\| `(\w+)`", words("errors.md"), re.M))
    named_codes = set(re.findall(r"\(`(\w+)`\)", words("troubleshooting.md")))
    assert named_codes
    assert named_codes <= known
