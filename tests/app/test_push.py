"""`forge push`: real repositories on the other side, over a path and over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL, Who, audited
from forge.app.repositories.push import (
    Push,
    PushOrder,
    list_remotes,
    perform,
    preview_push,
    previewed,
    push_branch,
)
from forge.errors import Denied, InvalidInput
from forge.git import Actor, ActorKind, BranchMissing, BranchMoved, Repository
from forge.git.errors import InvalidName
from forge.git.remotes.errors import (
    LeaseStale,
    PushDenied,
    PushRejected,
    RemoteDenied,
    RemoteMissing,
    RemoteUnreachable,
)
from forge.sessions.conversation import conversation, read_head, write_turn
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.turns import Turn, turn_id
from tests.app.facade import Place, place, shop
from tests.cli.conftest import run_here
from tests.conftest import Git, MakeRepo
from tests.support.git_http import PASSWORD, USER, served

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("G-08")
AGENT = Actor(ActorKind.AGENT, "claude")


@pytest.fixture
def repo(make_repo: MakeRepo, git: Git, tmp_path: Path) -> Repository:
    """With two turns on ai/x, and an empty repository as `origin`."""
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "over.git")
    git(repo.git_dir, "remote", "add", "origin", str(tmp_path / "over.git"))
    repo.create_branch("ai/x", "main")
    say(repo, 1)
    say(repo, 2)
    return repo


@pytest.fixture
def over(repo: Repository, tmp_path: Path) -> Path:
    return tmp_path / "over.git"


def say(repo: Repository, number: int, branch: str = "ai/x") -> None:
    vfs = repo.workspace(branch)
    items = (UserMessage(f"ask {number}", "A", 1.0), AssistantMessage("done", model="m"))
    turn = Turn(turn_id(number, f"{number:08x}"), read_head(vfs).last, float(number), "m", items)
    write_turn(vfs, turn)
    vfs.write_file(f"f{number}.txt", f"{number}\n")
    vfs.commit(f"chat: {number}", trailers={"Forge-Turn": turn.id})


def pushed(repo: Repository, **order: object) -> Push:
    return perform(repo, previewed(repo, PushOrder("ai/x", **order)))  # type: ignore[arg-type]


def in_forge(git: Git, over: Path, rev: str) -> list[str]:
    return git(over, "ls-tree", "-r", "--name-only", rev, "--", ".forge").splitlines()


def test_a_branch_arrives_as_it_is_and_nothing_else_does(repo: Repository, git: Git, over: Path) -> None:
    git(repo.git_dir, "tag", "v1", "ai/x")
    git(repo.git_dir, "update-ref", "refs/forge/sessions/ai/x", "ai/x")
    config, tip = (repo.git_dir / "config").read_bytes(), repo.refs.tip("ai/x")
    first = pushed(repo)
    assert (first.state, first.commit, str(first.conversation)) == (
        "created",
        tip,
        "conversation of 2 turns, 3 files in .forge/",
    )
    assert git(over, "for-each-ref", "--format=%(refname) %(objectname)") == f"refs/heads/ai/x {tip}"
    assert (repo.git_dir / "config").read_bytes() == config
    assert pushed(repo).state == "unchanged"
    say(repo, 3)
    assert pushed(repo).state == "updated"
    assert [turn.asked for turn in conversation(Repository.open(over).commit_vfs("ai/x"))] == [
        "ask 1",
        "ask 2",
        "ask 3",
    ]


def test_a_preview_sends_nothing_and_asks_nobody(repo: Repository, git: Git, over: Path) -> None:
    git(repo.git_dir, "remote", "set-url", "origin", "https://never.invalid/x.git")
    found = previewed(repo, PushOrder("ai/x"))
    assert (found.state, found.url, found.replaces) == ("preview", "https://never.invalid/x.git", False)
    assert git(over, "for-each-ref") == ""


@pytest.mark.parametrize(("terms", "files"), [("keep", 3), ("squash", 1), ("drop", 0)])
def test_the_person_chooses_what_goes_along(repo: Repository, git: Git, over: Path, terms: str, files: int) -> None:
    tip = repo.refs.tip("ai/x")
    found = pushed(repo, conversation=terms)
    assert found.conversation_choice == terms
    assert len(in_forge(git, over, "ai/x")) == files
    assert git(over, "rev-list", "--count", "ai/x") == "3"
    assert git(over, "show", "ai/x:f2.txt") == "2"
    words = git(over, "log", "-p", "--format=", "ai/x")
    assert ("ask 1" in words) == (terms != "drop")
    assert repo.refs.tip("ai/x") == tip
    assert not repo.refs.under("refs/heads/ai/x-")


@pytest.mark.parametrize("terms", ["squash", "drop"])
def test_the_next_push_goes_on_with_the_same_choice_over_its_own_copy(
    repo: Repository, git: Git, over: Path, terms: str
) -> None:
    pushed(repo, conversation=terms)
    say(repo, 3)
    found = pushed(repo)
    assert (found.conversation_choice, found.state) == (terms, "replaced" if terms == "squash" else "updated")
    assert git(over, "show", "ai/x:f3.txt") == "3"
    assert len(in_forge(git, over, "ai/x")) == (1 if terms == "squash" else 0)


def test_a_colleagues_commit_on_the_copy_is_never_replaced_unseen(
    repo: Repository, git: Git, over: Path, tmp_path: Path
) -> None:
    pushed(repo, conversation="squash")
    theirs = colleague(git, over, tmp_path)
    say(repo, 3)
    with pytest.raises(LeaseStale, match="not where it was"):
        pushed(repo)
    git(repo.git_dir, "fetch", "-q", "origin")
    with pytest.raises(PushRejected, match="commits that your branch does not have"):
        pushed(repo)
    assert git(over, "rev-parse", "ai/x") == theirs
    assert pushed(repo, to="ai/x", replace=True).state == "replaced"


def test_a_branch_that_went_another_way_is_replaced_only_where_it_was_seen_and_named(
    repo: Repository, git: Git, over: Path, tmp_path: Path
) -> None:
    pushed(repo)
    repo.rewind_branch("ai/x", "ai/x~1")
    say(repo, 7)
    assert previewed(repo, PushOrder("ai/x")).replaces
    with pytest.raises(PushRejected):
        pushed(repo)
    with pytest.raises(InvalidInput, match="Name the branch"):
        previewed(repo, PushOrder("ai/x", replace=True))
    theirs = colleague(git, over, tmp_path)
    with pytest.raises(LeaseStale):
        pushed(repo, to="ai/x", replace=True)
    assert git(over, "rev-parse", "ai/x") == theirs
    git(repo.git_dir, "fetch", "-q", "origin")
    assert pushed(repo, to="ai/x", replace=True).state == "replaced"
    git(over, "update-ref", "refs/heads/ai/other", theirs)
    with pytest.raises(PushRejected):  # the lease was for that name alone
        pushed(repo, to="ai/other")


def colleague(git: Git, over: Path, tmp_path: Path) -> str:
    """Somebody else pushes a commit onto what is there."""
    clone = tmp_path / "colleague"
    git(tmp_path, "clone", "-q", "-b", "ai/x", str(over), str(clone))
    (clone / "theirs.txt").write_text("theirs\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "theirs")
    git(clone, "push", "-q", "origin", "ai/x")
    return git(clone, "rev-parse", "HEAD")


def test_onto_a_default_branch_goes_what_the_settings_say(repo: Repository, git: Git, over: Path) -> None:
    assert previewed(repo, PushOrder("ai/x", to="main")).conversation_choice == "squash"
    assert previewed(repo, PushOrder("ai/x", to="main"), "drop").conversation_choice == "drop"
    pushed(repo, to="main")
    assert [path.rpartition("/")[2] for path in in_forge(git, over, "main")] == ["merged.json"]


def test_what_others_build_on_over_there_is_not_written_anew(repo: Repository, git: Git, over: Path) -> None:
    """Not even where it has a conversation: else the branch would share no history with it any more."""
    git(repo.git_dir, "push", "-q", "origin", "ai/x:main", "main:plain")
    say(repo, 3)
    found = pushed(repo, conversation="drop")
    assert found.rewritten == 1
    assert git(over, "merge-base", "main", "ai/x") == git(over, "rev-parse", "main")
    assert in_forge(git, over, "ai/x") == []


@pytest.mark.parametrize("terms", ["squash", "drop"])
def test_a_copy_with_the_conversation_does_not_bring_it_into_one_without(
    repo: Repository, git: Git, over: Path, terms: str
) -> None:
    pushed(repo, to="with-it")
    found = pushed(repo, to="without-it", conversation=terms)
    assert found.rewritten == 2
    assert not [path for path in in_forge(git, over, "without-it") if path.endswith("turn.json")]
    assert "turn.json" not in git(over, "log", "--name-only", "--format=", "without-it")


def test_only_people_push(repo: Repository, git: Git, over: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PushDenied, match="claude may not push"):
        perform(repo, previewed(repo, PushOrder("ai/x")), actor=AGENT)
    assert repo.work_tree is not None
    monkeypatch.chdir(repo.work_tree)
    ran = run_here("push", "-b", "ai/x", "--as", "claude")
    assert (ran.code, "agent claude may not push" in ran.err) == (5, True)
    assert git(over, "for-each-ref") == ""


def test_without_a_remote_or_with_several_the_person_is_told(repo: Repository, git: Git) -> None:
    with pytest.raises(RemoteMissing, match="no remote nope"):
        previewed(repo, PushOrder("ai/x", "nope"))
    git(repo.git_dir, "remote", "rename", "origin", "one")
    assert previewed(repo, PushOrder("ai/x")).remote == "one"
    git(repo.git_dir, "remote", "add", "two", "https://me:secret@two.invalid/x.git")
    with pytest.raises(RemoteMissing, match="several remotes"):
        previewed(repo, PushOrder("ai/x"))
    assert previewed(repo, PushOrder("ai/x", "two")).url == "https://two.invalid/x.git"
    for name in ("one", "two"):
        git(repo.git_dir, "remote", "remove", name)
    with pytest.raises(RemoteMissing, match="No remote is configured"):
        previewed(repo, PushOrder("ai/x"))


@pytest.mark.parametrize("to", ["refs/forge/sessions/ai/x", "a..b", "-x", ""])
def test_a_name_that_no_branch_can_have_is_refused(repo: Repository, to: str) -> None:
    if to:
        with pytest.raises(InvalidName):
            previewed(repo, PushOrder("ai/x", to=to))
    with pytest.raises(BranchMissing):
        previewed(repo, PushOrder("ai/nope"))


def test_hooks_on_both_sides_have_their_say(repo: Repository, git: Git, over: Path) -> None:
    put_hook(over / "hooks/pre-receive", "echo only on Fridays >&2; exit 1")
    with pytest.raises(PushRejected, match=r"hook declined.*only on Fridays"):
        pushed(repo)
    (over / "hooks/pre-receive").unlink()
    put_hook(repo.git_dir / "hooks/pre-push", "echo not from here >&2; exit 1")
    with pytest.raises(PushRejected, match="git did not push: not from here"):
        pushed(repo)
    assert git(over, "for-each-ref") == ""


def put_hook(path: Path, line: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_a_remote_that_is_gone_is_named_with_the_reason(repo: Repository, git: Git, tmp_path: Path) -> None:
    git(repo.git_dir, "remote", "set-url", "origin", str(tmp_path / "gone.git"))
    with pytest.raises(RemoteUnreachable, match="does not appear to be a git repository"):
        pushed(repo)


def test_over_http_git_brings_the_credentials_and_forge_shows_none(
    repo: Repository, git: Git, over: Path, tmp_path: Path
) -> None:
    with served(tmp_path) as host:
        git(repo.git_dir, "remote", "set-url", "origin", f"http://{USER}:wrong-password@{host}/over.git")
        with pytest.raises(RemoteDenied) as denied:
            pushed(repo)
        assert "wrong-password" not in f"{denied.value.message}{denied.value.hint}"
        git(repo.git_dir, "remote", "set-url", "origin", f"http://{host}/over.git")
        with pytest.raises(RemoteDenied, match="could not read Username"):
            pushed(repo)
        put_hook(tmp_path / "helper", f"echo username={USER}; echo password={PASSWORD}")
        git(repo.git_dir, "config", "credential.helper", str(tmp_path / "helper"))
        assert pushed(repo, conversation="drop").state == "created"
    assert git(over, "show", "ai/x:f2.txt") == "2"


def test_the_command_line_tells_what_went_along(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repo.work_tree is not None
    monkeypatch.chdir(repo.work_tree)
    ran = run_here("push", "-b", "ai/x", "--preview")
    assert "Would push ai/x to origin/ai/x" in ran.out
    assert "+ conversation of 2 turns, 3 files in .forge/" in ran.out
    ran = run_here("push", "-b", "ai/x", "--conversation", "drop")
    assert "Created origin/ai/x at " in ran.out
    assert "2 commits rewritten" in ran.out
    assert "The conversation is left out." in ran.out
    document = run_here("push", "-b", "ai/x", "--json").document
    assert (document["state"], document["conversation_choice"], document["performed"]) == ("unchanged", "drop", True)


def test_the_server_pushes_for_those_who_may_and_writes_it_down(place: Place, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "over.git")
    git(place.path, "remote", "add", "origin", str(tmp_path / "over.git"))
    assert [each.name for each in list_remotes(place.shop, LOCAL, place.id)] == ["origin"]
    seen = preview_push(place.shop, LOCAL, place.id, PushOrder("main"))
    with pytest.raises(BranchMoved):
        push_branch(place.shop, LOCAL, place.id, PushOrder("main"), expected="0" * 40)
    sent = push_branch(place.shop, LOCAL, place.id, PushOrder("main"), expected=seen.source_tip)
    assert sent.state == "created"
    assert audited(place.shop, LOCAL)[0].action == "branch.push"
    reader = Who("local", "you", frozenset({"read"}))
    with pytest.raises(Denied):
        push_branch(place.shop, reader, place.id, PushOrder("main"))
