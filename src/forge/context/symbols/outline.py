"""Walks the outermost levels of a syntax tree and collects what is defined there. Deeper levels are never entered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node, Parser, Point, Tree

from forge.context.symbols.grammars import GRAMMARS, Grammar, language

_MOST_CHILDREN = 3_000
_MOST_SYMBOLS = 80
_MOST_MEMBERS = 12
_DEEPEST = 6
_LONGEST_NAME = 60
_SECONDS = 0.5
"""Of processor time; the longest file that is read at all takes a tenth of a second."""
_CHUNK = 1024
_FUNCTIONS = ("def", "function", "func", "fn", "macro")
_VALUES = ("arrow_function", "function_expression", "function", "class", "generator_function")


@dataclass(slots=True)
class Symbol:
    word: str
    name: str
    members: list[str] = field(default_factory=list)
    inner: bool = False
    """Not meant for other files; shown after those that are."""


def symbols(source: bytes, name: str) -> list[Symbol]:
    """What `source` defines, in its order, joined by name: methods that stand apart go to their type."""
    grammar = GRAMMARS[name]
    tree = _parsed(source, name)
    if tree is None:
        return []
    found: dict[str, Symbol] = {}
    exporting = False
    for node, exported in _definitions(tree.root_node, grammar, 0, exported=False):
        exporting = exporting or exported
        symbol = _symbol(node, grammar, name)
        if symbol is None:
            continue
        symbol.inner = symbol.inner or (name in ("javascript", "typescript", "tsx") and not exported)
        known = found.get(symbol.name)
        if known is None:
            found[symbol.name] = symbol
        else:
            known.word = symbol.word if known.word in ("impl", "") and symbol.word else known.word
            known.inner = known.inner and symbol.inner
            known.members += [member for member in symbol.members if member not in known.members]
        if len(found) >= _MOST_SYMBOLS:
            break
    ordered = list(found.values())
    if name in ("javascript", "typescript", "tsx") and not exporting:
        return ordered
    return sorted(ordered, key=lambda symbol: symbol.inner)


def _parsed(source: bytes, name: str) -> Tree | None:
    """None for what takes too long. Input that is nothing but errors costs with the square of its length."""
    ends = time.thread_time() + _SECONDS
    stopped = False

    def read(start: int, _: Point) -> bytes:
        nonlocal stopped
        stopped = stopped or time.thread_time() > ends
        return b"" if stopped else source[start : start + _CHUNK]

    tree = Parser(language(name)).parse(read)
    return None if stopped else tree


def _children(node: Node) -> Iterator[Node]:
    """The first children, without making a list of what may be hundreds of thousands."""
    cursor = node.walk()
    more = cursor.goto_first_child()
    for _ in range(_MOST_CHILDREN):
        if not more:
            return
        child = cursor.node
        if child is not None and child.is_named:
            yield child
        more = cursor.goto_next_sibling()


def _first(node: Node) -> Node | None:
    return next(_children(node), None)


def _definitions(node: Node, grammar: Grammar, depth: int, *, exported: bool) -> Iterator[tuple[Node, bool]]:
    for child in _children(node):
        kind = child.type
        if kind in grammar.symbols:
            yield child, exported
        elif (kind in grammar.through or kind == "ERROR") and depth < _DEEPEST:
            yield from _definitions(child, grammar, depth + 1, exported=exported or kind == "export_statement")


def _symbol(node: Node, grammar: Grammar, language_name: str) -> Symbol | None:
    word = grammar.symbols[node.type]
    if language_name in ("c", "cpp"):
        return _c_symbol(node, grammar, word)
    if node.type == "method_declaration" and language_name == "go":
        return _go_method(node)
    if node.type == "impl_item":
        name = _type_name(node.child_by_field_name("type"))
    else:
        name = _text(node.child_by_field_name("name"))
    if not name or name[0] in "{[":  # a pattern such as `const {a, b} = …`
        return None
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        word = "function" if value is not None and value.type in _VALUES[:3] else word
        if value is not None and value.type == "call_expression" and (_text(value) or "").startswith("require"):
            return None
    members = [] if word in _FUNCTIONS else _members(node, grammar)
    return Symbol(word, name, members, inner=_is_inner(node, name, language_name))


def _members(node: Node, grammar: Grammar) -> list[str]:
    found: list[str] = []
    for body in _children(node):
        if body.type in grammar.bodies:
            _collect_members(body, grammar, found, 0)
    return found


def _collect_members(body: Node, grammar: Grammar, found: list[str], depth: int) -> None:
    for child in _children(body):
        if len(found) >= _MOST_MEMBERS:
            return
        if child.type in grammar.members:
            name = _text(child.child_by_field_name("name")) or _declared(child, functions_only=True)
            if (
                name
                and not name.startswith(("_", "#", "~", "operator"))
                and name not in found
                and name != "constructor"
            ):
                found.append(name)
        elif depth < 2 and (
            child.type in grammar.bodies or child.type in ("decorated_definition", "template_declaration")
        ):
            _collect_members(child, grammar, found, depth + 1)


def _is_inner(node: Node, name: str, language_name: str) -> bool:
    if language_name == "go":
        return not name[:1].isupper()
    if language_name == "rust":
        return node.type != "impl_item" and all(child.type != "visibility_modifier" for child in node.children[:3])
    return name.startswith("_")


def _go_method(node: Node) -> Symbol | None:
    receiver = node.child_by_field_name("receiver")
    given = _first(receiver) if receiver is not None else None
    owner = _type_name(given.child_by_field_name("type")) if given is not None else None
    name = _text(node.child_by_field_name("name"))
    if not name:
        return None
    if not owner:
        return Symbol("func", name, inner=not name[:1].isupper())
    return Symbol("", owner, [name] if name[:1].isupper() else [], inner=not owner[:1].isupper())


def _type_name(node: Node | None) -> str | None:
    """The bare name in `*A`, `A[T]`, `A<T>` or `a::A`."""
    for _ in range(_DEEPEST):
        if node is None:
            return None
        if node.type in ("type_identifier", "identifier"):
            return _text(node)
        node = node.child_by_field_name("type") or node.child_by_field_name("name") or _first(node)
    return None


def _c_symbol(node: Node, grammar: Grammar, word: str) -> Symbol | None:
    static = any(child.type == "storage_class_specifier" and child.text == b"static" for child in node.children[:3])
    match node.type:
        case "function_definition" | "declaration":
            name = _declared(node, functions_only=True)
            if name is None:
                return None
            owner, _, method = name.rpartition("::")
            if owner:
                return Symbol("", owner.rpartition("::")[2], [method])
            return Symbol("", f"{name}()", inner=static)
        case "type_definition":
            name = _declared(node, functions_only=False)
        case "preproc_function_def" | "alias_declaration":
            name = _text(node.child_by_field_name("name"))
        case _:
            if node.child_by_field_name("body") is None:
                return None
            name = _type_name(node.child_by_field_name("name"))
    return Symbol(word, name, _members(node, grammar)) if name else None


def _declared(node: Node, *, functions_only: bool) -> str | None:
    """The name inside the declarators of C: `int *(f)(int)` declares `f`."""
    function = not functions_only
    step = node.child_by_field_name("declarator")
    for _ in range(_DEEPEST):
        if step is None:
            return None
        if step.type == "function_declarator":
            function = True
        inner = step.child_by_field_name("declarator")
        if inner is None and step.type in ("parenthesized_declarator", "reference_declarator"):
            inner = _first(step)
        if inner is None:
            name = _text(step)
            return name if function and name and "(" not in name else None
        step = inner
    return None


def _text(node: Node | None) -> str | None:
    if node is None or node.text is None or len(node.text) > _LONGEST_NAME * 8:
        return None
    text = " ".join(node.text.decode("utf-8", "replace").split())
    return text[:_LONGEST_NAME] or None
