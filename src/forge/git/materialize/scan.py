"""Finds where a directory differs from what it should hold. git looks at the files, with an index of our own and
in a git directory of our own: no filter, hook or setting of the repository runs, and ignore rules are git's.
"""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import CollectionTimedOut, GitFailed
from forge.git.materialize import stat_index, sweep
from forge.git.materialize.files import file_entry, same
from forge.git.materialize.manifest import Held, Written, entries, folders_above, is_over, settled, settled_time
from forge.git.materialize.safe_walk import FOLDER, Descent, is_folder
from forge.git.materialize.stat_index import Young, look
from forge.git.materialize.wanted import reachable
from forge.git.objects import trees
from forge.git.process.git_command import Git, arguments, environment

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

# After this long git may be waiting for a pipe that a command named `.gitignore`.
_PATIENCE = 2.0
_ATTEMPTS = 3
_CHANGED = ("--modified", "--deleted")
_NEW = ("--others", "--exclude-standard")
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


def differences(objects: Objects, files: Path, git_dir: Path, held: Held, *, until: float | None = None) -> Differences:
    """Compare the directory with what it should hold, and update the stored state of its files and folders.

    `until` is the moment of the monotonic clock at which it gives up with `CollectionTimedOut`.
    """
    started = time.time_ns()
    found = Differences()
    replaced = _look_into_folders(files, held, found, until)
    # If we look at every file ourselves, git need not.
    options = _NEW if held.young and held.young.whole else _CHANGED + _NEW
    with ThreadPoolExecutor(1) as beside:
        uncertain = beside.submit(_uncertain, files, git_dir, held, held.young) if held.young else None
        reported = _listed(objects, files, git_dir, held, *options, until=until)
    held.written |= uncertain.result() if uncertain else {}
    for path in reported:
        if path.endswith("/"):
            found.odd[path.rstrip("/")] = "a repository inside this one"
        elif path not in held.written:
            found.paths.add(path)
    if replaced:
        # git looks through a symlink to where the folder is now; its files are not in their place all the same.
        found.paths |= {path for path in entries(held, git_dir) if not replaced.isdisjoint(folders_above(path))}
    found.paths |= _rewritten_since(objects, files, git_dir, held)
    if held.young is not None and is_over(held.young.until, started):
        held.young = None
    return found


def _uncertain(files: Path, git_dir: Path, held: Held, young: Young) -> dict[str, Written]:
    """Files whose content we have to compare from now on, as git might not see that they changed."""
    records = stat_index.read(git_dir / held.index)
    root = os.open(files, FOLDER)
    try:
        paths = list(stat_index.uncertain(records, root, young))
    finally:
        os.close(root)
    young_entries = {trees.decode(path): stat_index.entry_of(records[path]) for path in paths}
    return {path: Written(entry, None) for path, entry in young_entries.items() if path not in held.written}


def untracked(objects: Objects, files: Path, git_dir: Path, held: Held) -> set[str]:
    """Every file that does not belong, ignored or not."""
    listed = _listed(objects, files, git_dir, held, "--others")
    removed = {path for path, written in held.written.items() if written is None}
    return removed | {path.rstrip("/") for path in listed if not held.written.get(path)}


def _look_into_folders(files: Path, held: Held, found: Differences, until: float | None) -> set[str]:
    """Find what git never lists: pipes, sockets, devices, `.git`, and folders without a file.

    Gives the folders that something else is in the place of.
    """
    now = time.time_ns()
    replaced: set[str] = set()
    with Descent(files) as descent:
        for folder in sorted(held.folders):
            try:
                if _changed(descent.root, folder) == held.folders[folder]:
                    continue
            except OSError:
                pass  # looked at step by step
            path = trees.encode(folder)
            status = descent.status(path) if folder else os.fstat(descent.root)
            if status is None or not is_folder(status):
                found.empty.add(folder)
                held.folders[folder] = 0
                if status is not None:
                    replaced.add(folder)
                continue
            # Creating makes a folder readable that a command closed; it is there.
            opened = descent.folder(path, create=True)
            _look_into(opened, f"{folder}/" if folder else "", held, found, until)
            held.folders[folder] = settled_time(os.fstat(opened).st_ctime_ns, now)
    return replaced


def _look_into(folder: int, prefix: str, held: Held, found: Differences, until: float | None) -> None:
    with sweep.writable(folder), os.scandir(folder) as entries:
        for entry in entries:
            _refuse_late(until)
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


def _listed(
    objects: Objects, files: Path, git_dir: Path, held: Held, *options: str, until: float | None = None
) -> set[str]:
    command = [*_excludes(objects), "ls-files", "-z", *options]
    env = {"GIT_INDEX_FILE": str(git_dir / held.index)}
    return {trees.decode(path) for path in _patiently(git_dir, files, command, env, until).split(b"\0") if path}


def _excludes(objects: Objects) -> list[str]:
    """The repository's own setting for excludes; the person's are read from their usual places by git."""
    config = objects.config
    return ["-c", f"core.excludesFile={config['core.excludesFile']}"] if "core.excludesFile" in config else []


def _patiently(git_dir: Path, files: Path, command: list[str], env: dict[str, str], until: float | None) -> bytes:
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
            out, complaint = _awaited(process, until)
        if process.returncode == 0:
            return out
        raise GitFailed(
            f"git could not look through the directory: {complaint.decode('utf-8', 'replace').strip()}",
            hint="Run `forge doctor` to check the repository.",
        )
    raise GitFailed("git was kept from looking through the directory.", hint="Stop the commands that still run in it.")


def _awaited(process: subprocess.Popen[bytes], until: float | None) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=None if until is None else max(0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        _refuse_late(until)
        raise


def _refuse_late(until: float | None) -> None:
    if until is not None and time.monotonic() >= until:
        raise CollectionTimedOut(
            "The directory could not be looked through in time.", hint="Let the command make fewer files."
        )


def _traps_removed(files: Path) -> bool:
    with Descent(files) as descent:
        return sweep.remove_traps(descent.root) > 0
