"""One name, one thing: class names are unique, and modules are nouns, unless they are allowed here by name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import forge

ROOT = Path(forge.__file__).parent
_SHARED = """
Access Agents Answer Answered Asked Availability Block Bounds Call Card Case Change Changed ChangedFile Claim Command
Conflict Connection ContractRead Costs Counts Decided Decision Difference Differences Directory Document Done Draft
Drafts Endpoint Entry Environments Export Extract Facts Failure FileTooLarge Finding Finished Flag Folder Form Given
Head Held History Index Intent Journal Key Landed Lease Line Listing Materialise Memory Message Mode Models NotText
Note Notes Offer Operation Order Output Overview Page Phase Plan Prompt Proposal Provider Question QuestionUnknown
Records Registries Relay Reply Repository Request Resolution Resource Room Route Runner Section Sent Session Share
Shown Source Spent Standing Steps Stream Task Text Tool Topic Unwritten VFS Verdict Version Waiting Wanted Written
"""
SHARED = frozenset(_SHARED.split())
"""Class names that several modules have. A new one needs a better name, not a place here."""
NOUNS = frozenset({"encoding", "pricing", "routing", "pending", "demo_recording"})
"""Module names that end like a gerund and are nouns, or the word of docs/glossary.md."""


def classes() -> dict[str, list[str]]:
    """The modules of each public class name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_a_class_name_stands_for_one_thing() -> None:
    shared = {name: modules for name, modules in classes().items() if len(modules) > 1}
    assert {name: modules for name, modules in shared.items() if name not in SHARED} == {}
    assert SHARED - set(shared) == set(), "these are unique now: take them off"


def test_modules_are_nouns() -> None:
    gerunds = {path.stem for path in ROOT.rglob("*.py") if path.stem.endswith("ing")}
    assert gerunds - NOUNS == set()
    assert NOUNS - gerunds == set(), "these are gone: take them off the list"
