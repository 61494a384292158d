"""The nine contracts as rules write them: the words of the person, named things and tasks, and what was left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forge.builtin_rules.phase_plan import plan
from forge.builtin_rules.prior_names import operations_in, order_in
from forge.builtin_rules.product import Entity, Product
from forge.contracts import contract, directive, markdown
from forge.contracts.directive import Directive
from forge.contracts.kinds import Kind
from forge.contracts.markdown import Document, Section

_SUFFIX = {"Python": "py", "TypeScript": "ts", "JavaScript": "js", "Go": "go", "Rust": "rs", "Java": "java"}
_SUFFIXES = {**_SUFFIX, "Kotlin": "kt", "C#": "cs", "Ruby": "rb", "PHP": "php", "Elixir": "ex", "Swift": "swift"}
_CLIENT = ("TypeScript", "JavaScript", "Dart")
_METHOD = {"list": "get", "create": "post", "update": "patch", "delete": "delete"}
_NONE = "- Nothing was named."


def written(kind: Kind, known: Product, prior: Mapping[Kind, str], *, mini: bool = False) -> str:
    """The text of one contract, with the names that the contracts before it have."""
    if kind is Kind.PHASES:
        return contract.format(kind, plan(known, operations_in(prior) or endpoints(known), mini=mini))
    if kind is Kind.BUILDER_DIRECTIVE:
        return _directive(known, order_in(prior) or tuple(range(len(plan(known, endpoints(known), mini=mini).phases))))
    return _WRITERS[kind](known)


def endpoints(known: Product) -> Mapping[str, tuple[str, ...]]:
    """Operation ids by entity."""
    return {each.name: tuple(_operation(action, each) for action in each.actions) for each in known.entities}


def _operation(action: str, entity: Entity) -> str:
    return f"{action}{entity.plural if action == 'list' else entity.name}"


def _manifesto(known: Product) -> str:
    principles = [*known.constraints]
    if known.sensitive:
        principles.append(f"Personal and secret data: {known.sensitive}")
    sections = [Section("Purpose", known.summary), Section("Principles", _bullets(principles) or _NONE)]
    if known.criteria:
        sections.append(Section("Signs of success", _bullets(known.criteria)))
    return _document(f"{known.name} manifesto", sections, known.open)


def _blueprint(known: Product) -> str:
    features = "\n".join(f"- {each.id}: {each.line}" for each in known.features)
    things = ", ".join(each.plural.casefold() for each in known.entities)
    sections = [
        Section("Intent", known.summary if not known.problem else f"{known.summary}\n\n{known.problem}"),
        Section("Users", _bullets(known.users)),
        Section("Features", features),
        Section("Architecture", f"One service that keeps {things}. {known.hosting}"),
    ]
    if known.out_of_scope:
        sections.append(Section("Out of scope", _bullets(known.out_of_scope)))
    if known.scale:
        sections.append(Section("Scale", known.scale))
    if known.risks:
        sections.append(Section("Risks", f"Nobody has validated these yet:\n\n{_bullets(known.risks)}"))
    return _document(f"{known.name} blueprint", sections, known.open)


def _stack(known: Product) -> str:
    frameworks = known.frameworks or "No framework is named; the standard library is assumed."
    client = [each for each in known.languages if each in _CLIENT]
    sections = [
        Section("Languages", _bullets(known.languages)),
        Section("Backend", frameworks),
        Section("Frontend", f"Pages in {client[0]}." if client else "Pages are rendered by the service."),
        Section("Infrastructure", known.hosting),
        Section("Development tools", f"- Tests: {known.test_command}"),
    ]
    return _document(f"{known.name} stack", sections, known.open)


def _schema(known: Product) -> str:
    tables = "\n\n".join(f"### {each.name}\n\n{_table(each)}" for each in known.entities)
    relations = [
        f"- A {each.name} has a {other.name}."
        for each in known.entities
        for other in known.entities
        if other is not each and any(name.startswith(other.name.casefold()) for name in each.fields)
    ]
    sections = [Section("Entities", tables), Section("Relations", "\n".join(relations) or _NONE)]
    return _document(f"{known.name} schema", sections, known.open)


def _table(entity: Entity) -> str:
    rows = ["| field | type | rules |", "|---|---|---|", "| id | uuid | primary key |"]
    rows += [f"| {name} | {_type(name)} | |" for name in entity.fields if name != "id"]
    if not entity.fields:
        rows.append("| name | text | 1 to 200 characters, assumed |")
    return "\n".join([*rows, "| created_at | timestamp | UTC |"])


def _type(name: str) -> str:
    if name.endswith(("_at", "_time", "_on")) or "date" in name:
        return "timestamp"
    return "integer" if name.startswith(("number_", "count")) or name.endswith(("_count", "amount", "age")) else "text"


def _physics(known: Product) -> str:
    paths: dict[str, Any] = {}
    shapes: dict[str, Any] = {}
    for each in known.entities:
        base = f"/{each.plural.casefold()}"
        shapes[each.name] = _shape(each)
        for action in each.actions:
            path = base if action in ("list", "create") else f"{base}/{{id}}"
            paths.setdefault(path, {})[_METHOD[action]] = _described(action, each)
    value = {
        "openapi": "3.1.0",
        "info": {"title": known.name, "version": "1.0.0", "description": _physics_note(known)},
        "paths": paths,
        "components": {"schemas": shapes},
    }
    return contract.format(Kind.PHYSICS, value)


def _physics_note(known: Product) -> str:
    names = ", ".join(each.name for each in known.entities)
    return f"Made by rules from what is named: {names}. Sign-in and limits are left open."


def _shape(entity: Entity) -> dict[str, Any]:
    fields = entity.fields or ("name",)
    properties = {"id": {"type": "string"}} | {name: {"type": "string"} for name in fields if name != "id"}
    return {"type": "object", "required": ["id"], "properties": properties}


def _described(action: str, entity: Entity) -> dict[str, Any]:
    one: dict[str, Any] = {"$ref": f"#/components/schemas/{entity.name}"}
    sent = {"requestBody": {"content": {"application/json": {"schema": one}}}}
    answered = {"application/json": {"schema": {"type": "array", "items": one} if action == "list" else one}}
    code = {"list": "200", "create": "201", "update": "200", "delete": "204"}[action]
    summary = f"{action.capitalize()} {entity.plural.casefold() if action == 'list' else entity.name.casefold()}"
    response: dict[str, Any] = {"description": summary}
    if action != "delete":
        response["content"] = answered
    found: dict[str, Any] = {"operationId": _operation(action, entity), "summary": summary}
    if action in ("update", "delete"):
        found["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    if action in ("create", "update"):
        found |= sent
    return found | {"responses": {code: response}}


def _boundaries(known: Product) -> str:
    server = next((each for each in known.languages if each not in _CLIENT), known.languages[0])
    suffix = _SUFFIXES.get(server, "py")
    layers = [{"name": name, "paths": [f"server/{name}/**/*.{suffix}"]} for name in ("routers", "services", "repos")]
    client = next((each for each in known.languages if each in _CLIENT and each != server), None)
    if client is not None:
        layers.append({"name": "client", "paths": [f"client/**/*.{_SUFFIXES.get(client, 'dart')}"]})
    value = {
        "layers": layers,
        "allowed": [{"from": "routers", "to": "services"}, {"from": "services", "to": "repos"}],
        "forbidden": [],
        "invariants": list(known.constraints[:20]) or ["Only repos read and write what is stored."],
    }
    return contract.format(Kind.BOUNDARIES, value)


def _ui(known: Product) -> str:
    sections = [
        Section(
            "Design system", known.style or "Nothing is said about looks; the defaults of the browser are assumed."
        ),
        Section("Pages", "\n".join(f"- {each.id}: {each.line}" for each in known.pages)),
        Section("Components", "- A list, a form and a message for errors, on every page."),
    ]
    return _document(f"{known.name} interface", sections, known.open)


def _directive(known: Product, order: tuple[int, ...]) -> str:
    limits = (("turns_per_phase", 40.0), ("minutes_per_phase", 60.0), ("fix_attempts", 3.0), ("cost_usd", 20.0))
    rules = Section(
        "Rules", "- Change only what a deliverable of the phase needs.\n- Stop and ask where contracts differ."
    )
    open_ = (Section("Left open", _bullets(known.open)),) if known.open else ()
    title = f"{known.name} builder directive"
    return directive.format(Directive(title, order, known.test_command, limits, (rules, *open_)))


_WRITERS: Mapping[Kind, Callable[[Product], str]] = {
    Kind.MANIFESTO: _manifesto,
    Kind.BLUEPRINT: _blueprint,
    Kind.STACK: _stack,
    Kind.SCHEMA: _schema,
    Kind.PHYSICS: _physics,
    Kind.BOUNDARIES: _boundaries,
    Kind.UI: _ui,
}


def _document(title: str, sections: Sequence[Section], open_: Sequence[str]) -> str:
    left = (Section("Left open", _bullets(open_)),) if open_ else ()
    return markdown.format(Document(title, "", (*sections, *left)))


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {each}" for each in lines)
