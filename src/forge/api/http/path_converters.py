"""Paths of files and names of branches at the end of an address: with slashes, and with line breaks if need be."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class Whole(Convertor[str]):
    """Unlike Starlette's own `path`, whose dot leaves out the line breaks that git allows in names."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("whole", Whole())
