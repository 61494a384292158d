"""Running a command: what it gets, what comes back, what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from forge import sandbox
from forge.errors import Denied, InvalidInput, NotFound
from forge.sandbox import CommandResult, Limits, run

Python = Callable[..., CommandResult]


@pytest.mark.req("G-04")
def test_a_command_runs_in_its_directory_and_its_files_stay_there(box: Path) -> None:
    result = run(["sh", "-c", "pwd; echo done > made; echo oops >&2; exit 3"], box)

    assert (result.exit_code, result.ok) == (3, False)
    assert result.stdout_text == f"{box}\n"
    assert result.stderr_text == "oops\n"
    assert (box / "made").read_text() == "done\n"
    assert result.sandboxed
    assert (result.limited, result.timed_out, result.notes) == ((), False, ())
    assert 0 < result.duration < 10


@pytest.mark.req("G-04")
@pytest.mark.parametrize("where", ["/tmp", "/var/tmp", "/dev/shm", "home"])
def test_the_directory_may_lie_where_the_sandbox_hides_everything_else(where: str, home: Path) -> None:
    base = home if where == "home" else Path(where)
    if not os.access(base, os.W_OK):
        pytest.skip(f"{base} is not writable here")
    directory = base / f"forge-sandbox-test-{os.getpid()}"
    directory.mkdir()
    try:
        result = run(["sh", "-c", f"echo kept > file; ls -A {base}"], directory)
        assert (directory / "file").read_text() == "kept\n"
    finally:
        (directory / "file").unlink(missing_ok=True)
        directory.rmdir()
    assert set(result.stdout_text.split()) <= {directory.name, "forge-home"}


def test_a_command_leaves_the_processors_to_the_people_at_the_machine(box: Path) -> None:
    assert int(run(["nice"], box).stdout_text) == min(19, os.nice(0) + 5)


def test_a_symbolic_link_to_the_directory_is_followed(box: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(box)

    assert run(["pwd"], link).stdout_text == f"{box}\n"


@pytest.mark.req("X-06")
def test_the_command_gets_the_given_variables_and_safe_ones_only(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_SECRET", "hunter2")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")

    result = run(["env"], box, env={"COLOUR": "blue\nand green", "LANG": "C"})

    lines = result.stdout_text.splitlines()
    assert "COLOUR=blue" in lines
    assert "LANG=C" in lines
    names = {line.partition("=")[0] for line in lines if "=" in line}
    assert names == {"COLOUR", "LANG", "PATH", "HOME", "TMPDIR", "TERM", "USER", "LOGNAME", "SHELL", "PWD"}


@pytest.mark.req("X-06")
def test_a_variable_for_the_dynamic_linker_works_inside_only(box: Path) -> None:
    """LD_PRELOAD must not reach bubblewrap itself, which still runs outside."""
    result = run(["sh", "-c", "tr '\\0' '\\n' < /proc/1/environ"], box, env={"LD_PRELOAD": f"{box}/evil.so"})

    assert "LD_PRELOAD" not in result.stdout_text
    assert "evil.so" in result.stderr_text


def test_home_and_temporary_directory_are_private_and_writable(box: Path) -> None:
    script = 'echo a > "$HOME/a" && echo b > "$TMPDIR/b" && echo c > /var/tmp/c && cat ~/a /tmp/b && whoami && ls ~'

    assert run(["sh", "-c", script], box).stdout_text == "a\nb\nforge\na\n"
    assert run(["sh", "-c", "ls -A ~"], box).stdout_text == ""


def test_stdin_is_passed_whole_and_is_otherwise_empty(box: Path) -> None:
    data = os.urandom(700_000)

    assert run(["cat"], box, stdin=data).stdout == data
    assert run(["cat"], box).stdout == b""
    assert run(["true"], box, stdin=data).exit_code == 0
    assert run(["sh", "-c", "test -t 0 || echo none; cat < /dev/tty"], box).stdout == b"none\n"


def test_no_descriptor_of_the_caller_reaches_the_command(box: Path) -> None:
    leak = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(leak, True)
    try:
        result = run(["sh", "-c", "ls /proc/self/fd; ls -l /proc/1/fd"], box)
    finally:
        os.close(leak)
    assert result.stdout_text.split()[:4] == ["0", "1", "2", "3"]  # 3 is the listing itself
    assert "memfd" not in result.stdout_text
    assert "passwd" not in result.stdout_text


@pytest.mark.req("G-04")
def test_further_paths_become_visible_but_not_writable(box: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    (tools / "bin").mkdir(parents=True)
    (tools / "bin" / "hello").write_text("#!/bin/sh\necho hello\n")
    (tools / "bin" / "hello").chmod(0o755)
    (tmp_path / "linked").symlink_to(tools)
    guarded = box / "guarded"
    guarded.mkdir()
    script = "hello; touch guarded/x; touch ../tools/x; touch open"

    result = run(
        ["sh", "-c", script], box, readonly=[guarded, tmp_path / "linked"], env={"PATH": f"{tmp_path}/linked/bin:/bin"}
    )

    assert result.stdout_text == "hello\n"
    assert result.stderr_text.count("Read-only file system") == 2
    assert [*guarded.iterdir()] == []
    assert (box / "open").exists()


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["no-such-program"], 127, "no-such-program: not found"),
        (["./missing"], 127, "./missing: not found"),
        (["/etc/passwd"], 126, "/etc/passwd: Permission denied"),
        (["sh", "-c", "kill -KILL $$"], 137, ""),
        (["sh", "-c", "kill -SEGV $$"], 139, ""),
    ],
)
def test_exit_codes_are_those_of_a_shell(box: Path, command: list[str], code: int, words: str) -> None:
    result = run(command, box)

    assert result.exit_code == code
    assert words in result.stderr_text
    assert "bwrap" not in result.stderr_text


@pytest.mark.parametrize(
    "command",
    [[], [""], "ls -l", ["--help"], ["echo", "a\0b"], ["echo", "\ud800"]],
    ids=["none", "blank", "string", "option", "nul", "half a character"],
)
def test_a_command_that_cannot_be_run_is_refused(box: Path, command: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        run(command, box)
    assert caught.value.code == "invalid_command"
    assert caught.value.hint


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
def test_a_variable_that_cannot_be_set_is_refused(box: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        run(["true"], box, env={name: "x"})


def test_a_command_longer_than_the_system_allows_is_refused(box: Path) -> None:
    with pytest.raises(InvalidInput, match="longer"):
        run(["echo", "x" * 3_000_000], box)


@pytest.mark.parametrize("field", ["seconds", "memory_bytes", "processes", "output_bytes", "file_bytes"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_limits_must_be_finite_and_positive(field: str, value: float) -> None:
    with pytest.raises(InvalidInput):
        Limits(**{field: value})  # type: ignore[arg-type]


def test_a_missing_directory_is_an_error_that_says_so(box: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "none", tmp_path / "file", tmp_path / "loop", Path("a\0b")):
        with pytest.raises(NotFound):
            run(["true"], path)
    with pytest.raises(NotFound):
        run(["true"], box, readonly=[tmp_path / "none"])


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "path",
    ["/", "/tmp", "/home", "/root", "/usr", "/usr/..", "/etc", "/var", "/opt", "/proc/self", "/sys/kernel", "home"],
)
def test_a_directory_that_holds_the_system_or_a_home_is_never_made_writable(path: str, home: Path) -> None:
    directory = home if path == "home" else Path(path)
    if not directory.exists():
        pytest.skip("not on this system")
    with pytest.raises(Denied) as caught:
        run(["true"], directory)
    assert caught.value.code == "unsafe_directory"


@pytest.mark.req("X-06")
@pytest.mark.parametrize("path", ["/", "/proc", "/sys", "/dev", "/tmp"])
def test_paths_that_would_undo_the_sandbox_cannot_be_made_visible(box: Path, path: str) -> None:
    with pytest.raises(Denied):
        run(["true"], box, readonly=[Path(path)])


def test_many_runs_leave_no_descriptor_open(box: Path) -> None:
    run(["true"], box)
    before = len(os.listdir("/proc/self/fd"))
    for command in (["true"], ["no-such-program"], ["sleep", "5"]):
        run(command, box, Limits(seconds=0.2))
    with pytest.raises(NotFound):
        run(["true"], box, readonly=[box / "none"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_runs_in_many_threads_do_not_disturb_each_other(box: Path) -> None:
    outcomes: dict[int, CommandResult] = {}

    def one(number: int) -> None:
        outcomes[number] = run(["sh", "-c", f"echo {number}; exit {number}"], box)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (r.exit_code, r.stdout_text) for n, r in outcomes.items()} == {n: (n, f"{n}\n") for n in range(8)}


@pytest.mark.req("G-04")
def test_ordinary_tools_work_inside(box: Path, python: Python) -> None:
    git = (
        "git init -q . && git -c user.name=a -c user.email=a@b commit -qm x --allow-empty && git log --oneline | wc -l"
    )
    assert run(["sh", "-c", git], box).stdout_text.strip() == "1"

    source = """
        import multiprocessing, socket, sqlite3, tempfile, threading
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname())
        sqlite3.connect("x.db").execute("create table t(a)")
        with tempfile.TemporaryFile() as file: file.write(b"x")
        lock = multiprocessing.Lock()
        print("fine")
    """
    result = python(textwrap.dedent(source))
    assert result.stdout_text == "fine\n", result.stderr_text


@pytest.mark.req("X-06")
def test_root_and_an_ordinary_user_are_confined_alike(tmp_path: Path) -> None:
    """Runs the sandbox as an unprivileged user; when the tests are run by one, all of them prove this."""
    if os.getuid() != 0:
        pytest.skip("not root: every test here runs as an ordinary user already")
    script = textwrap.dedent(
        """
        import os, tempfile
        from pathlib import Path
        from forge.sandbox import Limits, run
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        with tempfile.TemporaryDirectory() as place:
            box = Path(place, "box"); box.mkdir()
            Path(place, "secret").write_text("hidden")
            hog = "x=$(head -c 90000000 /dev/zero | tr '\\\\0' x); sleep 20"
            print(run(["sh", "-c", "id -u; echo made > file; cat ../secret"], box).stdout)
            print(Path(box, "file").read_text(), end="")
            print(run(["sh", "-c", "touch /usr/x || mount -t tmpfs x /tmp || chmod 4755 ."], box).exit_code > 0)
            print(run(["sh", "-c", hog], box, Limits(memory_bytes=30_000_000, seconds=30)).limited)
            print(run(["sh", "-c", "for i in $(seq 30); do sleep 20 & done; wait"], box, Limits(processes=10)).limited)
            print(run(["sh", "-c", "setsid sleep 20 & sleep 20"], box, Limits(seconds=0.3)).limited)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "b'1000\\n'", "made", "True", "('memory',)", "('processes',)", "('time',)",
    ]  # fmt: skip


@pytest.mark.req("X-06")
def test_without_bubblewrap_nothing_is_run(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(box))
    with pytest.raises(sandbox.SandboxUnavailable) as caught:
        run(["touch", "made"], box)

    assert isinstance(caught.value, Denied)
    assert "not on the PATH" in caught.value.message
    assert "Install bubblewrap" in caught.value.hint
    assert "plain execution" in caught.value.hint
    assert [*box.iterdir()] == []


@pytest.mark.req("X-06")
def test_a_bubblewrap_that_cannot_work_here_is_recognised(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo bubblewrap 0.8.0\necho no namespaces >&2; exit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent))

    found = sandbox.available()
    assert (found.works, found.path, found.version, found.reason) == (False, broken, "0.8.0", "no namespaces")
    assert "user namespaces" in found.hint
    with pytest.raises(sandbox.SandboxUnavailable, match="no namespaces"):
        run(["true"], box)


@pytest.mark.req("X-03")
def test_a_bubblewrap_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin" / "bwrap"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo bubblewrap 0.6.1\necho bad option >&2; exit 1\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(old.parent))
    found = sandbox.available()
    assert (found.works, found.reason) == (False, "bubblewrap 0.6.1 is too old")
    assert found.hint.startswith("Install bubblewrap 0.8 or newer")


def test_availability_names_path_and_version_and_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sandbox.available()
    assert found.works
    assert found.path is not None
    assert found.version[0].isdigit()
    assert (found.reason, found.hint) == ("", "")
    monkeypatch.setattr(subprocess, "run", None)
    assert sandbox.available() is found


def test_a_sandbox_that_cannot_be_set_up_is_an_error_and_not_an_exit_code(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sandbox.available()
    fickle = tmp_path / "bin" / "bwrap"
    fickle.parent.mkdir()
    fickle.write_text(
        f'#!/bin/sh\ncase "$*" in *--args*) echo bwrap: no space >&2; exit 1;; esac\nexec {found.path} "$@"\n'
    )
    fickle.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fickle.parent}:{os.environ['PATH']}")

    with pytest.raises(sandbox.SandboxFailed, match="no space"):
        run(["true"], box)


def test_a_result_decodes_output_that_is_not_text(box: Path) -> None:
    result = run(["printf", "a\\377b"], box)
    assert result.stdout == b"a\xffb"
    assert result.stdout_text == "a\ufffdb"


def test_a_command_killed_by_a_signal_of_its_own_is_not_called_limited(box: Path) -> None:
    result = run(["sh", "-c", f"kill -{signal.SIGTERM.value} $$"], box)
    assert (result.exit_code, result.limited) == (143, ())


@pytest.mark.req("X-06")
def test_a_variable_may_be_empty(box: Path) -> None:
    result = run(["sh", "-c", "echo ${EMPTY-unset}."], box, env={"EMPTY": ""})

    assert (result.exit_code, result.stdout) == (0, b".\n")
