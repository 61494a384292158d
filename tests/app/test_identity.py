"""Who may do what: scopes, owners, shares, keys and their limits, and that nobody learns of what is not theirs."""

from __future__ import annotations

import json
import os
import stat
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.app.access import identity, users
from forge.app.access.identity import LOCAL, Who
from forge.app.access.local_access import Access
from forge.app.access.users import Keys, RateLimited, Rates
from forge.errors import Denied, ForgeError, NotFound
from forge.projects.workspace import Workspace
from forge.sessions.redaction import Redactor
from forge.settings import Settings
from forge.store.database import Database
from forge.store.events import Events
from forge.store.users import Users

SECRET = bytes(range(32))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Access]:
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    yield Access(Settings(), {}, database, Events(database), Redactor(["hunter2hunter2"]), SECRET)
    database.close()


def someone(shop: Access, name: str, scopes: frozenset[str] = users.USUAL_SCOPES) -> Who:
    user = users.add_user(shop, LOCAL, name)
    return Who(user.id, user.name, scopes)


def code(error: pytest.ExceptionInfo[ForgeError]) -> str:
    return error.value.code


@pytest.mark.req("X-06")
def test_a_scope_that_a_key_has_not_is_refused_by_name() -> None:
    reader = Who("u_1", "Ada", frozenset({"read"}))
    identity.require(reader, "read")
    for scope in ("write", "run", "admin"):
        identity.require(LOCAL, scope)
        with pytest.raises(Denied, match=scope) as caught:
            identity.require(reader, scope)
        assert code(caught) == "scope_missing"


@pytest.mark.req("X-06")
def test_what_is_somebody_elses_is_not_seen_until_it_is_shared(shop: Access) -> None:
    ada, bob = someone(shop, "Ada"), someone(shop, "Bob")
    identity.record_new(shop, ada, "project", "p1")
    assert identity.may_see(shop, ada, "project", "p1")
    assert not identity.may_see(shop, bob, "project", "p1")
    assert not identity.may_see(shop, ada, "repository", "p1")
    assert identity.may_see(shop, LOCAL, "project", "p1")
    identity.share(shop, ada, "project", "p1", "Bob")
    assert identity.may_see(shop, bob, "project", "p1")
    assert identity.visible(shop, bob, "project") == {"p1"}
    assert identity.shared_with(shop, ada, "project", "p1") == {bob.id: "read"}
    identity.unshare(shop, ada, "project", "p1", "Bob")
    assert not identity.may_see(shop, bob, "project", "p1")
    assert identity.visible(shop, bob, "project") == frozenset()
    assert identity.visible(shop, LOCAL, "project") is None


@pytest.mark.req("X-06")
def test_what_nobody_owns_is_the_local_persons_only(shop: Access) -> None:
    assert not identity.may_see(shop, someone(shop, "Ada"), "project", "made-at-the-machine")
    assert identity.may_see(shop, LOCAL, "project", "made-at-the-machine")


def test_what_is_shared_for_reading_is_not_written(shop: Access) -> None:
    ada, bob = someone(shop, "Ada"), someone(shop, "Bob")
    identity.record_new(shop, ada, "repository", "r1")
    identity.share(shop, ada, "repository", "r1", bob.id, right="read")
    identity.owned(shop, bob, "repository", "r1")
    with pytest.raises(Denied) as caught:
        identity.owned(shop, bob, "repository", "r1", "write")
    assert code(caught) == "shared_for_reading"
    identity.share(shop, ada, "repository", "r1", bob.id, right="write")
    identity.owned(shop, bob, "repository", "r1", "write")
    identity.owned(shop, ada, "repository", "r1", "run")


def test_only_the_owner_shares(shop: Access) -> None:
    ada, bob, eve = (someone(shop, name) for name in ("Ada", "Bob", "Eve"))
    identity.record_new(shop, ada, "project", "p1")
    identity.share(shop, ada, "project", "p1", "Bob", right="write")
    with pytest.raises(Denied) as caught:
        identity.share(shop, bob, "project", "p1", "Eve")
    assert code(caught) == "not_the_owner"
    with pytest.raises(NotFound) as missing:
        identity.share(shop, eve, "project", "p1", "Eve")
    assert code(missing) == "project_missing"
    with pytest.raises(NotFound) as unknown:
        identity.share(shop, ada, "project", "p1", "Nobody")
    assert code(unknown) == "user_unknown"
    identity.share(shop, LOCAL, "project", "p1", "Eve")
    assert identity.may_see(shop, eve, "project", "p1")


@pytest.mark.req("X-06", "C-10")
@pytest.mark.parametrize("kind", ["project", "repository"])
def test_not_yours_and_does_not_exist_are_the_same_error(shop: Access, kind: identity.Kind) -> None:
    ada, eve = someone(shop, "Ada"), someone(shop, "Eve")
    identity.record_new(shop, ada, kind, "aaaa")
    told = []
    for id_ in ("aaaa", "bbbb"):
        with pytest.raises(NotFound) as caught:
            identity.owned(shop, eve, kind, id_)
        error = caught.value
        told.append((type(error), error.code, error.message.replace(id_, "ID"), error.hint, vars(error).keys()))
    assert told[0] == told[1]


@pytest.mark.req("X-06")
def test_a_project_that_is_not_yours_ends_as_the_workspace_ends_for_one_that_is_not_there(
    shop: Access, tmp_path: Path
) -> None:
    with pytest.raises(NotFound) as there:
        Workspace(tmp_path / "w").open("20261116-abcd")
    error = identity.missing("project", "20261116-abcd")
    assert (type(error), error.message, error.hint) == (type(there.value), there.value.message, there.value.hint)


@pytest.mark.req("X-06")
def test_not_yours_takes_as_long_as_does_not_exist(shop: Access) -> None:
    ada, eve = someone(shop, "Ada"), someone(shop, "Eve")
    for n in range(20):
        identity.record_new(shop, ada, "project", f"p{n:04}")
    taken: dict[str, list[float]] = {"p0003": [], "q0003": []}
    for n in range(200):
        for id_ in taken if n % 2 else reversed(taken):
            begun = time.perf_counter()
            with pytest.raises(NotFound):
                identity.owned(shop, eve, "project", id_)
            taken[id_].append(time.perf_counter() - begun)
    theirs, nobodys = (statistics.median(each) for each in taken.values())
    # Half of a query: an early return, or a second query, would show.
    assert abs(theirs - nobodys) < 0.35 * max(theirs, nobodys)


@pytest.mark.req("X-06")
def test_the_audit_says_who_did_what_with_which_key_and_keeps_no_secret(shop: Access) -> None:
    ada = someone(shop, "Ada")
    with_key = Who(ada.id, ada.name, ada.scopes, "k_1")
    identity.record_new(shop, ada, "project", "p1")
    identity.audit(shop, with_key, "file.save", "repository:r1", "password is hunter2hunter2")
    identity.share(shop, with_key, "project", "p1", "Ada")
    deeds = identity.audited(shop, LOCAL)
    assert [(d.user, d.key, d.action, d.subject) for d in deeds] == [
        (ada.id, "k_1", "project.share", "project:p1"),
        (ada.id, "k_1", "file.save", "repository:r1"),
        ("local", None, "user.add", f"user:{ada.id}"),
    ]
    assert "hunter2" not in deeds[1].detail
    with pytest.raises(Denied):
        identity.audited(shop, ada)


@pytest.mark.parametrize(
    "name", ["", " ", "-x", "_x", "a\nb", "a<b>", "a/b", "x" * 65, "a\x00", "a\u202eb", "a "[::-1] * 40]
)
def test_a_name_that_would_mislead_is_refused(shop: Access, name: str) -> None:
    with pytest.raises(ForgeError) as caught:
        users.add_user(shop, LOCAL, name)
    assert code(caught) == "user_name_invalid"


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "name", ["u_0123456789abcdef", "U_0123456789ABCDEF", " u_0123456789abcdef ", "ｕ_0123456789abcdef"]
)
def test_a_name_that_looks_like_an_id_is_refused(shop: Access, name: str) -> None:
    with pytest.raises(ForgeError) as caught:
        users.add_user(shop, LOCAL, name)
    assert code(caught) == "user_name_invalid"


@pytest.mark.parametrize("name", ["Ada", "Ada Lovelace", "ada.l+x@example.org", "Ødegård", "O'Neil", "1st", "李"])
def test_a_name_of_a_person_is_taken(shop: Access, name: str) -> None:
    assert users.add_user(shop, LOCAL, name).name == name


def test_names_that_look_the_same_are_one_name(shop: Access) -> None:
    users.add_user(shop, LOCAL, "Ada")
    with pytest.raises(ForgeError) as caught:
        users.add_user(shop, LOCAL, "ＡＤＡ")
    assert code(caught) == "user_exists"


@pytest.mark.req("C-10", "X-06")
def test_a_key_is_long_and_nothing_of_it_but_its_beginning_is_kept(shop: Access) -> None:
    someone(shop, "Ada")
    made = users.new_key(shop, LOCAL, SECRET, "Ada", name="laptop", days=2)
    assert made.text.startswith("fk_")
    assert len(made.text) == 46
    assert made.key.prefix == made.text[:9]
    with shop.database.reading() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        kept = "\n".join(raw.iterdump())
    assert made.key.id in kept
    assert made.text not in kept
    assert made.text[9:] not in kept
    assert made.text not in json.dumps([str(deed) for deed in identity.audited(shop, LOCAL)])


@pytest.mark.req("C-10")
def test_a_key_says_whose_it_is_and_what_for_until_it_is_revoked(shop: Access) -> None:
    ada = someone(shop, "Ada")
    made = users.new_key(shop, LOCAL, SECRET, "Ada", scopes={"read", "run"})
    keys = Keys(shop.database, SECRET)
    assert keys.verify(made.text) == Who(ada.id, "Ada", frozenset({"read", "run"}), made.key.id)
    assert keys.holder(made.key.id) == keys.verify(made.text) == keys.remembered(made.text)
    users.revoke_key(shop, LOCAL, made.key.id)
    keys.forget()
    assert keys.remembered(made.text) is None
    assert keys.verify(made.text) is None
    assert keys.holder(made.key.id) is None


@pytest.mark.req("C-10")
def test_a_key_opens_nothing_once_it_expired_or_its_user_is_disabled(shop: Access) -> None:
    someone(shop, "Ada")
    clock = [time.time()]
    keys = Keys(shop.database, SECRET, now=lambda: clock[0])
    short = users.new_key(shop, LOCAL, SECRET, "Ada", days=1)
    long = users.new_key(shop, LOCAL, SECRET, "Ada")
    clock[0] += 86_395
    assert keys.verify(short.text) is not None
    clock[0] += 10
    assert keys.verify(short.text) is None
    assert keys.verify(long.text) is not None
    users.disable_user(shop, LOCAL, "Ada")
    clock[0] += 1.1
    assert keys.verify(long.text) is None


@pytest.mark.req("X-06")
def test_under_another_secret_a_key_is_worth_nothing(shop: Access) -> None:
    someone(shop, "Ada")
    made = users.new_key(shop, LOCAL, SECRET, "Ada")
    assert Keys(shop.database, bytes(32)).verify(made.text) is None


@pytest.mark.req("X-06")
@given(st.one_of(st.text(max_size=80), st.text("fk_abcXYZ019", max_size=60).map(lambda t: f"fk_{t}")))
def test_what_is_no_key_is_nobodys(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    class Untouched:
        """No database at all: what has not the form of a key is not even looked up."""

    keys = Keys(Untouched(), SECRET)  # type: ignore[arg-type]
    if len(text) != 46:
        assert keys.verify(text) is None
    assert keys.remembered(text) is None


@pytest.mark.parametrize(
    "change", [lambda t: t + "a", lambda t: t[:-1], lambda t: t[:-1] + "é", lambda t: t + "\n", str.upper]
)
def test_a_key_with_one_wrong_letter_is_nobodys(shop: Access, change: object) -> None:
    someone(shop, "Ada")
    text = users.new_key(shop, LOCAL, SECRET, "Ada").text
    keys = Keys(shop.database, SECRET)
    assert keys.verify(text) is not None
    assert keys.verify(change(text)) is None  # type: ignore[operator]


def test_only_who_administers_makes_keys_and_users_see_and_revoke_their_own(shop: Access) -> None:
    ada, bob = someone(shop, "Ada"), someone(shop, "Bob")
    for act in (
        lambda: users.new_key(shop, ada, SECRET, "Ada"),
        lambda: users.add_user(shop, ada, "Eve"),
        lambda: users.list_users(shop, ada),
        lambda: users.disable_user(shop, ada, "Bob"),
        lambda: users.list_keys(shop, ada, "Bob"),
    ):
        with pytest.raises(Denied) as caught:
            act()
        assert code(caught) == "scope_missing"
    hers, his = (users.new_key(shop, LOCAL, SECRET, name).key for name in ("Ada", "Bob"))
    assert users.list_keys(shop, ada, "Ada") == users.list_keys(shop, ada) == (hers,)
    assert users.list_keys(shop, LOCAL) == (hers, his)
    told = []
    for id_ in (his.id, "k_0000000000000000"):
        with pytest.raises(NotFound) as missing:
            users.revoke_key(shop, ada, id_)
        told.append((missing.value.code, missing.value.message.replace(id_, "ID"), missing.value.hint))
    assert told[0] == told[1]
    assert users.revoke_key(shop, ada, hers.id).revoked is not None
    assert users.list_keys(shop, bob)[0].revoked is None


@pytest.mark.parametrize(
    "options", [{"scopes": {"root"}}, {"scopes": ()}, {"days": 0}, {"days": -1}, {"days": float("nan")}, {"days": 1e9}]
)
def test_a_key_that_makes_no_sense_is_refused(shop: Access, options: dict[str, object]) -> None:
    someone(shop, "Ada")
    with pytest.raises(ForgeError) as caught:
        users.new_key(shop, LOCAL, SECRET, "Ada", **options)  # type: ignore[arg-type]
    assert code(caught) == "key_options_invalid"


def test_a_warm_key_is_recognised_in_far_less_than_a_millisecond(shop: Access) -> None:
    someone(shop, "Ada")
    text = users.new_key(shop, LOCAL, SECRET, "Ada").text
    keys = Keys(shop.database, SECRET, fresh=60)
    keys.verify(text)
    taken = []
    for _ in range(300):
        begun = time.perf_counter()
        keys.verify(text)
        taken.append(time.perf_counter() - begun)
    assert statistics.median(taken) < 0.001


@pytest.mark.req("X-06")
def test_what_a_key_is_called_holds_no_secret(shop: Access) -> None:
    token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    users.add_user(shop, LOCAL, "Ada")
    made = users.new_key(shop, LOCAL, shop.secret, "Ada", name=f"for {token}")
    assert made.key.name == "for [redacted:github-token]"
    assert token not in repr(users.list_keys(shop, LOCAL))


@pytest.mark.req("X-06")
def test_a_key_has_a_burst_and_then_a_rate_and_others_have_their_own() -> None:
    clock = [0.0]
    rates = Rates(per_second=2, burst=3, now=lambda: clock[0])
    for _ in range(3):
        rates.take("k_1")
    with pytest.raises(RateLimited) as caught:
        rates.take("k_1")
    assert caught.value.retry_after == pytest.approx(0.5)
    assert caught.value.headers == {"Retry-After": "1"}
    rates.take("k_2")
    clock[0] += 0.5
    rates.take("k_1")
    with pytest.raises(RateLimited):
        rates.take("k_1")
    clock[0] += 1000
    for _ in range(3):
        rates.take("k_1")
    with pytest.raises(RateLimited):
        rates.take("k_1")


def test_keys_that_came_long_ago_are_not_counted_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "_MOST_BUCKETS", 5)
    clock = [0.0]
    rates = Rates(per_second=1, burst=3, now=lambda: clock[0])
    for number in range(20):
        clock[0] += 1
        rates.take(f"k_{number}")
    assert len(rates._buckets) <= 5
    for _ in range(2):
        rates.take("k_19")
    with pytest.raises(RateLimited):
        rates.take("k_19")


@pytest.mark.req("X-06")
def test_the_secret_is_made_once_and_its_owners_only(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: identity.server_secret(tmp_path / "data"), range(8)))
    assert len(found) == 1
    assert len(found.pop()) == 32
    file = tmp_path / "data" / identity.SECRET_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "data") == [identity.SECRET_FILE]
    file.chmod(0o644)
    identity.server_secret(tmp_path / "data")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "abc", "00" * 31, "zz" * 32, "\xff" * 64])
def test_a_secret_that_is_none_is_named_and_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / identity.SECRET_FILE
    file.write_text(content)
    with pytest.raises(ForgeError, match="secret") as caught:
        identity.server_secret(tmp_path)
    assert code(caught) == "secret_unusable"
    assert content == "" or content not in str(caught.value)
    assert file.read_text() == content


def test_a_token_says_when_it_was_made_and_cannot_be_changed() -> None:
    token = identity.one_time_token(SECRET, now=1234.5)
    assert identity.token_issued(SECRET, token) == 1234.5
    assert identity.token_issued(bytes(32), token) is None
    for place in range(len(token)):
        changed = token[:place] + ("1" if token[place] != "1" else "2") + token[place + 1 :]
        assert identity.token_issued(SECRET, changed) is None


def test_users_outlive_their_keys(shop: Access) -> None:
    ada = someone(shop, "Ada")
    identity.record_new(shop, ada, "project", "p1")
    users.disable_user(shop, LOCAL, "Ada")
    found = Users(shop.database).find("Ada")
    assert found is not None
    assert identity.may_see(shop, ada, "project", "p1")
