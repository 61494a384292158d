"""Instruction files and skills of a repository."""

from __future__ import annotations

import pytest

from forge.context.instructions import SkillMissing, instruction_files, skill_body, skills, skills_text
from tests.context.conftest import OpenRepo


@pytest.mark.req("G-13")
def test_instructions_at_the_root_and_above_active_files_are_found_outermost_first(opened: OpenRepo) -> None:
    files = {
        "AGENTS.md": "a\n",
        "CLAUDE.md": "b\n",
        "web/AGENTS.md": "c\n",
        "web/ui/CLAUDE.md": "d\n",
        "api/AGENTS.md": "e",
    }
    view = opened(files).commit_vfs("main")
    assert instruction_files(view) == ("AGENTS.md", "CLAUDE.md")
    assert instruction_files(view, ["web/ui/a/b.ts"]) == ("AGENTS.md", "CLAUDE.md", "web/AGENTS.md", "web/ui/CLAUDE.md")
    assert instruction_files(view, ["web/x.ts"], names=()) == ()


def test_the_same_instructions_under_two_names_come_once(opened: OpenRepo) -> None:
    view = opened({"AGENTS.md": "a\n", "CLAUDE.md": "a\n"}, name="one").commit_vfs("main")
    assert instruction_files(view) == ("AGENTS.md",)
    linked = opened({"AGENTS.md": "a\n"}, name="two", symlinks={"CLAUDE.md": "AGENTS.md"}).commit_vfs("main")
    assert instruction_files(linked) == ("AGENTS.md",)


SKILL = "---\nname: release\ndescription: >\n  How to make\n  a release.\n---\n# Steps\n\n1. Tag.\n"


@pytest.mark.req("G-13")
def test_skills_are_listed_by_name_and_description_and_read_when_used(opened: OpenRepo) -> None:
    view = opened(
        {
            ".agents/skills/rel/SKILL.md": SKILL,
            ".agents/skills/rel/check.py": "x\n",
            ".claude/skills/other/SKILL.md": "no head\n",
            ".claude/skills/rel2/SKILL.md": SKILL.replace("a release", "another"),
            ".claude/skills/none/README.md": "x\n",
        }
    ).commit_vfs("main")
    assert [(skill.name, skill.description) for skill in skills(view)] == [
        ("other", ""),
        ("release", "How to make a release."),
    ]
    listed = skills_text(skills(view), lambda text: text)
    assert "- release: How to make a release." in listed
    assert "Tag." not in listed
    assert skill_body(view, "release") == "# Steps\n\n1. Tag.\n\nFiles of this skill:\n.agents/skills/rel/check.py\n"
    with pytest.raises(SkillMissing) as missing:
        skill_body(view, "relaese")
    assert "release" in missing.value.hint


@pytest.mark.parametrize(
    "head",
    [
        "---\n[[[[\n---\n",
        "---\nname: 3\ndescription: [1]\n---\n",
        "---\nname: x\n",
        "---\n- a\n---\n",
        "---\n" + "[" * 5000 + "\n---\n",
        "\xff",
    ],
)
def test_a_skill_with_a_broken_head_is_named_by_its_folder(opened: OpenRepo, head: str) -> None:
    view = opened({".agents/skills/mine/SKILL.md": head.encode("latin-1")}).commit_vfs("main")
    assert [skill.name for skill in skills(view)] == ["mine"]
    skill_body(view, "mine")


def test_a_repository_without_skills_has_no_list(opened: OpenRepo) -> None:
    view = opened({"a": "b", ".agents/skills": "a file\n"}).commit_vfs("main")
    assert skills(view) == ()
    assert skills_text((), lambda text: text) == ""
