"""Prompts: files that come with Forge, a person's own in their place, read at each call."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from forge.prompts import LARGEST, Origin, PromptMissing, Prompts, PromptUnusable, PromptUnwritable

EXPLORER = [
    f"explore-{name}"
    for name in "constraints discover evaluate gathering patterns priorities respond route value".split()  # noqa: SIM905
]
NINE = (
    "brain-dump-intake",
    "code-build",
    "code-fix",
    "code-review",
    "completeness-gate",
    "plan-build",
    "plan-fix",
    "plan-review",
    "spec-building",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "prompts"


@pytest.mark.req("P-16")
def test_the_prompts_of_the_pipeline_and_the_one_for_talking_come_with_forge() -> None:
    listed = Prompts().list()
    assert [each.name for each in listed] == sorted(
        [*NINE, *EXPLORER, "chat", "contract-author", "open-source", "team-context"]
    )
    assert {each.origin for each in listed} == {Origin.DEFAULT}
    for name in NINE:
        assert len(Prompts().get(name)) > 1000, name


@pytest.mark.req("P-16")
def test_a_file_of_ones_own_is_used_from_the_next_call_on(folder: Path) -> None:
    prompts = Prompts(folder)
    before = prompts.get("plan-fix")
    folder.mkdir()
    (folder / "plan-fix.md").write_text("Mine.")
    assert prompts.get("plan-fix") == "Mine."
    assert prompts.default("plan-fix") == before
    (folder / "plan-fix.md").write_text("Mine again.")
    assert prompts.get("plan-fix") == "Mine again."
    (folder / "plan-fix.md").unlink()
    assert prompts.get("plan-fix") == before


@pytest.mark.req("P-16")
def test_new_files_show_up_by_themselves(folder: Path) -> None:
    prompts = Prompts(folder)
    saved = prompts.save("checklist-build", "Write a checklist.\n")
    assert saved == folder / "checklist-build.md"
    (folder / "notes.txt").write_text("no prompt")
    (folder / "Not A Name.md").write_text("no prompt either")
    own = {each.name: each for each in prompts.list() if each.path}
    assert set(own) == {"checklist-build"}
    assert own["checklist-build"].origin is Origin.OWN
    assert prompts.get("checklist-build") == "Write a checklist.\n"


def put_directory(path: Path) -> None:
    path.mkdir()


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.req("P-16")
@pytest.mark.parametrize(
    ("put", "why"),
    [
        (lambda path: path.write_bytes(b"ok \xff"), "not UTF-8 text (byte 3)"),
        (lambda path: path.write_text(" \n\t"), "is empty"),
        (lambda path: path.write_bytes(b"x" * (LARGEST + 1)), "larger than 200 KB"),
        (lambda path: path.write_bytes(b"a\0b"), "NUL"),
        (lambda path: path.symlink_to("gone"), "cannot be read (No such file or directory)"),
        (put_directory, "is not a file"),
        (put_pipe, "is not a file"),
    ],
)
def test_a_broken_file_is_named_with_the_way_back(folder: Path, put: object, why: str) -> None:
    folder.mkdir()
    path = folder / "plan-fix.md"
    put(path)  # type: ignore[operator]
    prompts = Prompts(folder)
    with pytest.raises(PromptUnusable) as refused:
        prompts.get("plan-fix")
    assert str(path) in refused.value.message
    assert why in refused.value.message
    assert "forge prompts reset plan-fix" in refused.value.hint
    (shown,) = (each for each in prompts.list() if each.name == "plan-fix")
    assert why in shown.problem
    assert prompts.reset("plan-fix") == folder / "plan-fix.md.replaced-1"
    assert prompts.get("plan-fix") == prompts.default("plan-fix")


@pytest.mark.req("P-16")
def test_reset_keeps_every_text_of_the_person(folder: Path) -> None:
    prompts = Prompts(folder)
    assert prompts.reset("plan-fix") is None
    for number, text in enumerate(("first", "second"), 1):
        prompts.save("plan-fix", text)
        assert prompts.reset("plan-fix") == folder / f"plan-fix.md.replaced-{number}"
    assert [file.read_text() for file in sorted(folder.iterdir())] == ["first", "second"]
    assert {each.origin for each in prompts.list()} == {Origin.DEFAULT}


def test_a_prompt_of_ones_own_has_no_default_to_go_back_to(folder: Path) -> None:
    prompts = Prompts(folder)
    path = prompts.save("mine", "text")
    with pytest.raises(PromptMissing) as refused:
        prompts.reset("mine")
    assert str(path) in refused.value.hint
    assert prompts.get("mine") == "text"


@pytest.mark.req("P-16")
@pytest.mark.parametrize("text", ["", " \n", "x" * (LARGEST + 1), "a\0b", "\udcff"])
def test_a_text_that_no_agent_could_use_is_not_saved(folder: Path, text: str) -> None:
    prompts = Prompts(folder)
    prompts.save("plan-fix", "good")
    with pytest.raises(PromptUnusable):
        prompts.save("plan-fix", text)
    assert prompts.get("plan-fix") == "good"
    assert [file.name for file in folder.iterdir()] == ["plan-fix.md"]


@pytest.mark.parametrize("name", ["../secret", "a/b", "", ".hidden", "A", "x" * 65])
def test_names_do_not_lead_anywhere_else(folder: Path, name: str) -> None:
    prompts = Prompts(folder)
    for call in (prompts.get, prompts.reset, prompts.diff, lambda each: prompts.save(each, "text")):
        with pytest.raises(PromptMissing):
            call(name)
    assert not folder.exists()


def test_a_name_that_does_not_exist_gets_the_nearest(folder: Path) -> None:
    with pytest.raises(PromptMissing) as missing:
        Prompts(folder).get("plan-reviews")
    assert "plan-review" in missing.value.hint


def test_the_difference_to_the_default_is_shown(folder: Path) -> None:
    prompts = Prompts(folder)
    assert prompts.diff("plan-fix") == ""
    prompts.save("plan-fix", prompts.default("plan-fix").replace("You mend a plan", "You repair a plan") + "end")
    diff = prompts.diff("plan-fix")
    assert diff.startswith("--- default/plan-fix.md\n+++ yours/plan-fix.md\n")
    assert "-You mend a plan" in diff
    assert "+You repair a plan" in diff
    assert diff.endswith("+end\n\\ No newline at end of file\n")


def test_a_file_kept_elsewhere_and_linked_stays_linked(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    real = tmp_path / "dotfiles.md"
    real.write_text("old")
    (folder / "plan-fix.md").symlink_to(real)
    prompts = Prompts(folder)
    assert prompts.get("plan-fix") == "old"
    prompts.save("plan-fix", "new")
    assert (folder / "plan-fix.md").is_symlink()
    assert real.read_text() == "new"


def test_a_directory_that_is_a_file_is_named(folder: Path) -> None:
    folder.write_text("not a directory")
    with pytest.raises(PromptUnusable, match="cannot be read"):
        Prompts(folder).list()
    with pytest.raises(PromptUnwritable) as refused:
        Prompts(folder).save("plan-fix", "text")
    assert str(folder) in refused.value.message
    assert stat.S_ISREG(folder.stat().st_mode)


def test_without_a_directory_there_are_the_defaults_and_nothing_is_written() -> None:
    assert Prompts().reset("plan-fix") is None
    with pytest.raises(PromptUnwritable):
        Prompts().save("plan-fix", "text")
