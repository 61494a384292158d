"""On whose behalf something is done, what they may do, and the record of what they did.

What needs the database is loaded when it is used: a command on a repository alone has to start at once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forge.errors import Denied, InvalidInput, NotFound, Upstream
from forge.git.errors import RepositoryMissing
from forge.git.process import disk
from forge.projects.errors import ProjectMissing

if TYPE_CHECKING:
    from forge.sessions.redaction import Redactor
    from forge.store.audit import Deed
    from forge.store.database import Database
    from forge.store.ownership import Kind, Ownership, Right, Standing
    from forge.store.users import User

ALL_SCOPES = frozenset({"read", "write", "run", "admin"})
SECRET_FILE = "secret"  # noqa: S105 - the name of a file
_SECRET_BYTES = 32
_MOST_DEEDS = 1000
_TOKEN = re.compile(r"[0-9]{1,18}\.[0-9a-f]{32}\.[0-9a-f]{64}", re.ASCII)


class ScopeMissing(Denied):
    """The key that was used is not meant for this."""

    code = "scope_missing"


class SharedForReading(Denied):
    """It was shared to be read, not to be changed."""

    code = "shared_for_reading"


class NotTheOwner(Denied):
    """Only the owner decides who else sees it, and when it goes."""

    code = "not_the_owner"


class UserUnknown(NotFound):
    code = "user_unknown"


class SecretUnusable(Upstream):
    """The server's secret cannot be read or made."""

    code = "secret_unusable"


@dataclass(frozen=True, slots=True)
class Who:
    """`key` is the id of the forge-key, if one was used. The id "local" is the person at this machine.

    A key for one `project` reaches that and the `repository` in which it is built, and nothing else.
    """

    id: str
    name: str
    scopes: frozenset[str]
    key: str | None = None
    project: str | None = None
    repository: str | None = None

    def reaches(self, kind: Kind, id_: str) -> bool:
        return self.project is None or id_ == (self.project if kind == "project" else self.repository)

    @property
    def is_local(self) -> bool:
        return self.id == "local"


LOCAL = Who("local", "you", ALL_SCOPES)


class Shop(Protocol):
    """What this module needs of a workshop."""

    @property
    def database(self) -> Database: ...
    @property
    def redactor(self) -> Redactor: ...


def require(who: Who, scope: str) -> None:
    if scope not in who.scopes:
        raise ScopeMissing(
            f"This needs a key with the scope {scope}.", hint=f"Make one: `forge key new --scope {scope}`."
        )


def may_see(shop: Shop, who: Who, kind: Kind, id_: str) -> bool:
    """Whether it is theirs or shared with them. The person at this machine sees everything."""
    return who.is_local or _is_visible(who, _standing(shop, who, kind, id_))


def visible(shop: Shop, who: Who, kind: Kind) -> frozenset[str] | None:
    """The ids of all that they may see, for lists; None means everything."""
    if who.is_local:
        return None
    return frozenset(id_ for id_ in _ownership(shop).seen_by(kind, who.id) if who.reaches(kind, id_))


def owned(shop: Shop, who: Who, kind: Kind, id_: str, scope: str = "read") -> None:
    """Passes if they may see it and, where `scope` is another than `read`, change it.

    One that is somebody else's ends exactly like one that does not exist: after the same query, with the same error.
    """
    if who.is_local:
        return
    standing = _standing(shop, who, kind, id_)
    if not _is_visible(who, standing):
        raise missing(kind, id_)
    if scope != "read" and standing.owner != who.id and standing.granted != "write":
        raise SharedForReading(f"This {kind} was shared with you for reading.", hint="Ask its owner to let you write.")


def owner_of(shop: Shop, kind: Kind, id_: str) -> str:
    """The id of the user whose it is; what was made without a key belongs to the person at the machine."""
    return _ownership(shop).standing(kind, id_, LOCAL.id).owner or LOCAL.id


def is_of_the_machine(shop: Shop, kind: Kind, id_: str) -> bool:
    return owner_of(shop, kind, id_) == LOCAL.id


def writers(shop: Shop, kind: Kind, id_: str) -> frozenset[str]:
    """The ids of all users who may change it, the owner among them."""
    ownership = _ownership(shop)
    owner = ownership.standing(kind, id_, LOCAL.id).owner
    granted = {each.user for each in ownership.shares_of(kind, id_) if each.granted == "write"}
    return frozenset(granted | ({owner} if owner is not None else set()))


def only_owner(shop: Shop, who: Who, kind: Kind, id_: str) -> None:
    """Passes for the owner: users it is shared with may not know what others see of it, nor that it exists."""
    if who.is_local:
        return
    standing = _standing(shop, who, kind, id_)
    if not _is_visible(who, standing):
        raise missing(kind, id_)
    if standing.owner != who.id:
        raise NotTheOwner(f"This {kind} is somebody else's.", hint="Ask its owner.")


def missing(kind: Kind, id_: str) -> NotFound:
    """The one error for what does not exist and for what is somebody else's."""
    if kind == "project":
        return ProjectMissing(f"There is no project {id_!r}.", hint="`forge project list` shows them.")
    return RepositoryMissing(f"There is no repository {id_}.", hint="List the repositories to see what there is.")


def record_new(shop: Shop, who: Who, kind: Kind, id_: str) -> None:
    """What somebody has just made or added is theirs alone, even where an earlier one had the same id."""
    _ownership(shop).begin(kind, id_, who.id)


def forget_owner(shop: Shop, kind: Kind, id_: str) -> None:
    """For when it is deleted or forgotten: whoever makes it anew shall not inherit old shares."""
    _ownership(shop).forget(kind, id_)


def share(shop: Shop, who: Who, kind: Kind, id_: str, user: str, *, right: Right = "read") -> None:
    """Let another user, by name or id, see it, or also change it."""
    if right not in ("read", "write"):
        raise InvalidInput(f"There is no right {right!r}.", hint="Grant read or write.")
    only_owner(shop, who, kind, id_)
    other = _user(shop, user)
    _ownership(shop).share(kind, id_, other.id, right)
    audit(shop, who, f"{kind}.share", f"{kind}:{id_}", f"{other.name}: {right}")


def unshare(shop: Shop, who: Who, kind: Kind, id_: str, user: str) -> None:
    only_owner(shop, who, kind, id_)
    other = _user(shop, user)
    if _ownership(shop).unshare(kind, id_, other.id):
        audit(shop, who, f"{kind}.unshare", f"{kind}:{id_}", other.name)


def shared_with(shop: Shop, who: Who, kind: Kind, id_: str) -> dict[str, Right]:
    """What was granted, by the id of the user; for its owner to see."""
    only_owner(shop, who, kind, id_)
    return {each.user: each.granted for each in _ownership(shop).shares_of(kind, id_)}


def audit(shop: Shop, who: Who, action: str, subject: str, detail: str = "") -> None:
    """Write down who did what. Secrets are taken out first."""
    from forge.store.audit import Audit  # noqa: PLC0415

    # Names in git are bytes; SQL keeps text.
    told = shop.redactor.text(detail).encode("utf-8", "backslashreplace").decode()
    Audit(shop.database).add(time=time.time(), user=who.id, key=who.key, action=action, subject=subject, detail=told)


def audited(
    shop: Shop, who: Who, *, before: int | None = None, limit: int = 100, user: str | None = None
) -> tuple[Deed, ...]:
    """Who did what, newest first. `before` is the id of the last row seen."""
    from forge.store.audit import Audit  # noqa: PLC0415

    require(who, "admin")
    return Audit(shop.database).list(before=before, limit=min(limit, _MOST_DEEDS), user=user)


def server_secret(data_dir: Path) -> bytes:
    """Signs cookies and hashes keys. Made once, kept in the data directory, its owner's only."""
    path = data_dir / SECRET_FILE
    try:
        if not path.exists():
            _make_secret(path)
        # It may have come out of a backup with other rights.
        os.chmod(path, 0o600)
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise _secret_unusable(path) from error
    if len(secret) < _SECRET_BYTES:
        raise _secret_unusable(path)
    return secret


def derived(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose, so that what is signed for one is worth nothing for another."""
    return hmac.digest(secret, f"forge {purpose}".encode(), hashlib.sha256)


def one_time_token(secret: bytes, *, now: float | None = None) -> str:
    """Lets the person at this machine in, once. Who may read the secret can make one, also beside a running server."""
    issued = int((time.time() if now is None else now) * 1_000_000)
    body = f"{issued}.{secrets.token_hex(16)}"
    return f"{body}.{signature(derived(secret, 'token'), body)}"


def token_issued(secret: bytes, token: str) -> float | None:
    """When a one-time token was made; None where it is not one of ours."""
    body, _, signed = token.rpartition(".")
    if not _TOKEN.fullmatch(token) or not hmac.compare_digest(signed, signature(derived(secret, "token"), body)):
        return None
    return int(body.partition(".")[0]) / 1_000_000


def signature(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _make_secret(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    disk.write_synced(beside, secrets.token_hex(_SECRET_BYTES).encode(), mode=0o600)
    try:
        # Unlike a rename, a link never replaces the secret that another process made at the same moment.
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        os.unlink(beside)
    disk.sync_directory(path.parent)


def _secret_unusable(path: Path) -> SecretUnusable:
    return SecretUnusable(
        f"The server's secret at {path} cannot be used.",
        hint="Check who owns it. If it is lost, delete it: everybody signs in again and needs new keys.",
    )


def _standing(shop: Shop, who: Who, kind: Kind, id_: str) -> Standing:
    from forge.store.ownership import Standing  # noqa: PLC0415

    found = _ownership(shop).standing(kind, id_, who.id)
    return found if who.reaches(kind, id_) else Standing(None, None)


def _is_visible(who: Who, standing: Standing) -> bool:
    return standing.owner == who.id or standing.granted is not None


def _user(shop: Shop, name_or_id: str) -> User:
    from forge.store.users import Users  # noqa: PLC0415

    found = Users(shop.database).find(name_or_id)
    if found is None:
        raise UserUnknown(f"There is no user {name_or_id!r}.", hint="`forge user list` shows them.")
    return found


def _ownership(shop: Shop) -> Ownership:
    from forge.store.ownership import Ownership  # noqa: PLC0415

    return Ownership(shop.database)
