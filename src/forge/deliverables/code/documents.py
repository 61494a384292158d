"""What registries and code hosts tell about a component, read from their JSON whatever shape it really has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from forge.deliverables.code.facts import Facts, Release, Unknown

JsonObject = Mapping[str, Any]
_LONGEST_NAME, _LONGEST_FREE = 200, 60
_CLASSIFIER = "License :: "
_SOURCE = re.compile(r"source|repositor|code|\bgit", re.IGNORECASE)
_HOME = re.compile(r"home", re.IGNORECASE)
_MONEY = re.compile(r"fund|sponsor|donat", re.IGNORECASE)
_MIGRATION = re.compile(r"migrat|upgrad", re.IGNORECASE)
_REPOSITORY = re.compile(r"/(?P<owner>[\w-][\w.-]*)/(?P<name>[\w-][\w.-]*?)(?:\.git)?(?:[/#?].*)?")
_SSH = re.compile(r"(?:[\w.-]+@)(?P<host>[\w.-]+):(?!\d+/)(?P<path>.+)")
_NOT_OWNERS = frozenset({"sponsors", "orgs", "users", "apps", "topics"})
_YEARS = range(1970, 9000)
NO_LICENCE = Unknown("no licence is named")


def same_name(one: object, other: str) -> bool:
    return isinstance(one, str) and _plain(one) == _plain(other)


def python_name(document: Any) -> Any:
    return _object(_object(document).get("info")).get("name")


def npm_name(document: Any) -> Any:
    return _object(document).get("name")


def python_facts(document: Any) -> Facts:
    """From a Python package index."""
    document = _object(document)
    info = _object(document.get("info"))
    published = ((version, _files_time(files)) for version, files in _object(document.get("releases")).items())
    roles = [_object(role).get("user") for role in _list(_object(document.get("ownership")).get("roles"))]
    people = {user for user in roles if isinstance(user, str) and user}
    weekly = _object(info.get("downloads")).get("last_week")
    return Facts(
        releases=tuple(Release(version, when) for version, when in published if when),
        weekly_downloads=_count(weekly, "the registry tells no downloads"),
        licence=_python_licence(info),
        maintainers=len(people) or Unknown("the registry names no maintainers"),
        migration_guide=any(_MIGRATION.search(label) for label in _object(info.get("project_urls"))),
    )


def npm_facts(document: Any) -> Facts:
    """From an npm registry."""
    document = _object(document)
    versions = _object(document.get("versions"))
    times = ((version, _moment(when)) for version, when in _object(document.get("time")).items() if version in versions)
    people = [person for person in _list(document.get("maintainers")) if isinstance(person, str | dict) and person]
    latest = _object(versions.get(_text(_object(document.get("dist-tags")).get("latest"))))
    return Facts(
        releases=tuple(Release(version, when) for version, when in times if when),
        licence=_npm_licence(document) or _npm_licence(latest) or NO_LICENCE,
        maintainers=len(people) or Unknown("the registry names no maintainers"),
    )


def python_links(document: Any) -> tuple[str, ...]:
    """Addresses of the project, those that name its source first."""
    info = _object(_object(document).get("info"))
    links = [(label, _text(link)) for label, link in _object(info.get("project_urls")).items()]
    links.append(("home", _text(info.get("home_page"))))
    fitting = [(label, link) for label, link in links if link and not _MONEY.search(label)]
    return tuple(link for _, link in sorted(fitting, key=lambda pair: _rank(pair[0])))


def npm_links(document: Any) -> tuple[str, ...]:
    document = _object(document)
    repository, bugs = document.get("repository"), document.get("bugs")
    named = (_object(repository).get("url"), repository, document.get("homepage"), _object(bugs).get("url"))
    return tuple(link for each in named if (link := _text(each)))


def repository_of(links: tuple[str, ...], code_host: str) -> str:
    """`owner/name` of the first link that leads to a repository on the code host; empty if none does."""
    home, below = _place(code_host.rstrip("/"))
    for link in links:
        host, path = _place(link)
        if home and host == home and path.startswith(below):
            found = _REPOSITORY.fullmatch(path.removeprefix(below).rstrip("/"))
            if found and found["owner"].lower() not in _NOT_OWNERS:
                return f"{found['owner']}/{found['name']}"
    return ""


def weekly_python(document: Any) -> int | Unknown:
    return _count(_object(_object(document).get("data")).get("last_week"), "the statistics tell no downloads")


def weekly_npm(document: Any) -> int | Unknown:
    return _count(_object(document).get("downloads"), "the statistics tell no downloads")


def stars(document: Any) -> int | Unknown:
    return _count(_object(document).get("stargazers_count"), "the code host tells no stars")


def found_issues(document: Any) -> int | Unknown:
    """How many a search found."""
    return _count(_object(document).get("total_count"), "the code host tells no number of issues")


def pushed(document: Any) -> datetime | Unknown:
    return _moment(_object(document).get("pushed_at")) or Unknown("the code host tells no date")


def host_licence(document: Any) -> str:
    """The code host's word for the licence; empty where it recognised none."""
    name = _text(_object(_object(document).get("license")).get("spdx_id"))
    return "" if name == "NOASSERTION" else _short(name)


def authors(document: Any) -> int | Unknown:
    """How many people, programs left out, made the commits of a list."""
    if not isinstance(document, list):
        return Unknown("the code host tells no commits")
    return len({who for commit in document if (who := _author(_object(commit)))})


def _author(commit: JsonObject) -> str:
    account = _object(commit.get("author"))
    login = _text(account.get("login"))
    if account.get("type") == "Bot" or login.endswith("[bot]"):
        return ""
    signed = _object(_object(commit.get("commit")).get("author"))
    return login or _text(signed.get("email")) or _text(signed.get("name"))


def _python_licence(info: JsonObject) -> str | Unknown:
    """The expression is exact, a classifier nearly; the free text is often a whole licence."""
    expression = _short(_text(info.get("license_expression")))
    classes = [_text(each) for each in _list(info.get("classifiers"))]
    named = [each.rpartition(" :: ")[2].partition(" (")[0] for each in classes if each.startswith(_CLASSIFIER)]
    named = [name for name in dict.fromkeys(named) if name != "OSI Approved"]
    free = _text(info.get("license"))
    written = free if len(free) <= _LONGEST_FREE and "\n" not in free else ""
    # Several classifiers do not say whether one may choose: none of them may be left out.
    return expression or _short(" AND ".join(named)) or _short(written) or NO_LICENCE


def _npm_licence(document: JsonObject) -> str:
    licence = document.get("license")
    several = [_text(_object(each).get("type")) or _text(each) for each in _list(document.get("licenses"))]
    return _short(_text(licence) or _text(_object(licence).get("type")) or " OR ".join(filter(None, several)))


def _files_time(files: Any) -> datetime | None:
    """When the first file of a release came; none that was withdrawn counts."""
    kept = [entry for each in _list(files) if (entry := _object(each)) and entry.get("yanked") is not True]
    times = (_moment(entry.get("upload_time_iso_8601") or entry.get("upload_time")) for entry in kept)
    return min((when for when in times if when), default=None)


def _place(link: str) -> tuple[str, str]:
    ssh = _SSH.fullmatch(link)
    if ssh and "://" not in link:
        return _bare_host(ssh["host"]), f"/{ssh['path']}"
    try:
        parts = urlsplit(link.removeprefix("git+"))
    except ValueError:
        return "", ""
    return _bare_host(parts.netloc), parts.path


def _bare_host(netloc: str) -> str:
    return netloc.rpartition("@")[2].lower().removeprefix("www.")


def _rank(label: str) -> int:
    return 0 if _SOURCE.search(label) else 1 if _HOME.search(label) else 2


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(value))
    except ValueError:
        return None
    if moment.year not in _YEARS:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _count(value: Any, otherwise: str) -> int | Unknown:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else Unknown(otherwise)


def _short(text: str) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Iterator[Any]:
    return iter(value if isinstance(value, list) else ())


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
