"""Repositories, their branches and files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken

_COMMIT = "3f8c1d2e4b5a69788796a5b4c3d2e1f001122334"
_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


class NewRepository(Given):
    path: str = Field(min_length=1, max_length=4096, description="At or inside the repository, on this machine.")
    model_config = taken(path="/home/ada/garden")


class RepositoryShape(Shape):
    id: str
    name: Text
    path: Text
    default_branch: Text | None
    current_branch: Text | None
    problem: Text | None = Field(description="Why it cannot be opened now, if so.")
    model_config = shown(
        id="0a1b2c3d4e5f",
        name="garden",
        path="/home/ada/garden",
        default_branch="main",
        current_branch="main",
        problem=None,
    )


class OfferedRepositoryShape(Shape):
    name: Text
    path: Text


class RepositoriesShape(Shape):
    repositories: list[RepositoryShape]
    offered: list[OfferedRepositoryShape] = Field(
        description="Used on the command line and not listed yet; only for the person at this machine."
    )


class SuiteShape(Shape):
    command: Text
    because: Text = Field(description="The file that shows it, or that somebody set it.")


class BranchTestsShape(Shape):
    """How tests run here."""

    suites: list[SuiteShape]
    origin: Literal["project", "repository", "files", "none"] = Field(description="Who decides.")
    set_command: Text = Field(description="The command that is set here; empty where none is.")
    text: Text = Field(description="All of it in words.")
    model_config = shown(
        suites=[{"command": "python3 -m pytest -q", "because": "pyproject.toml"}],
        origin="files",
        set_command="",
        text="`python3 -m pytest -q` (pyproject.toml)",
    )


class TestCommandChange(Given):
    __test__ = False

    command: str = Field(max_length=1000, description="One shell line; empty goes by the files again.")
    model_config = taken(command="python3 -m pytest -q tests")


class BusyShape(Shape):
    turn: str
    who: Text
    since: float


class BranchDetailsShape(Shape):
    turns: int
    cost: float | None = Field(description="Of its conversation, in dollars; null where no price is known.")
    ahead: int = Field(description="Commits that the default branch has not.")
    behind: int


class BranchShape(Shape):
    name: Text
    commit: str
    subject: Text
    author: Text
    time: float
    is_default: bool
    protected: bool
    checked_out: bool
    ai: bool = Field(description="Whether agents work here.")
    busy: BusyShape | None
    damage: Text | None = Field(description="What is wrong, where the branch cannot be read.")
    details: BranchDetailsShape | None = Field(description="Where they were asked for.")
    model_config = shown(
        name="ai/first",
        commit=_COMMIT,
        subject="plant tulips",
        author="Ada",
        time=1794800000.0,
        is_default=False,
        protected=False,
        checked_out=False,
        ai=True,
        busy=None,
        damage=None,
        details={"turns": 2, "cost": 0.04, "ahead": 2, "behind": 0},
    )


class NewBranch(Given):
    name: str = Field(min_length=1, max_length=250)
    start: str = Field(default="HEAD", min_length=1, max_length=250, description="A branch, tag or commit.")
    conversation: bool = Field(default=False, description="`start` is a branch whose conversation comes along.")
    model_config = taken(name="ai/first", start="main")


class BranchChange(Given):
    """Either of them."""

    name: str | None = Field(default=None, min_length=1, max_length=250, description="What it shall be called.")
    rewind_to: str | None = Field(default=None, min_length=1, max_length=250, description="An earlier commit of it.")
    model_config = taken(name="ai/second")


class BranchMadeShape(Shape):
    name: Text
    commit: str
    model_config = shown(name="ai/first", commit=_COMMIT)


class BranchMoveShape(Shape):
    name: Text
    commit: str | None
    operation: str
    kept_edits: list[Text]
    model_config = shown(name="ai/first", commit=_COMMIT, operation="01ke3z", kept_edits=[])


class KeptShape(Shape):
    name: Text
    commit: str
    subject: Text


class KeptTipsShape(Shape):
    kept: list[KeptShape]


class EntryShape(Shape):
    path: Text
    mode: str
    etag: str
    model_config = shown(path="beds/north.md", mode="100644", etag=_BLOB)


class FolderEntryShape(Shape):
    name: Text
    path: Text
    kind: Literal["file", "directory", "symlink", "submodule"]
    mode: str
    etag: str
    model_config = shown(name="north.md", path="beds/north.md", kind="file", mode="100644", etag=_BLOB)


class SavedShape(Shape):
    branch: Text
    commit: str | None
    etag: str | None
    changed: bool
    operation: str | None
    kept_edits: list[Text]
    model_config = shown(branch="main", commit=_COMMIT, etag=_BLOB, changed=True, operation="01ke3z", kept_edits=[])


class Renamed(Given):
    path: str = Field(min_length=1, max_length=4096, description="What it is called now.")
    to: str = Field(min_length=1, max_length=4096)
    branch: str = Field(min_length=1, max_length=250)
    expected: str | None = Field(default=None, max_length=64, description="The etag that was seen.")
    message: str | None = Field(default=None, max_length=10_000)
    model_config = taken(path="old.md", to="new.md", branch="main")


class RenamedFolder(Given):
    path: str = Field(min_length=1, max_length=4096, description="What it is called now.")
    to: str = Field(min_length=1, max_length=4096)
    branch: str = Field(min_length=1, max_length=250)
    message: str | None = Field(default=None, max_length=10_000)
    model_config = taken(path="old-beds", to="beds/old", branch="main")


class Search(Given):
    pattern: str = Field(min_length=1, max_length=1000)
    regex: bool = False
    case: Literal["sensitive", "insensitive", "smart"] = "sensitive"
    whole_word: bool = False
    include: list[str] = Field(default_factory=list, max_length=50)
    exclude: list[str] = Field(default_factory=list, max_length=50)
    context: int = Field(default=0, ge=0, le=20)
    max_matches: int = Field(default=200, ge=1, le=1000)
    branch: str | None = Field(default=None, max_length=250)
    at: str | None = Field(default=None, max_length=250)
    model_config = taken(pattern="tulip", branch="main")


class MatchShape(Shape):
    line: int
    column: int
    text: Text
    spans: list[tuple[int, int]]
    before: list[Text]
    after: list[Text]


class FileMatchesShape(Shape):
    path: Text
    matches: list[MatchShape]
    truncated: bool


class FoundShape(Shape):
    files: list[FileMatchesShape]
    matches: int
    truncated: str | None = Field(description="Which limit ended it early, if one did.")
    binary: list[Text]
    too_large: list[Text]
