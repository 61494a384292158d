"""A product as rules find it in a project's own words: features, things that are kept, what is done with them.

Nothing is invented: what nobody said is assumed in the simplest form, and each assumption is listed as left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from forge.contracts.languages import languages_in
from forge.contracts.material import Material
from forge.projects.intent import items, one_line, under

_LIST, _CREATE, _UPDATE, _DELETE = "list", "create", "update", "delete"
_VERBS = {
    _LIST: "list show see view browse search filter find read look sort export print track count",
    _CREATE: "create add write post record register upload enter book submit plan log save store send schedule order",
    _UPDATE: "edit change update rename move assign finish close complete mark approve cancel set confirm rate",
    _DELETE: "delete remove discard",
}
_ACTION = {verb: action for action, verbs in _VERBS.items() for verb in verbs.split()}
_SKIPPED = frozenset(
    """
    a an the their his her its your our my own each every all any some one two three many more most new old other
    existing and or with without for of in to by single several different open overdue daily weekly monthly
    personal shared simple small large public private recent upcoming current
    """.split()  # noqa: SIM905 - a list of words reads as words
)
_NO_THING = frozenset(
    """
    it them this that what who which where when how they we you i he she everything something anything nothing app
    application system service tool site website page screen way time day week month year number list data information
    thing people user name state status text title date order search result view change be is are was were can must
    should will not only also then than from at on if so as but up out down off over pages test tests code api
    project release team product work
    """.split()  # noqa: SIM905
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_MOST_ENTITIES, _MOST_FEATURES = 12, 40
_TESTS = {
    "Python": "python -m pytest -q",
    "TypeScript": "npm test",
    "JavaScript": "npm test",
    "Go": "go test ./...",
    "Rust": "cargo test",
    "Java": "mvn -q test",
    "Kotlin": "gradle test",
    "C#": "dotnet test",
    "Ruby": "bundle exec rake test",
    "PHP": "vendor/bin/phpunit",
    "Elixir": "mix test",
}


@dataclass(frozen=True, slots=True)
class Named:
    """A feature or a page: a short name and what it is."""

    id: str
    name: str
    text: str

    @property
    def line(self) -> str:
        return f"{self.name} — {self.text}" if self.text else self.name


@dataclass(frozen=True, slots=True)
class Entity:
    name: str
    fields: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """What people do with it, of list, create, update and delete."""

    @property
    def plural(self) -> str:
        return plural(self.name)


@dataclass(frozen=True, slots=True)
class Product:
    name: str
    summary: str
    problem: str
    users: tuple[str, ...]
    features: tuple[Named, ...]
    entities: tuple[Entity, ...]
    pages: tuple[Named, ...]
    tasks: tuple[str, ...]
    criteria: tuple[str, ...]
    constraints: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    languages: tuple[str, ...]
    frameworks: str
    hosting: str
    test_command: str
    style: str
    scale: str
    sensitive: str
    risks: tuple[str, ...] = field(default=())
    open: tuple[str, ...] = field(default=())
    """What nobody said, each with what is assumed instead."""


def product(material: Material) -> Product:
    given = {each.question.id: each for each in material.answered()}
    told, open_ = {id_: each.text for id_, each in given.items()}, list(_open_points(material))

    def assumed(id_: str, instead: str, sentence: str) -> str:
        if not told[id_]:
            open_.append(sentence)
        return told[id_] or instead

    features = tuple(_named("F", given["features"].items[:_MOST_FEATURES]))
    if not features:
        features = (Named("F1", material.name, one_line(told["product"])),)
        open_.append("No feature is named; the product as a whole stands for one.")
    tasks = tuple(
        re.sub(r"(?:\s*\(tests\))+$", "", t) for t in items(under(material.documents.get("spec", ""), "tasks"))
    )
    said = [*given["stories"].items, *given["features"].items, *tasks, told["product"], told["problem"]]
    entities = _entities(given["entities"].items, said)
    if not entities:
        open_.append("Nothing is named that is stored; one record per person is assumed.")
        entities = (Entity("Record", ("title",), (_LIST, _CREATE)),)
    elif not told["entities"]:
        open_.append("Fields of what is stored are not named; only id, name and time are assumed.")
    languages = tuple(sorted(languages_in(assumed("languages", "Python", "No language is named; Python is assumed."))))
    pages = tuple(_named("P", given["pages"].items)) or _pages(entities)
    if not told["pages"]:
        open_.append("No page is named; one page for each thing that is stored is assumed.")
    main = languages[0] if languages else "Python"
    return Product(
        name=material.name,
        summary=assumed("product", f"{material.name}.", "What is built is not said in a sentence."),
        problem=told["problem"],
        users=given["users"].items or ("Person: uses all features",),
        features=features,
        entities=entities,
        pages=pages,
        tasks=tasks,
        criteria=given["success"].items,
        constraints=given["constraints"].items,
        out_of_scope=given["out_of_scope"].items,
        languages=languages or ("Python",),
        frameworks=told["frameworks"],
        hosting=assumed("hosting", "One process and one relational database.", "Where it runs is not said."),
        test_command=_command(assumed("test_command", _TESTS.get(main, "make test"), "No test command is named.")),
        style=told["style"],
        scale=assumed("scale", "", "How many people use it, and how fast it has to be, is not said."),
        sensitive=told["sensitive"],
        risks=material.risks,
        open=tuple(dict.fromkeys(open_ if told["users"] else [*open_, "Who uses it is not said."])),
    )


def plural(word: str) -> str:
    lower = word.casefold()
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if lower.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def words_of(text: str) -> frozenset[str]:
    """For telling what belongs together: singular, without small words."""
    found = (singular(each.casefold()) for each in _WORD.findall(text))
    return frozenset(each for each in found if len(each) > 2 and each not in _SKIPPED and each not in _NO_THING)


def _command(text: str) -> str:
    return one_line(text).replace("`", "") or "make test"


def _open_points(material: Material) -> Iterator[str]:
    for heading in ("open questions", "unknowns"):
        for each in items(under(material.documents.get("intent", ""), heading)):
            if each not in material.documents.get("spec", ""):
                yield each


def _named(letter: str, lines: Sequence[str]) -> Iterator[Named]:
    for number, line in enumerate(lines, 1):
        name, dash, text = line.partition(" — ") if " — " in line else line.partition(": ")
        short = name if dash and len(name) <= 60 else _short(line)
        about = text if dash and len(name) <= 60 else (line if short != line else "")
        yield Named(f"{letter}{number}", short.strip(" .*`#-"), one_line(about))


def _short(line: str) -> str:
    words = line.split()
    return line if len(words) <= 6 else " ".join(words[:6])


def _entities(named: Sequence[str], said: Sequence[str]) -> tuple[Entity, ...]:
    """Those that a person listed; else whatever is created, changed, listed or deleted in their sentences."""
    fields: dict[str, tuple[str, ...]] = {}
    for line in named:
        name, _, rest = line.partition(":")
        if clean := _class_name(name):
            fields[clean] = tuple(_field(each) for each in rest.split(",") if _field(each))
    actions: dict[str, list[str]] = {}
    for sentence in said:
        for action, thing in _done_with(sentence):
            name = _class_name(thing)
            if name in fields or (not named and name):
                actions.setdefault(name, []).append(action)
    kept = fields or {name: () for name, done in actions.items() if _CREATE in done or len(set(done)) > 1}
    found = kept or dict.fromkeys(actions, ())
    usual = (_LIST, _CREATE)
    return tuple(
        Entity(name, fields.get(name, ()), _ordered(actions.get(name, ())) or usual)
        for name in list(found)[:_MOST_ENTITIES]
    )


def _ordered(done: Sequence[str]) -> tuple[str, ...]:
    """What is created can be listed, and what is changed or deleted was listed before."""
    wanted = {*done, _LIST} if done else set()
    return tuple(each for each in _VERBS if each in wanted)


def _done_with(sentence: str) -> Iterator[tuple[str, str]]:
    """Each verb that the rules know, with the thing that follows it."""
    words = [each.casefold() for each in _WORD.findall(sentence)]
    waiting: list[str] = []
    for word in words:
        action = _ACTION.get(word) or _ACTION.get(singular(word) if word.endswith("s") else "")
        if action and not (waiting and singular(word) != word and word not in _ACTION):
            waiting.append(action)
        elif waiting and word not in _SKIPPED:
            thing = singular(word)
            if thing not in _NO_THING and len(thing) > 2:
                yield from ((each, thing) for each in waiting)
            waiting = []


def _class_name(words: str) -> str:
    found = [each for each in re.findall(r"[A-Za-z0-9]+", words) if each]
    if not found or not found[0][0].isalpha():
        return ""
    return "".join(each[0].upper() + each[1:] for each in (*found[:-1], singular(found[-1])))[:60]


def _field(text: str) -> str:
    clean = "_".join(re.findall(r"[a-z0-9]+", text.casefold()))
    return clean if clean and clean[0].isalpha() else ""


def _pages(entities: Sequence[Entity]) -> tuple[Named, ...]:
    return tuple(
        Named(f"P{number}", each.plural, f"a list of {each.plural.casefold()} and a form for one of them")
        for number, each in enumerate(entities, 1)
    )
