"""Main symbols of source files, read by tree-sitter grammars that are loaded when first needed."""

from forge.context.symbols.outline import Symbol, symbols
from forge.context.symbols.text import worded

__all__ = ["Symbol", "symbols", "worded"]
