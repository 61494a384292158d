"""Which nodes of each grammar are symbols, what they are called in a summary, and what may be looked through."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Language


@dataclass(frozen=True, slots=True)
class Grammar:
    module: str
    symbols: Mapping[str, str]
    """Word by node type; the name is the node's field `name` unless `outline` knows better."""
    members: frozenset[str] = frozenset()
    """Nodes that count as members when directly in the body of a symbol."""
    through: frozenset[str] = frozenset()
    """Nodes whose children count as if they stood outside."""
    bodies: frozenset[str] = frozenset()
    entry: str = field(default="language")


_SCRIPT_SYMBOLS = {
    "class_declaration": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "variable_declarator": "const",
}
_SCRIPT_THROUGH = frozenset({"export_statement", "lexical_declaration", "variable_declaration"})
_TYPED_SYMBOLS = _SCRIPT_SYMBOLS | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "function_signature": "function",
    "module": "module",
    "internal_module": "namespace",
}
_TYPED_THROUGH = _SCRIPT_THROUGH | {"ambient_declaration", "expression_statement"}
_TYPED_MEMBERS = frozenset(
    {
        "method_definition",
        "abstract_method_signature",
        "method_signature",
        "property_signature",
        "public_field_definition",
    }
)
_TYPED_BODIES = frozenset({"class_body", "interface_body", "object_type"})
_C_THROUGH = frozenset(
    {"preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "linkage_specification", "declaration_list"}
)
_C_SYMBOLS = {
    "function_definition": "",
    "declaration": "",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "typedef",
    "preproc_function_def": "macro",
}

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        {"class_definition": "class", "function_definition": "def"},
        members=frozenset({"function_definition"}),
        through=frozenset({"decorated_definition", "if_statement", "block", "try_statement", "else_clause"}),
        bodies=frozenset({"block"}),
    ),
    "javascript": Grammar(
        "tree_sitter_javascript",
        _SCRIPT_SYMBOLS,
        members=frozenset({"method_definition"}),
        through=_SCRIPT_THROUGH,
        bodies=frozenset({"class_body"}),
    ),
    "typescript": Grammar(
        "tree_sitter_typescript",
        _TYPED_SYMBOLS,
        members=_TYPED_MEMBERS,
        through=_TYPED_THROUGH,
        bodies=_TYPED_BODIES,
        entry="language_typescript",
    ),
    "tsx": Grammar(
        "tree_sitter_typescript",
        _TYPED_SYMBOLS,
        members=_TYPED_MEMBERS,
        through=_TYPED_THROUGH,
        bodies=_TYPED_BODIES,
        entry="language_tsx",
    ),
    "go": Grammar(
        "tree_sitter_go",
        {"type_spec": "type", "type_alias": "type", "function_declaration": "func", "method_declaration": "func"},
        members=frozenset({"method_elem"}),
        through=frozenset({"type_declaration"}),
        bodies=frozenset({"interface_type"}),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "impl_item": "impl",
            "function_item": "fn",
            "mod_item": "mod",
            "macro_definition": "macro",
            "type_item": "type",
        },
        members=frozenset({"function_item", "function_signature_item"}),
        bodies=frozenset({"declaration_list"}),
        through=frozenset({"foreign_mod_item"}),
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "annotation_type_declaration": "@interface",
        },
        members=frozenset({"method_declaration", "class_declaration", "interface_declaration", "enum_declaration"}),
        bodies=frozenset({"class_body", "interface_body", "enum_body", "enum_body_declarations"}),
    ),
    "c": Grammar("tree_sitter_c", _C_SYMBOLS, through=_C_THROUGH),
    "cpp": Grammar(
        "tree_sitter_cpp",
        _C_SYMBOLS | {"class_specifier": "class", "alias_declaration": "using"},
        members=frozenset({"function_definition", "field_declaration", "declaration"}),
        through=_C_THROUGH | {"namespace_definition", "template_declaration"},
        bodies=frozenset({"field_declaration_list"}),
    ),
}


@cache
def language(name: str) -> Language:
    grammar = GRAMMARS[name]
    return Language(getattr(importlib.import_module(grammar.module), grammar.entry)())
