"""Finds where a directory differs from what it should hold. git looks at the files, with an index of our own and
in a git directory of our own: no filter, hook or setting of the repository runs, and ignore rules are git's.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from forge.git import trees
from forge.git.command import Git, arguments, environment
from forge.git.errors import GitFailed, RepositoryUnreadable, RevisionMissing
from forge.git.materialize import stat_index, sweep
from forge.git.materialize.descent import FOLDER, Descent, is_folder
from forge.git.materialize.files import file_entry, same
from forge.git.materialize.held import Held, Written, settled, settled_time
from forge.git.materialize.plan import had
from forge.git.materialize.stat_index import look
from forge.git.materialize.wanted import reachable
from forge.git.objects import Objects

# After this long git may be waiting for a pipe that a command named `.gitignore`.
_PATIENCE = 2.0
_ATTEMPTS = 3
_CONFIG = """\
[core]
\trepositoryFormatVersion = 0
\tbare = false
\tfileMode = true
\tsymlinks = true
\tautocrlf = false
\ttrustCtime = true
\tcheckStat = default
\tignoreStat = false
\tsplitIndex = false
\tuntrackedCache = false
[index]
\tversion = 2
\tskipHash = false
\tsparse = false
[feature]
\tmanyFiles = false
"""
# Files are compared as they are, whatever the repository's attributes would do to them on the way.
_ATTRIBUTES = "* -text -ident -filter -working-tree-encoding\n"


@dataclass(slots=True)
class Differences:
    paths: set[str] = field(default_factory=set)
    """Files that are changed, gone or new, and not ignored."""
    odd: dict[str, str] = field(default_factory=dict)
    """What is no file and can never be kept, and what it is."""
    empty: set[str] = field(default_factory=set)
    """New folders without any file."""

    @property
    def all(self) -> set[str]:
        return {reachable(path) for path in (*self.paths, *self.odd, *self.empty)}


def prepare(git_dir: Path, objects: Objects) -> None:
    """A git directory with nothing in it but our settings and the person's own excludes."""
    for folder in ("objects", "refs", "info"):
        (git_dir / folder).mkdir(parents=True, exist_ok=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/none\n")
    (git_dir / "config").write_text(_CONFIG)
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES)
    exclude = git_dir / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.symlink_to(objects.common_dir / "info" / "exclude")


def unchanged_folders(files: Path, held: Held) -> bool:
    """Whether no name was made or removed in any folder since the directory was left. Costs little."""
    root = os.open(files, FOLDER)
    try:
        return all(_changed(root, folder) == changed for folder, changed in held.folders.items())
    except OSError:
        return False
    finally:
        os.close(root)


def _changed(root: int, folder: str) -> int:
    """When names in a folder last changed. Through a symlink the answer may be about another place."""
    return os.stat(trees.encode(folder) or b".", dir_fd=root, follow_symlinks=False).st_ctime_ns


def note_folders(files: Path, held: Held) -> None:
    """Record how folders are now, when nobody will write in them any more."""
    with Descent(files) as descent:
        for folder in sorted(folder for folder, changed in held.folders.items() if not changed):
            status = descent.status(trees.encode(folder)) if folder else os.fstat(descent.root)
            if status is None or not is_folder(status):
                del held.folders[folder]
            else:
                held.folders[folder] = status.st_ctime_ns


def differences(objects: Objects, files: Path, git_dir: Path, held: Held) -> Differences:
    """Compare the directory with what it should hold; also freshens what is known of files and folders."""
    started = time.time_ns()
    found = Differences()
    _look_into_folders(files, held, found)
    reported = _listed(objects, files, git_dir, held, "--modified", "--deleted", "--others", "--exclude-standard")
    for path in reported:
        if path.endswith("/"):
            found.odd[path.rstrip("/")] = "a repository inside this one"
        elif path not in held.written:
            found.paths.add(path)
    rewritten = _rewritten_since(objects, files, git_dir, held)
    # If the tree is gone from the repository, git goes on comparing contents.
    with suppress(RevisionMissing, RepositoryUnreadable):
        _believe_index(objects, git_dir, held, found.paths, started)
    found.paths |= rewritten
    return found


def _believe_index(objects: Objects, git_dir: Path, held: Held, changed: set[str], looked: int) -> None:
    """Spare git comparing the contents of files as young as the index: it just did, and found only `changed`."""
    if stat_index.is_older(git_dir / held.index, looked):
        for path in changed:
            entry = had(objects, held, path)
            if entry is not None:
                held.written[path] = Written(entry, None)
        stat_index.believe(git_dir / held.index, looked)


def untracked(objects: Objects, files: Path, git_dir: Path, held: Held) -> set[str]:
    """Every file that does not belong, ignored or not."""
    listed = _listed(objects, files, git_dir, held, "--others")
    removed = {path for path, written in held.written.items() if written is None}
    return removed | {path.rstrip("/") for path in listed if not held.written.get(path)}


def _look_into_folders(files: Path, held: Held, found: Differences) -> None:
    """Find what git never lists: pipes, sockets, devices, `.git`, and folders without a file."""
    now = time.time_ns()
    with Descent(files) as descent:
        for folder in sorted(held.folders):
            with suppress(OSError):
                if _changed(descent.root, folder) == held.folders[folder]:
                    continue
            path = trees.encode(folder)
            status = descent.status(path) if folder else os.fstat(descent.root)
            if status is None or not is_folder(status):
                found.empty.add(folder)
                held.folders[folder] = 0
                continue
            # Creating makes a folder readable that a command closed; it is there.
            opened = descent.folder(path, create=True)
            _look_into(opened, f"{folder}/" if folder else "", held, found)
            held.folders[folder] = settled_time(os.fstat(opened).st_ctime_ns, now)


def _look_into(folder: int, prefix: str, held: Held, found: Differences) -> None:
    with sweep.writable(folder), os.scandir(folder) as entries:
        for entry in entries:
            path = prefix + trees.decode(os.fsencode(entry.name))
            if entry.name == ".git":
                found.odd[path] = "a git directory"
            elif entry.is_dir(follow_symlinks=False):
                if path not in held.folders and not sweep.holds_files(folder, entry.name):
                    found.empty.add(path)
            elif not entry.is_symlink() and not entry.is_file(follow_symlinks=False):
                found.odd[path] = "a pipe, socket or device"
    for name in (".gitignore", ".gitattributes"):
        if prefix + name in found.odd:
            sweep.remove(folder, name)


def _rewritten_since(objects: Objects, files: Path, git_dir: Path, held: Held) -> set[str]:
    """Of the files that the index does not know yet, those that differ."""
    different: set[str] = set()
    back: set[str] = set()
    with Descent(files) as descent:
        for path, written in sorted(held.written.items()):
            status = descent.status(trees.encode(path))
            if written is None:
                if status is not None and not is_folder(status):
                    back.add(path)
                continue
            if status is not None and look(status) == written.seen:
                continue
            if status is None or not same(file_entry(descent, trees.encode(path), status), written.entry):
                different.add(path)
            else:
                held.written[path] = Written(written.entry, settled(look(status), time.time_ns()))
    return different | (back - _ignored(objects, files, git_dir, back) if back else set())


def _ignored(objects: Objects, files: Path, git_dir: Path, paths: set[str]) -> set[str]:
    """Which of `paths`, none of them tracked any more, git would ignore."""
    asked = b"".join(trees.encode(path) + b"\0" for path in sorted(paths))
    command = (*_excludes(objects), "check-ignore", "--no-index", "-z", "--stdin")
    done = Git(git_dir).run(*command, stdin=asked, ok=(0, 1), work_tree=files)
    return {trees.decode(path) for path in done.stdout.split(b"\0") if path}


def _listed(objects: Objects, files: Path, git_dir: Path, held: Held, *options: str) -> Iterator[str]:
    command = [*_excludes(objects), "ls-files", "-z", *options]
    env = {"GIT_INDEX_FILE": str(git_dir / held.index)}
    for path in set(_patiently(git_dir, files, command, env).split(b"\0")):
        if path:
            yield trees.decode(path)


def _excludes(objects: Objects) -> list[str]:
    """The repository's own setting for excludes; the person's are read from their usual places by git."""
    config = objects.handle.config
    return ["-c", f"core.excludesFile={config['core.excludesFile']}"] if "core.excludesFile" in config else []


def _patiently(git_dir: Path, files: Path, command: list[str], env: dict[str, str]) -> bytes:
    """Run git. If it seems stuck, look for pipes in the place of files that it reads, and start it again."""
    for _ in range(_ATTEMPTS):
        process = subprocess.Popen(
            arguments(git_dir, command, work_tree=files),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(env),
            cwd=files,
        )
        try:
            out, complaint = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            if _traps_removed(files):
                process.kill()
                process.communicate()
                continue
            out, complaint = process.communicate()
        if process.returncode == 0:
            return out
        raise GitFailed(
            f"git could not look through the directory: {complaint.decode('utf-8', 'replace').strip()}",
            hint="Run `forge doctor` to check the repository.",
        )
    raise GitFailed("git was kept from looking through the directory.", hint="Stop the commands that still run in it.")


def _traps_removed(files: Path) -> bool:
    with Descent(files) as descent:
        return sweep.remove_traps(descent.root) > 0
