"""More than two hundred hostile scripts: none writes outside its directory, reads a secret, reaches a network or stays.

Each attempt reports a success of its own as ESCAPED; besides, files, sockets and processes outside are looked at after
each. Attempts do no harm where a sandbox fails them: they touch files planted for them or change nothing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forge.sandbox import DEFAULT_LIMITS, CommandResult, Limits, run

PLACES = (
    "/", "/etc", "/usr", "/usr/local/bin", "/usr/lib", "/opt", "/var", "/var/lib", "/srv", "/mnt", "/media", "/boot",
    "/root", "/home", "/dev", "/sys/kernel", "/proc/sys/kernel", "{home}", "{outside}",
)  # fmt: skip

WAYS_TO_MAKE_A_FILE = (
    "echo bad > {file}",
    "touch {file}",
    "cp /etc/hosts {file}",
    "echo bad > here; mv here {file}",
    "ln -s /etc/hosts {file}",
    "mkdir -p {file}",
    "ln -sfn {file} link; echo bad > link",
    "echo bad > /proc/self/root{file}",
    "echo bad > /proc/1/root{file}",
)

WAYS_TO_CHANGE_A_FILE = (
    "echo bad >> {victim}",
    "echo bad > {victim}",
    "rm -f {victim}",
    "rm -rf {outside}",
    "mv {victim} stolen",
    "chmod 777 {victim}",
    "chown 1000 {victim}",
    "touch -d 2001-01-01 {victim}",
    "truncate -s 0 {victim}",
    "ln {victim} hard && echo bad >> hard",
    "ln -s {victim} soft && echo bad >> soft",
    "ln -sfn {outside} up && echo bad >> up/victim",
    "sed -i s/good/bad/ {victim}",
    "dd if=/dev/zero of={victim} bs=1 count=4 conv=notrunc",
    "echo bad >> ../outside/victim",
    "cd .. && echo bad >> outside/victim",
    "echo bad >> /proc/self/cwd/../outside/victim",
    "echo bad >> /proc/$PPID/cwd/../outside/victim",
    "echo bad >> /proc/1/cwd{victim}",
    "echo bad >> /proc/{pid}/root{victim}",
    "for p in /proc/[0-9]*; do echo bad >> $p/root{victim}; echo bad >> $p/cwd/../outside/victim; done",
    "find / {big} -o -name victim -exec sh -c 'echo bad >> $1' - {{}} \\;",
    "tar cf - here 2>/dev/null; tar xPf {box}/prepared.tar",
    "cd / && tar xf {box}/prepared.tar",
    "mkdir -p {outside} && echo bad > {victim} && test -s {victim} && exit 1",
    "mount --bind {outside} . && echo bad >> victim",
    "rmdir ../box; rm -rf ../box; mv ../box ../elsewhere",
    "rm -rf {home}/{planted} /tmp/{planted} /var/tmp/{planted} /dev/shm/{planted} /run/{planted} /srv/{planted}",
    "rm -rf ../*",
)

WAYS_TO_GAIN_RIGHTS = (
    "mount -o remount,rw / && echo ESCAPED",
    "mount -o remount,rw /usr && echo ESCAPED",
    "mount -o remount,rw,bind /usr && echo ESCAPED",
    "mount -o remount,rw /proc && echo ESCAPED",
    "mount -t tmpfs none /usr && echo ESCAPED",
    "mount -t proc none /tmp && echo ESCAPED",
    "mount -t sysfs none /tmp && echo ESCAPED",
    "mount -t devtmpfs none /tmp && echo ESCAPED",
    "mount --bind /tmp /usr/share && echo ESCAPED",
    "mount -t overlay o -o lowerdir=/usr,upperdir=/tmp,workdir=/tmp /usr && echo ESCAPED",
    "umount /proc && echo ESCAPED",
    "umount -l / && echo ESCAPED",
    "umount -l /tmp && echo ESCAPED",
    "unshare -r true && echo ESCAPED",
    "unshare -Ur mount -t tmpfs none /tmp && echo ESCAPED",
    "unshare -m true && echo ESCAPED",
    "unshare -n true && echo ESCAPED",
    "unshare -p -f true && echo ESCAPED",
    "nsenter -t 1 -m -p -n true && echo ESCAPED",
    "nsenter --mount=/proc/1/ns/mnt true && echo ESCAPED",
    "chroot / true && echo ESCAPED",
    "chroot /proc/1/root true && echo ESCAPED",
    "pivot_root . . && echo ESCAPED",
    "mknod disk b 8 0 && echo ESCAPED",
    "mknod disk b 254 0 && cat disk && echo ESCAPED",
    "mknod mem c 1 1 && echo ESCAPED",
    "mknod /tmp/kmsg c 1 11 && echo ESCAPED",
    "cd /dev && ls -d mem kmem port kmsg sda vda nvme0n1 loop0 loop-control fuse kvm net vsock mapper && echo ESCAPED",
    "su -c true && echo ESCAPED",
    "sudo -n true && echo ESCAPED",
    "setpriv --reuid 0 true && echo ESCAPED",
    "setpriv --inh-caps +sys_admin true && echo ESCAPED",
    "capsh --print 2>/dev/null | grep -q 'Current: .*cap_sys' && echo ESCAPED",
    "grep -E 'Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv 0000000000000000 && echo ESCAPED",
    "grep -q 'NoNewPrivs:.0' /proc/self/status && echo ESCAPED",
    "v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness && echo ESCAPED",
    "v=$(cat /proc/sys/kernel/core_pattern); echo $v > /proc/sys/kernel/core_pattern && echo ESCAPED",
    "echo 1 > /proc/sys/vm/drop_caches && echo ESCAPED",
    "echo h > /proc/sysrq-trigger && echo ESCAPED",
    "echo 0 > /proc/self/oom_score_adj && echo ESCAPED",
    "echo -n x > /proc/1/comm && echo ESCAPED",
    "echo '0 0 1' > /proc/self/uid_map && echo ESCAPED",
    "echo 1 > /sys/kernel/uevent_helper && echo ESCAPED",
    "mkdir -p /sys/fs/cgroup/x && echo ESCAPED",
    "hostname sandbox && echo ESCAPED",
    "date -s @$(date +%s) && echo ESCAPED",
    "sysctl -w vm.swappiness=$(cat /proc/sys/vm/swappiness) && echo ESCAPED",
    "insmod /dev/null && echo ESCAPED",
    "modprobe loop && echo ESCAPED",
    "losetup -f && echo ESCAPED",
    "swapon /dev/zero && echo ESCAPED",
    "dmesg 2>/dev/null | grep -q . && echo ESCAPED",
    "renice -n -20 $$ && echo ESCAPED",
    "chrt -f 50 true && echo ESCAPED",
    "ulimit -f unlimited && echo ESCAPED",
    "ulimit -c unlimited && echo ESCAPED",
    "touch s && chmod u+s s && echo ESCAPED",
    "touch s && chmod 2755 s && echo ESCAPED",
    "install -m 4755 /bin/true s && echo ESCAPED",
    "cp /bin/sh s && setcap cap_sys_admin+ep s && echo ESCAPED",
    "chown 0:0 . && echo ESCAPED",
    "chown 1234 . && echo ESCAPED",
    "ln /usr/bin/env stolen && echo ESCAPED",
    "script -qc true /dev/null </dev/tty && echo ESCAPED",
    "test $(ls -d /proc/[0-9]* | wc -l) -gt 8 && echo ESCAPED",
    "kill -0 {pid} && echo ESCAPED",
    "readlink /proc/{pid}/exe && echo ESCAPED",
)

BIG = r"\( -path /usr -o -path /opt -o -path /proc \) -prune"  # holds no secret and takes long to search

# number of the call on x86_64 and its arguments
SYSTEM_CALLS = {
    "mount": (165, (b"none", b"/usr", b"tmpfs", 0, 0)),
    "umount2": (166, (b"/proc", 2)),
    "pivot_root": (155, (b".", b".")),
    "chroot": (161, (b"/",)),
    "unshare user": (272, (0x10000000,)),
    "unshare mount": (272, (0x00020000,)),
    "unshare net": (272, (0x40000000,)),
    "open_tree": (428, (-100, b"/usr", 1)),
    "fsopen": (430, (b"tmpfs", 0)),
    "mount_setattr": (442, (-100, b"/usr", 0, b"\0" * 32, 32)),
    "open_by_handle_at": (304, (-100, b"\x08\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0", 0)),
    "add_key": (248, (b"user", b"forge", b"x", 1, -2)),
    "request_key": (249, (b"user", b"forge", 0, 0)),
    "keyctl": (250, (0, -3, 0)),
    "bpf": (321, (5, b"\0" * 128, 128)),
    "perf_event_open": (298, (b"\0" * 128, 0, -1, -1, 0)),
    "userfaultfd": (323, (1,)),
    "io_uring_setup": (425, (8, b"\0" * 128)),
    "openat2": (437, (-100, b"/", b"\0" * 24, 24)),
    "init_module": (175, (b"x", 1, b"")),
    "kexec_load": (246, (0, 0, 0, 0)),
    "reboot": (169, (0xFEE1DEAD, 672274793, 0, 0)),  # only switches Ctrl-Alt-Del off
    "iopl": (172, (3,)),
    "ioperm": (173, (0x80, 1, 1)),
    "swapon": (167, (b"/dev/zero", 0)),
    "acct": (163, (0,)),
    "syslog": (103, (3, b"\0" * 64, 64)),
    "settimeofday": (164, (0, 0)),
    "sethostname": (170, (b"x", 1)),
    "setgroups": (116, (1, b"\0\0\0\0")),
    "mknod block": (133, (b"node", 0o60644, 0x0800)),
    "mknod suid": (133, (b"node", 0o104755, 0)),
    "chmod suid": (90, (b".", 0o4755)),
    "fchmodat2 suid": (452, (-100, b".", 0o4755, 0)),
    "creat suid": (85, (b"made", 0o4755)),
    "open suid": (2, (b"made", 0o101, 0o4755)),
    "mkdir sgid": (83, (b"made", 0o2755)),
    "socket vsock": (41, (40, 1, 0)),
    "socket packet": (41, (17, 3, 0)),
    "socket bluetooth": (41, (31, 3, 1)),
    "socket alg": (41, (38, 5, 0)),
    "socket raw": (41, (2, 3, 1)),
    "x32 socket": (0x40000000 + 41, (40, 1, 0)),
    "ptrace outside": (101, (16, 1 << 21, 0, 0)),
}

REFUSALS = {errno.EPERM, errno.ENOSYS, errno.ESRCH, errno.ENOSPC}  # no space is left for user namespaces

WAYS_TO_READ_A_SECRET = (
    "cat {secret}",
    "cat {home}/{planted}",
    "cat /proc/self/root{secret}",
    "cat /proc/1/root{secret}",
    "cat /proc/{pid}/root{secret}",
    "cat /proc/{pid}/environ",
    "cat /proc/*/environ",
    "cat /proc/1/environ /proc/$PPID/environ",
    "cat /proc/*/cmdline /proc/*/maps /proc/*/task/*/environ",
    "env; set; export",
    "ln -s {secret} s; cat s",
    "ln {secret} s; cat s",
    "cat prepared-link",
    "cat ../outside/secret",
    "find / {big} -o -name '*{token}*' -exec cat {{}} +",
    "find / {big} -o -name secret -exec cat {{}} +",
    "tar cf - {outside} {home}",
    "cp -r {home} stolen; cat stolen/*",
    "cat /tmp/*{token}* /var/tmp/*{token}* /dev/shm/*{token}* /run/*{token}*",
    "grep -rs {token} /tmp /var /run /dev/shm /home /root /srv /mnt /media /etc",
    "cut -d' ' -f4,5 /proc/self/mountinfo | tr ' ' '\\n' | while read d; do cat $d/secret $d/*{token}* $d/.*; done",
    "strings /proc/kcore | grep -m1 {token}",
    "cat /dev/mem /dev/kmem /dev/port",
    "ipcs -a; cat /proc/sysvipc/*",
    "cat <&3 <&4 <&5 <&6 <&7 <&8 <&9",
    "for i in 3 4 5 6 7 8 9 10 11 12; do cat /proc/self/fd/$i; cat /proc/1/fd/$i; done",
)

HIDDEN = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private", "/etc/machine-id",
    "/etc/fstab", "/etc/crontab", "/etc/krb5.keytab", "/etc/docker", "/etc/NetworkManager", "/etc/wireguard",
    "/etc/letsencrypt", "/root", "/home", "/srv", "/mnt", "/media", "/boot", "/lost+found", "/sys",
    "/var/lib", "/var/log", "/var/spool", "/var/run/docker.sock", "/run/docker.sock", "/run/user", "/run/dbus",
    "/run/systemd", "/tmp/.X11-unix",
)  # fmt: skip

WAYS_TO_REACH_A_NETWORK = (
    "exec 3<>/dev/tcp/127.0.0.1/{port} && echo ESCAPED",
    "exec 3<>/dev/tcp/localhost/{port} && echo ESCAPED",
    "exec 3<>/dev/tcp/::1/{port} && echo ESCAPED",
    "exec 3<>/dev/tcp/{address}/{port} && echo ESCAPED",
    "exec 3<>/dev/tcp/0.0.0.0/{port} && echo ESCAPED",
    "exec 3<>/dev/tcp/169.254.169.254/80 && echo ESCAPED",
    "exec 3<>/dev/tcp/192.0.2.1/80 && echo ESCAPED",
    "echo bad > /dev/udp/127.0.0.1/{udp}",
    "echo bad > /dev/udp/{address}/{udp}",
    "curl -sm 2 http://127.0.0.1:{port} && echo ESCAPED",
    "curl -sm 2 http://{address}:{port} && echo ESCAPED",
    "curl -sm 2 --unix-socket {unix} http://x && echo ESCAPED",
    "wget -qT 2 -t 1 http://127.0.0.1:{port} && echo ESCAPED",
    "timeout 2 git ls-remote git://127.0.0.1:{port}/x && echo ESCAPED",
    "timeout 2 ssh -p {port} -o BatchMode=yes 127.0.0.1 && echo ESCAPED",
    "timeout 2 nc -z 127.0.0.1 {port} && echo ESCAPED",
    "timeout 2 ping -c1 -W1 {address} && echo ESCAPED",
    "timeout 2 getent ahosts example.com && echo ESCAPED",
    "ip link add dummy0 type dummy && echo ESCAPED",
    "ip addr add 192.0.2.7/24 dev lo && echo ESCAPED",
    "ip route add default dev lo && echo ESCAPED",
    "ls /sys/class/net/e* && echo ESCAPED",
    "awk 'NR > 2 && $1 != \"lo:\"' /proc/net/dev | grep . && echo ESCAPED",
    "ls {unix} && echo ESCAPED",
    "ls -A /run | grep . && echo ESCAPED",
)

PYTHON_NETWORK = (
    "socket.create_connection(('127.0.0.1', {port}), 1)",
    "socket.create_connection(('{address}', {port}), 1)",
    "socket.create_connection(('::1', {port}), 1)",
    "s = socket.socket(socket.AF_UNIX); s.connect('{unix}')",
    "s = socket.socket(socket.AF_UNIX); s.connect('\\0{abstract}')",
    "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect('\\0{abstract}')",
    "s = socket.socket(socket.AF_UNIX); s.connect('/proc/{pid}/root{unix}')",
    "s = socket.socket(40, socket.SOCK_STREAM); s.connect((2, 1024))",
    "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15); s.bind((0, 1))",
    "socket.getaddrinfo('example.com', 80)",
    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'bad', ('{address}', {udp}))",
    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'bad', ('255.255.255.255', {udp}))",
)


@dataclass
class World:
    """What lies outside the box and must stay as it is."""

    box: Path
    outside: Path
    planted: list[Path]
    names: dict[str, Any]

    def text(self, attempt: str) -> str:
        return attempt.format(**self.names)

    def state(self) -> dict[str, str]:
        """Content, kind, rights and times of everything outside the box."""
        found = [path for path in self.outside.parent.rglob("*") if self.box not in (path, *path.parents)]
        return {str(path): _fingerprint(path) for path in [*found, *self.planted]}

    def strangers(self) -> list[str]:
        """Files that an attempt managed to make."""
        token = self.names["token"]
        made = [Path(self.text(place)) / f"made-{token}" for place in PLACES]
        return [str(path) for path in made if os.path.lexists(path)]


def _fingerprint(path: Path) -> str:
    entry = path.lstat()
    content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    times = "" if path.is_dir() else str(entry.st_mtime_ns)
    return f"{entry.st_mode:o} {entry.st_uid}:{entry.st_gid} {entry.st_nlink} {times} {content}"


@pytest.fixture
def world(tmp_path: Path, box: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    token = uuid.uuid4().hex
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("good\n")
    (outside / "secret").write_text(f"secret-{token}\n")
    monkeypatch.setenv("FORGE_SECRET", f"secret-{token}")
    planted = []
    for place in (home, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/run"), Path("/srv"), Path("/root")):
        if os.access(place, os.W_OK):
            planted.append(place / f"planted-{token}")
            planted[-1].write_text(f"secret-{token}\n")
    (box / "prepared-link").symlink_to(outside / "secret")
    subprocess.run(["tar", "cPf", box / "prepared.tar", outside / "victim"], check=True)
    names = {
        "token": token, "home": home, "outside": outside, "box": box, "pid": os.getpid(),
        "victim": outside / "victim", "secret": outside / "secret", "planted": f"planted-{token}",
        "big": BIG,
    }  # fmt: skip
    world = World(box, outside, planted, names)
    yield world
    for path in (*planted, *map(Path, world.strangers())):
        path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()


def _attempts_fail(
    world: World, attempts: list[str], prefix: list[str], limits: Limits = DEFAULT_LIMITS, **options: Any
) -> None:
    """Run each attempt confined and look after each: the failures are named together."""
    before, token = world.state(), world.names["token"]
    broken: list[str] = []
    for attempt in attempts:
        result = run([*prefix, attempt], world.box, limits, **options)
        output = result.stdout + result.stderr.replace(attempt.encode(), b"")
        if b"ESCAPED" in result.stdout or f"secret-{token}".encode() in output:
            broken.append(f"{attempt!r} escaped: {output[-300:]!r}")
        if world.state() != before or world.strangers():
            broken.append(f"{attempt!r} changed something outside: {world.strangers()}")
            before = world.state()
    assert broken == []


@pytest.mark.req("X-06")
def test_there_are_more_than_two_hundred_hostile_scripts() -> None:
    making = len(PLACES) * len(WAYS_TO_MAKE_A_FILE)
    lists = (
        WAYS_TO_CHANGE_A_FILE, WAYS_TO_GAIN_RIGHTS, SYSTEM_CALLS, WAYS_TO_READ_A_SECRET, HIDDEN,
        WAYS_TO_REACH_A_NETWORK, PYTHON_NETWORK,
    )  # fmt: skip
    assert sum(map(len, lists)) > 200
    assert making > 150


@pytest.mark.req("X-06")
@pytest.mark.parametrize("way", WAYS_TO_MAKE_A_FILE)
def test_no_file_is_made_outside(world: World, trace: Any, way: str) -> None:
    script = "\n".join(
        f"( {way} ) 2>/dev/null".format(file=world.text(place).rstrip("/") + f"/made-{world.names['token']}")
        for place in PLACES
    )
    _attempts_fail(world, [script], ["sh", "-c"], env=trace.env)


@pytest.mark.req("X-06")
def test_the_ways_to_make_a_file_would_work_unconfined(world: World, tmp_path: Path) -> None:
    """Attempts that cannot succeed anywhere would prove nothing."""
    for number, way in enumerate(WAYS_TO_MAKE_A_FILE[:-1]):  # the last needs rights over process 1
        target = tmp_path / f"made-{number}"
        subprocess.run(["sh", "-c", way.format(file=target)], cwd=world.box, check=False, capture_output=True)
        assert os.path.lexists(target), way
        (world.box / "link").unlink(missing_ok=True)


@pytest.mark.req("X-06")
def test_no_file_outside_is_changed(world: World, trace: Any) -> None:
    scripts = [world.text(way) for way in WAYS_TO_CHANGE_A_FILE]
    _attempts_fail(world, scripts, ["sh", "-c"], Limits(seconds=20), env=trace.env)


@pytest.mark.req("X-06")
def test_most_ways_to_change_a_file_would_work_unconfined(world: World) -> None:
    worked = 0
    for way in WAYS_TO_CHANGE_A_FILE[:18]:
        before = world.state()
        subprocess.run(["sh", "-c", world.text(way)], cwd=world.box, check=False, capture_output=True)
        worked += world.state() != before
        world.outside.mkdir(exist_ok=True)
        (world.outside / "victim").write_text("good\n")
        (world.outside / "victim").chmod(0o644)
        for name in ("hard", "soft", "up", "stolen"):
            (world.box / name).unlink(missing_ok=True)
    assert worked >= 16


@pytest.mark.req("X-06")
def test_no_rights_are_gained(world: World, trace: Any) -> None:
    scripts = [world.text(way) for way in WAYS_TO_GAIN_RIGHTS]
    _attempts_fail(world, scripts, ["sh", "-c"], Limits(seconds=20), env=trace.env)


@pytest.mark.req("X-06")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_no_system_call_opens_a_way_out(world: World, interpreter: tuple[str, Path], trace: Any) -> None:
    binary, prefix = interpreter
    source = f"""
import ctypes, errno, os
call = ctypes.CDLL(None, use_errno=True).syscall
for name, (number, arguments) in {SYSTEM_CALLS!r}.items():
    for made in ("made", "node"):
        if os.path.lexists(made): os.rmdir(made) if os.path.isdir(made) else os.unlink(made)
    words = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]
    if call(ctypes.c_long(number), *words) != -1 or ctypes.get_errno() not in {REFUSALS!r}:
        print("ESCAPED", name, errno.errorcode.get(ctypes.get_errno()))
print("tried", {len(SYSTEM_CALLS)})
"""
    _attempts_fail(world, [source], [binary, "-I", "-c"], readonly=[prefix], env=trace.env)
    result = run([binary, "-I", "-c", source], world.box, readonly=[prefix])
    assert result.stdout_text == f"tried {len(SYSTEM_CALLS)}\n"


@pytest.mark.req("X-06")
def test_no_secret_is_read(world: World, trace: Any) -> None:
    scripts = [world.text(way) for way in WAYS_TO_READ_A_SECRET]
    _attempts_fail(world, scripts, ["bash", "-c"], Limits(seconds=30), env=trace.env)


@pytest.mark.req("X-06")
def test_homes_keys_and_sockets_are_not_there_or_empty(world: World) -> None:
    script = "; ".join(f"ls -Ad {path}/* {path}/.[!.]* {path} 2>/dev/null" for path in HIDDEN)
    assert run(["sh", "-c", script], world.box).stdout_text == ""


@pytest.mark.req("X-06")
def test_only_devices_that_hold_nothing_are_there(box: Path) -> None:
    listed = run(["sh", "-c", "ls -A /dev; ls -A /dev/shm /dev/pts"], box).stdout_text
    assert set(listed.split()) <= {
        "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero", "/dev/shm:", "/dev/pts:", "console",
    }  # fmt: skip


class Listeners:
    """Sockets outside that write down whoever comes."""

    def __init__(self, directory: Path) -> None:
        self.reached: list[str] = []
        self._sockets: list[socket.socket] = []
        self.abstract = f"forge-{uuid.uuid4().hex}"
        self.unix = directory / "s"
        self.port = self._listen(socket.AF_INET, ("0.0.0.0", 0)).getsockname()[1]
        with contextlib.suppress(OSError):
            self._listen(socket.AF_INET6, ("::1", self.port))
        self._listen(socket.AF_UNIX, str(self.unix))
        self._listen(socket.AF_UNIX, f"\0{self.abstract}")
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("0.0.0.0", 0))
        self.udp = datagrams.getsockname()[1]
        self._serve(datagrams, lambda: datagrams.recv(100))

    def _listen(self, family: socket.AddressFamily, address: Any) -> socket.socket:
        server = socket.socket(family)
        server.bind(address)
        server.listen()

        def take() -> None:
            server.accept()[0].close()

        self._serve(server, take)
        return server

    def _serve(self, server: socket.socket, take: Any) -> None:
        self._sockets.append(server)

        def loop() -> None:
            with contextlib.suppress(OSError):
                while True:
                    take()
                    self.reached.append(f"{server.family.name} {server.type.name}")

        threading.Thread(target=loop, daemon=True).start()

    def close(self) -> None:
        for server in self._sockets:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()


@pytest.fixture
def listeners(world: World) -> Iterator[Listeners]:
    found = Listeners(world.outside)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("127.0.0.1", 9))
        address = probe.getsockname()[0]
        with contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))  # sends nothing: only asks which address would be used
            address = probe.getsockname()[0]
    world.names |= {
        "port": found.port, "udp": found.udp, "unix": found.unix, "abstract": found.abstract, "address": address,
    }  # fmt: skip
    yield found
    found.close()


def _python_network(world: World) -> str:
    tries = "\n".join(
        f"try:\n  {world.text(line)}\n  print('ESCAPED', {number})\nexcept OSError: pass"
        for number, line in enumerate(PYTHON_NETWORK)
        if "sendto" not in line
    )
    sent = "\n".join(f"try: {world.text(line)}\nexcept OSError: pass" for line in PYTHON_NETWORK if "sendto" in line)
    return f"import socket\n{tries}\n{sent}\nprint('tried')"


@pytest.mark.req("X-06")
def test_no_network_and_no_socket_outside_is_reached(
    world: World, listeners: Listeners, interpreter: tuple[str, Path], trace: Any
) -> None:
    binary, prefix = interpreter
    scripts = [world.text(way) for way in WAYS_TO_REACH_A_NETWORK]
    _attempts_fail(world, scripts, ["bash", "-c"], Limits(seconds=10), env=trace.env)
    # Netlink is namespaced and lets only privileged processes change anything, so opening it is no escape.
    source = _python_network(world).replace("print('ESCAPED', 8)", "pass")
    _attempts_fail(world, [source], [binary, "-I", "-c"], readonly=[prefix], env=trace.env)

    assert listeners.reached == []


@pytest.mark.req("X-06")
def test_the_ways_to_reach_a_socket_would_work_unconfined(world: World, listeners: Listeners) -> None:
    subprocess.run([sys.executable, "-c", _python_network(world)], check=False, capture_output=True, timeout=60)
    subprocess.run(["bash", "-c", world.text(WAYS_TO_REACH_A_NETWORK[0])], check=False, capture_output=True)
    kinds = set(listeners.reached)
    assert {"AF_INET SOCK_STREAM", "AF_UNIX SOCK_STREAM", "AF_INET SOCK_DGRAM"} <= kinds
    assert len(listeners.reached) >= 5


@pytest.mark.req("X-06")
def test_a_network_is_there_when_it_is_asked_for(world: World, listeners: Listeners) -> None:
    script = world.text("exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3; cat /etc/resolv.conf; ls {unix}; cat {secret}")

    result = run(["bash", "-c", script], world.box, network=True)

    assert "AF_INET SOCK_STREAM" in listeners.reached
    if os.path.exists("/etc/resolv.conf"):
        assert result.stdout == Path("/etc/resolv.conf").read_bytes()
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")
    if certificates.exists():
        shown = run(["sha256sum", str(certificates)], world.box, network=True).stdout_text
        assert shown.split()[0] == hashlib.sha256(certificates.read_bytes()).hexdigest()


@pytest.mark.req("X-06")
def test_a_directory_can_be_cleared_without_harm_outside(world: World) -> None:
    before = world.state()
    run(["sh", "-c", "rm -rf ./* .[!.]* 2>/dev/null; echo left > last"], world.box)

    assert world.state() == before
    assert [path.name for path in world.box.iterdir()] == ["last"]


TRACING = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.syscall.restype = ctypes.c_long
ATTACH, DETACH, SEIZE, TRACEME = 16, 17, 0x4206, 0
PIDFD_OPEN = 434
def refused(done): return done == -1
first = [refused(libc.ptrace(ATTACH, 1, None, None)), refused(libc.ptrace(SEIZE, 1, None, None)),
         refused(libc.syscall(PIDFD_OPEN, 1, 0))]
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
here = ctypes.create_string_buffer(8)
near, far = Vector(ctypes.addressof(here), 8), Vector(0x400000, 8)
for call in ("process_vm_readv", "process_vm_writev"):
    done = getattr(libc, call)(1, ctypes.byref(near), 1, ctypes.byref(far), 1, 0)
    first.append(refused(done) and ctypes.get_errno() == 1)
for name in ("mem", "maps", "task/1/mem", "environ", "fd", "root", "cwd", "exe"):
    try:
        os.listdir(f"/proc/1/{name}") if name == "fd" else open(f"/proc/1/{name}", "rb").read(1)
        first.append(f"/proc/1/{name} was read")
    except OSError:
        first.append(True)
child = os.fork()
if child == 0:
    os.read(os.pipe()[0], 1)
own = libc.ptrace(SEIZE, child, None, None)
os.kill(child, 9)
print([each for each in first if each is not True], own)
"""


@pytest.mark.req("X-06")
def test_the_first_process_of_the_sandbox_cannot_be_traced(python: Callable[..., CommandResult]) -> None:
    """It ties the sandbox to the life of its caller. A command may still trace its own children."""
    assert python(TRACING, Limits(seconds=20)).stdout_text == "[] 0\n"
