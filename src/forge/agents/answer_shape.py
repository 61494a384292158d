"""Brings a decoded answer closer to a schema, where only one meaning is possible. The schema itself decides afterwards.

Names are compared without case and separators; null becomes the field's default; one value becomes a list of one.
Items that cannot be used are left out with a note, unless none is left: an empty list would say that all is well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.counts import counted
from forge.projects.intent import says_nothing

SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("blocker", "blocking", "severe", "fatal", "high", "p0", "error"), "critical"),
    **dict.fromkeys(("major", "moderate", "mid", "normal", "p1", "warning"), "medium"),
    **dict.fromkeys(("low", "trivial", "nit", "nitpick", "info", "informational", "cosmetic", "suggestion", "p2", "p3"),
                    "minor"),
    **dict.fromkeys(("kritisch", "schwerwiegend", "hoch", "critique", "bloquant", "élevé", "crítico", "crítica",
                     "grave", "critico", "critica", "alto", "alta", "hoog", "krytyczny", "критический", "критично",
                     "высокий", "严重", "致命", "高", "重大", "致命的"), "critical"),
    **dict.fromkeys(("mittel", "moyen", "moyenne", "majeur", "medio", "media", "médio", "média", "moderado", "moderada",
                     "gemiddeld", "średni", "средний", "средняя", "中", "中等", "一般", "中程度"), "medium"),
    **dict.fromkeys(("gering", "niedrig", "klein", "faible", "mineur", "mineure", "bajo", "baja", "menor", "leve",
                     "baixo", "baixa", "basso", "minore", "laag", "niski", "низкий", "незначительный", "轻微", "低",
                     "軽微"), "minor"),
}  # fmt: skip
"""What other scales and languages call the three. In doubt the more severe one."""
_SEPARATORS = re.compile(r"[\W_]+")


def shaped(value: Any, schema: Any, notes: list[str], *, place: str = "") -> Any:
    """The value in the schema's shape as far as that is clear; what is not clear stays as it is."""
    origin = get_origin(schema)
    if origin is Annotated:
        return shaped(value, get_args(schema)[0], notes, place=place)
    if origin in (Union, UnionType):
        return _of_union(value, get_args(schema), notes, place)
    if origin is list:
        return _list(value, get_args(schema)[0], notes, place)
    if origin is Literal:
        return _word(value, [each for each in get_args(schema) if isinstance(each, str)])
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return _model(value, schema, notes, place)
    if isinstance(schema, type) and issubclass(schema, Enum):
        return _word(value, [str(each.value) for each in schema])
    if schema is str:
        return _text(value)
    return value


def _model(value: Any, schema: type[BaseModel], notes: list[str], place: str) -> Any:
    if not isinstance(value, dict):
        return value
    by_name: dict[str, str] = {_bare(name): name for name in schema.model_fields}
    filled: dict[str, Any] = {}
    for given, inside in value.items():
        name = given if given in schema.model_fields else by_name.get(_bare(given)) or given
        if name not in filled or name == given:
            filled[name] = inside
    for name, field in schema.model_fields.items():
        if name in filled:
            inside = shaped(filled[name], field.annotation, notes, place=f"{place}.{name}".lstrip("."))
            if inside is None and not field.is_required():
                del filled[name]
            else:
                filled[name] = inside
    return filled


def _list(value: Any, item: Any, notes: list[str], place: str) -> Any:
    if value is None or (isinstance(value, str) and says_nothing(value)):
        return []
    if value == {}:
        return value
    if isinstance(value, dict):
        # Numbered or named items, or the only item itself.
        inside = [*value.values()]
        value = inside if all(isinstance(each, dict) for each in inside) else [value]
    elif not isinstance(value, list):
        value = [value]
    found = [shaped(each, item, notes, place=f"{place}[{n}]") for n, each in enumerate(value)]
    # "None found" in place of an object is no object; in a list of texts it may be what somebody said.
    full = [each for each in found if not _is_empty(each) and (_is_text(item) or not _denies(each))]
    good = [each for each in full if _fits(each, item)]
    if good and len(good) < len(full):
        bad = len(full) - len(good)
        notes.append(f"{place}: left out {bad} of {counted(len(full), 'item')}, not in the form that was asked for.")
        return good
    return full


def _of_union(value: Any, kinds: tuple[Any, ...], notes: list[str], place: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    for kind in kinds:
        if kind is NoneType:
            continue
        tried: list[str] = []
        candidate = shaped(value, kind, tried, place=place)
        if _fits(candidate, kind):
            notes += tried
            return candidate
    return value


def _word(value: Any, words: list[str]) -> Any:
    if not isinstance(value, str):
        return value
    bare = {_bare(word): word for word in words}
    said = _bare(value)
    return bare.get(said) or bare.get(SYNONYMS.get(said, "")) or value


def _text(value: Any) -> Any:
    match value:
        case bool() | None | dict():
            return value
        case int() | float():
            return str(value)
        case list() if value and all(isinstance(each, str) for each in value):
            return "\n".join(value)
        case _:
            return value


def _fits(value: Any, kind: Any) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


def _is_empty(value: Any) -> bool:
    return value is None or value in ({}, []) or (isinstance(value, str) and not value.strip())


def _denies(value: Any) -> bool:
    return isinstance(value, str) and says_nothing(value)


def _is_text(kind: Any) -> bool:
    """Also a union in which a text is as good as an object."""
    inside = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
    return kind is str or any(_is_text(each) for each in inside)


def _bare(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()
