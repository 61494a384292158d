"""Open-source candidates: what an agent proposes, and what registries on the loopback tell about it."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.deliverables.code import CodeType, Registries, documents
from forge.deliverables.code.candidates import parsed
from forge.deliverables.code.facts import Facts, Unknown
from forge.deliverables.code.registry import look_up
from forge.deliverables.code.scorecard import scorecard
from forge.deliverables.code.tasks import spec_tasks
from forge.errors import InvalidInput
from forge.pipeline import specification
from forge.plugins.errors import AgentFailed
from forge.prompts import Prompts
from tests.deliverables.desks import ScriptedDesk

pytestmark = pytest.mark.req("P-05")
NOW = datetime(2025, 8, 31, 12, tzinfo=UTC)
Json = dict[str, Any]
Page = bytes | int | str | Json | list[Any]


def python_package(name: str = "tidycal", **info: Any) -> Json:
    files = lambda day: [{"upload_time_iso_8601": f"{day}T10:00:00.000000Z", "yanked": False, "packagetype": "sdist"}]  # noqa: E731
    return {
        "info": {
            "name": name,
            "version": "2.1.0",
            "license": "",
            "license_expression": None,
            "classifiers": ["License :: OSI Approved :: MIT License", "Programming Language :: Python :: 3"],
            "downloads": {"last_day": -1, "last_month": -1, "last_week": -1},
            "home_page": "",
            "project_urls": {
                "Funding": "https://code.example.org/sponsors/ada",
                "Documentation": "https://docs.example.org",
                "Source": "https://code.example.org/ada/tidycal/",
            },
            **info,
        },
        "last_serial": 1,
        "releases": {
            "0.1": files("2014-05-01"),
            "1.0.0rc1": files("2015-01-01"),
            "1.0.0": files("2016-02-03"),
            "1.5": [],
            "2.0.0": [{"upload_time_iso_8601": "2019-01-01T00:00:00Z", "yanked": True}],
            "2.1.0": files("2025-07-01"),
        },
        "urls": [],
        "ownership": {"roles": [{"role": "Owner", "user": "ada"}, {"role": "Maintainer", "user": "bob"}]},
    }


def npm_package(name: str = "tidy-cal", **more: Any) -> Json:
    return {
        "_id": name,
        "name": name,
        "dist-tags": {"latest": "1.2.0"},
        "versions": {"1.0.0": {}, "1.2.0": {"license": "MIT"}},
        "time": {
            "created": "2016-01-01T00:00:00.000Z",
            "modified": "2025-08-01T00:00:00.000Z",
            "1.0.0": "2016-02-01T00:00:00.000Z",
            "1.2.0": "2025-06-01T00:00:00.000Z",
            "0.9.0": "2010-06-01T00:00:00.000Z",
        },
        "maintainers": [{"name": "ada", "email": "ada@example.org"}],
        "repository": {"type": "git", "url": "git+https://code.example.org/ada/tidy-cal.git"},
        **more,
    }


REPOSITORY = {
    "full_name": "ada/tidycal",
    "stargazers_count": 4_321,
    "pushed_at": "2025-08-20T08:00:00Z",
    "open_issues_count": 900,
    "license": {"spdx_id": "MIT"},
}
COMMITS = [
    {"author": {"login": "ada", "type": "User"}, "commit": {"author": {"email": "ada@example.org"}}},
    {"author": {"login": "ada", "type": "User"}, "commit": {"author": {"email": "ada@work.example.org"}}},
    {"author": None, "commit": {"author": {"name": "Bob", "email": "bob@example.org"}}},
    {"author": {"login": "updates[bot]", "type": "Bot"}, "commit": {"author": {"email": "b@example.org"}}},
]


class Shelf:
    """Pages by path: JSON, bytes, a status, or where it has moved. A path in `hold` waits until the server closes."""

    def __init__(self, pages: dict[str, Page]) -> None:
        self.pages = pages
        self.hold: set[str] = set()
        self.closing = threading.Event()
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""


@contextmanager
def serving(pages: dict[str, Page], hold: set[str] = frozenset()) -> Iterator[Shelf]:  # type: ignore[assignment]
    shelf = Shelf(pages)
    shelf.hold = set(hold)

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            shelf.asked.append(self.path)
            shelf.headers.append({name.lower(): value for name, value in self.headers.items()})
            if parts.path in shelf.hold:
                shelf.closing.wait(20)
            query = parse_qs(parts.query).get("q", [""])[0]
            page = shelf.pages.get(f"{parts.path}?{query}" if query else parts.path, 404)
            body = b"" if isinstance(page, int) else page if isinstance(page, bytes) else json.dumps(page).encode()
            self.send_response(page if isinstance(page, int) else 301 if isinstance(page, str) else 200)
            if isinstance(page, str):
                self.send_header("location", page)
            if isinstance(page, bytes) and page[:2] == b"\x1f\x8b":
                self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the client had seen enough

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    shelf.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield shelf
    finally:
        shelf.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def everything(shelf: Shelf) -> Registries:
    return Registries(
        python=f"{shelf.url}/py/",
        npm=f"{shelf.url}/npm",
        python_downloads=f"{shelf.url}/pystats",
        npm_downloads=f"{shelf.url}/npmstats",
        code_host="https://code.example.org",
        code_host_api=f"{shelf.url}/api",
    )


PAGES: dict[str, Page] = {
    "/py/pypi/tidycal/json": python_package(),
    "/npm/tidy-cal": npm_package(),
    "/npm/@ada%2Ftidy": npm_package("@ada/tidy", repository="https://elsewhere.example.org/ada/tidy"),
    "/pystats/packages/tidycal/recent": {"data": {"last_day": 9, "last_month": 90_000, "last_week": 20_000}},
    "/npmstats/downloads/point/last-week/tidy-cal": {"downloads": 999, "package": "tidy-cal"},
    "/npmstats/downloads/point/last-week/@ada/tidy": {"downloads": 5_000},
    "/api/repos/ada/tidycal": REPOSITORY,
    "/api/repos/ada/tidycal/commits": COMMITS,
    "/api/search/issues?repo:ada/tidycal is:issue is:open": {"total_count": 10},
    "/api/search/issues?repo:ada/tidycal is:issue is:closed": {"total_count": 300},
}


def looked(registries: Registries, *names: tuple[str, str], **limits: Any) -> tuple[Facts, ...]:
    return asyncio.run(look_up(registries, names, now=NOW, **limits))  # type: ignore[arg-type]


def reason(value: object) -> str:
    assert isinstance(value, Unknown), value
    return value.reason


def test_a_python_package_is_known_from_its_registry_its_statistics_and_its_code_host() -> None:
    with serving(PAGES) as shelf:
        [facts] = looked(everything(shelf), ("tidycal", "python"))
        assert len(shelf.asked) == 6
    assert isinstance(facts.releases, tuple)
    assert [release.version for release in facts.releases] == ["0.1", "1.0.0rc1", "1.0.0", "2.1.0"]
    assert (facts.stars, facts.weekly_downloads, facts.licence) == (4_321, 20_000, "MIT License")
    assert (facts.open_issues, facts.closed_issues, facts.maintainers, facts.active) == (10, 300, 2, 2)
    assert facts.last_commit == datetime(2025, 8, 20, 8, tzinfo=UTC)
    card = scorecard(facts, now=NOW)
    assert [(f.verdict.value, f.figure) for f in card.findings] == [
        ("pass", "1.0.0 on 2016-02-03"),
        ("pass", "2025-08-20"),
        ("pass", "4,321"),
        ("pass", "20,000"),
        ("pass", "10 open, 300 closed"),
        ("pass", "MIT License"),
        ("pass", "2 active"),
        ("pass", "new major versions in 24 months: 1"),
    ]
    assert card.qualification == "qualified"


def test_an_npm_package_is_known_with_what_its_missing_pages_leave() -> None:
    with serving(PAGES) as shelf:
        plain, scoped = looked(everything(shelf), ("tidy-cal", "npm"), ("@ada/tidy", "npm"))
    assert isinstance(plain.releases, tuple)
    assert [release.version for release in plain.releases] == ["1.0.0", "1.2.0"]
    assert (plain.licence, plain.maintainers, plain.weekly_downloads) == ("MIT", 1, 999)
    assert reason(plain.stars) == "the code host has no such repository"
    assert reason(scoped.stars) == "no repository on the code host is named"
    assert scoped.weekly_downloads == 5_000
    card = scorecard(plain, now=NOW)
    assert card.qualification == "cannot tell"
    assert card.passed == 5


def test_what_is_not_configured_is_not_asked_and_unknown() -> None:
    with serving(PAGES) as shelf:
        python, npm = looked(Registries(python=f"{shelf.url}/py"), ("tidycal", "python"), ("tidy-cal", "npm"))
        assert shelf.asked == ["/py/pypi/tidycal/json"]
    assert reason(npm.licence) == "npm registry not configured"
    assert reason(python.stars) == "code host not configured"
    assert reason(python.weekly_downloads) == "download statistics not configured"
    assert python.licence == "MIT License"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (404, "Python registry knows no package of this name"),
        (500, "Python registry answered with HTTP 500"),
        (429, "Python registry refuses to answer (HTTP 429)"),
        (b'{"info": {"name": "tidycal"', "Python registry gave an answer that is not JSON"),
        (b"[" * 200_000, "Python registry gave an answer that is not JSON"),
        (b"<html>\xff</html>", "Python registry gave an answer that is not JSON"),
        (b"[1, 2]", "Python registry gave an answer that is not about this package"),
        (python_package("another"), "Python registry gave an answer that is not about this package"),
        (b" " * 3_000_000, "Python registry gave an answer of more than 1 MB"),
        (gzip.compress(b" " * 50_000_000), "Python registry gave an answer of more than 1 MB"),
    ],
)
def test_an_answer_that_is_no_use_is_unknown_with_its_reason(page: Page, expected: str) -> None:
    with serving({"/py/pypi/tidycal/json": page}) as shelf:
        [facts] = looked(Registries(python=f"{shelf.url}/py"), ("tidycal", "python"), largest=1024 * 1024)
    assert facts == Facts.unknown(expected)


def test_a_registry_that_does_not_answer_in_time_is_given_up_for_all() -> None:
    names = [(f"tidy{n}", "python") for n in range(6)]
    with serving({}, {f"/py/pypi/{name}/json" for name, _ in names}) as shelf:
        found = looked(Registries(python=f"{shelf.url}/py"), *names, total_seconds=0.3)
        assert len(shelf.asked) == 3
    assert {reason(facts.licence) for facts in found} == {"Python registry did not answer within 0.3 s"}


def test_a_registry_that_cannot_be_reached_is_asked_once_and_its_address_is_not_told() -> None:
    with serving({}) as shelf:
        address = shelf.url.replace("http://", "http://ada:secret@")
    for base in (address, "no-address", "http://[broken", "ftp://127.0.0.1"):
        [facts] = looked(Registries(python=base), ("tidycal", "python"))
        assert facts == Facts.unknown("Python registry not reachable")
    assert "secret" not in repr(Registries(python=address))


def test_a_code_host_that_refuses_the_search_still_tells_the_stars() -> None:
    pages = PAGES | {
        "/api/search/issues?repo:ada/tidycal is:issue is:open": 403,
        "/api/search/issues?repo:ada/tidycal is:issue is:closed": 403,
    }
    with serving(pages) as shelf:
        [facts] = looked(everything(shelf), ("tidycal", "python"))
    assert facts.stars == 4_321
    assert reason(facts.open_issues) == "code host's search refuses to answer (HTTP 403)"


def test_redirects_are_followed_a_few_times_only() -> None:
    moved = {"/py/pypi/tidycal/json": "/py/pypi/tidy-cal/json", "/py/pypi/endless/json": "/py/pypi/endless/json"}
    pages: dict[str, Page] = {**moved, "/py/pypi/tidy-cal/json": python_package()}
    with serving(pages) as shelf:
        found, endless = looked(Registries(python=f"{shelf.url}/py"), ("tidycal", "python"), ("endless", "python"))
        assert shelf.asked.count("/py/pypi/endless/json") == 4
    assert found.licence == "MIT License"
    assert endless == Facts.unknown("Python registry not reachable")


def test_the_limits_in_force_are_those_of_the_product() -> None:
    from forge.deliverables.code import registry_client  # noqa: PLC0415

    assert (registry_client.CONNECT_SECONDS, registry_client.TOTAL_SECONDS, registry_client.LARGEST) == (
        5,
        10,
        20 * 1024 * 1024,
    )


def test_addresses_come_from_the_environment_where_none_is_set() -> None:
    environ = {
        "PIP_INDEX_URL": "https://mirror.example.org/api/simple/",
        "npm_config_registry": "https://n.example.org",
    }
    found = Registries().or_environment(environ)
    assert (found.python, found.npm) == ("https://mirror.example.org/api", "https://n.example.org")
    kept = Registries(python="https://own.example.org").or_environment(environ)
    assert kept.python == "https://own.example.org"
    assert not Registries().or_environment({}).any


# Documents


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"license_expression": "MIT OR Apache-2.0", "license": "GPL"}, "MIT OR Apache-2.0"),
        ({"classifiers": ["License :: OSI Approved", "License :: OSI Approved :: ISC License (ISCL)"]}, "ISC License"),
        (
            {"classifiers": [f"License :: OSI Approved :: {name}" for name in ("MIT License", "GPLv3 (GPLv3)")]},
            "MIT License AND GPLv3",
        ),
        ({"classifiers": [], "license": "BSD"}, "BSD"),
        ({"classifiers": [], "license": "Permission is hereby granted\n" * 20}, None),
        ({"classifiers": None, "license": None}, None),
    ],
)
def test_the_most_exact_word_for_a_licence_counts(info: Json, expected: str | None) -> None:
    licence = documents.python_facts(python_package(**info)).licence
    assert licence == expected if expected else reason(licence) == "no licence is named"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"license": "MIT"}, "MIT"),
        ({"license": {"type": "ISC"}}, "ISC"),
        ({"licenses": [{"type": "MIT"}, {"type": "GPL-2.0"}]}, "MIT OR GPL-2.0"),
        ({"dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"license": "0BSD"}}}, "0BSD"),
    ],
)
def test_all_forms_of_an_npm_licence_are_read(document: Json, expected: str) -> None:
    assert documents.npm_facts(document).licence == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("https://code.example.org/ada/tidy", "ada/tidy"),
        ("https://www.code.example.org/ada/tidy/issues?q=1", "ada/tidy"),
        ("git+https://code.example.org/ada/tidy.git#main", "ada/tidy"),
        ("git+ssh://git@code.example.org/ada/tidy.git", "ada/tidy"),
        ("git@code.example.org:ada/tidy.js.git", "ada/tidy.js"),
        ("https://code.example.org/sponsors/ada", ""),
        ("https://code.example.org/ada", ""),
        ("https://code.example.org.evil.example/ada/tidy", ""),
        ("https://code.example.org/../etc/passwd", ""),
        ("http://[broken/ada/tidy", ""),
        ("", ""),
    ],
)
def test_a_repository_is_found_in_a_link_to_the_code_host_only(link: str, expected: str) -> None:
    assert documents.repository_of((link,), "https://code.example.org") == expected


KEYS = [
    *(
        "info",
        "name",
        "releases",
        "license",
        "licenses",
        "time",
        "versions",
        "maintainers",
        "ownership",
        "roles",
        "user",
    ),
    *(
        "project_urls",
        "1.0",
        "yanked",
        "upload_time",
        "classifiers",
        "dist-tags",
        "latest",
        "repository",
        "url",
        "data",
    ),
    *("last_week", "author", "commit", "login", "license_expression", "pushed_at", "stargazers_count", "downloads"),
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_document_breaks_the_reading(document: Any) -> None:
    for read in (documents.python_facts, documents.npm_facts):
        assert len(scorecard(read(document), now=NOW).findings) == 8
    links = documents.python_links(document) + documents.npm_links(document)
    documents.repository_of(links, "https://code.example.org")
    for number in (documents.weekly_python, documents.weekly_npm, documents.stars, documents.authors):
        value: Callable[[Any], int | Unknown] = number
        assert isinstance(value(document), int | Unknown)
    documents.pushed(document)
    documents.host_licence(document)


# What an agent proposes


def proposal(*names: str, ecosystem: str = "python", purpose: str = "Reads calendars.") -> str:
    return json.dumps({"candidates": [{"name": n, "ecosystem": ecosystem, "purpose": purpose} for n in names]})


async def discover(desk: ScriptedDesk, registries: Registries | None = None) -> Json:
    found = await CodeType(registries, now=lambda: NOW).discover(desk)
    assert json.loads(json.dumps(found)) == found
    return found


@pytest.mark.asyncio
async def test_candidates_come_with_eight_signals_and_a_table() -> None:
    desk = ScriptedDesk(intent="# Calendar", said=(proposal("tidycal", "made-up", purpose="Reads | calendars.\nAll."),))
    with serving(PAGES) as shelf:
        found = await discover(desk, everything(shelf))
    assert desk.asked == [("open-source", {"intent": "# Calendar", "constraints": "", "most": 6})]
    known, invented = found["candidates"]
    assert (known["name"], known["ecosystem"], known["qualified"]) == ("tidycal", "python", "qualified")
    assert known["signals"][0] == {
        "signal": "Age",
        "verdict": "pass",
        "figure": "1.0.0 on 2016-02-03",
        "reason": "not less than 6 months old",
    }
    assert invented["qualified"] == "cannot tell"
    assert {each["reason"] for each in invented["signals"]} == {"Python registry knows no package of this name"}
    rows = [line for line in found["table"].splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert {row.replace("\\|", "").count("|") for row in rows} == {12}
    assert "qualified: 8 of 8" in rows[2]
    assert "`tidycal` (python) | Reads \\| calendars. All." in rows[2]


@pytest.mark.asyncio
async def test_without_registries_everything_is_honestly_unknown() -> None:
    for registries in (None, Registries()):
        found = await discover(ScriptedDesk(said=(proposal("tidycal"),)), registries)
        [candidate] = found["candidates"]
        assert candidate["qualified"] == "cannot tell"
        assert {each["reason"] for each in candidate["signals"]} == {"no registry is configured"}


class BuiltinCannot(InvalidInput):
    code = "builtin_cannot"


class Broken(InvalidInput):
    code = "prompt_unusable"


@pytest.mark.asyncio
async def test_an_agent_that_cannot_answer_leaves_none_looked_at() -> None:
    for error in (AgentFailed("It failed 2 times."), BuiltinCannot("Rules cannot do this.")):
        found = await discover(ScriptedDesk(said=(error,)))
        assert found["candidates"] == []
        assert found["table"] == "None looked at."
    with pytest.raises(Broken):
        await discover(ScriptedDesk(said=(Broken("No such prompt."),)))


@pytest.mark.asyncio
async def test_an_empty_proposal_is_an_answer_and_asked_for_once() -> None:
    desk = ScriptedDesk(said=(proposal(),))
    assert await discover(desk) == {"candidates": [], "table": "None proposed."}
    assert len(desk.asked) == 1


@pytest.mark.asyncio
async def test_a_malformed_proposal_is_asked_for_once_more_and_then_none_is_taken() -> None:
    again = ScriptedDesk(said=("I like tidycal.", f"Sure:\n```json\n{proposal('tidycal')}\n```"))
    assert [each["name"] for each in (await discover(again))["candidates"]] == ["tidycal"]
    assert "JSON" in again.asked[1][1]["complaint"]
    never = ScriptedDesk(
        said=("no", '{"candidates": [{"name": "../../x", "ecosystem": "python"}]}', proposal("tidycal"))
    )
    found = await discover(never)
    assert found["candidates"] == []
    assert len(never.asked) == 2
    assert "None looked at" in found["table"]


@pytest.mark.parametrize("name", ["", "../x", "a b", "x==1.0", "@ada/tidy", "-x", "x/../../y", "x" * 200, "é"])
def test_what_cannot_be_the_name_of_a_python_package_is_refused(name: str) -> None:
    assert "name" in str(parsed(proposal(name)))


@pytest.mark.parametrize(("name", "fits"), [("@ada/tidy", True), ("tidy.js", True), ("..", False), ("@a/../b", False)])
def test_npm_names_may_have_a_scope(name: str, fits: bool) -> None:
    assert isinstance(parsed(proposal(name, ecosystem="npm")), tuple) is fits


def test_at_most_six_different_candidates_are_taken() -> None:
    found = parsed(proposal("a", "A", *"bcdefgh"))
    assert isinstance(found, tuple)
    assert [each.name for each in found] == ["a", "b", "c", "d", "e", "f"]


@given(st.text(max_size=80) | st.sampled_from(["{}", "null", "[]", "}{", '{"candidates": null}', "{" * 9_000]))
def test_no_answer_breaks_the_reading_of_proposals(answer: str) -> None:
    assert isinstance(parsed(answer), str) or parsed(answer) == ()


def test_the_prompt_shows_an_answer_that_can_be_read() -> None:
    text = Prompts().get("open-source")
    found = parsed(text[text.index('{"candidates"') :])
    assert isinstance(found, tuple)
    assert len(found) == 1


@pytest.mark.asyncio
async def test_the_table_stays_a_table_in_the_specification() -> None:
    found = await discover(ScriptedDesk(said=(proposal("tidycal", purpose="# No heading"),)))
    answer = specification.Answer.model_validate(
        {
            "spec": {
                "overview": "A tool.",
                "structure": {"architecture": "One.", "language": "Python", "tasks": [{"title": "Write it"}]},
            },
            "constraints": {"context": "A tool.", "criteria": list("abcde")},
        }
    )
    spec = specification.render_spec("Tool", answer, "code", candidates=found["table"])
    assert found["table"] in spec
    assert [task.id for task in spec_tasks(spec)] == ["write-it"]
