"""The built-in engine: rules that answer where there is no model, and say that they are none."""

from forge.agents.builtin.engine import BuiltinEngine

__all__ = ["BuiltinEngine"]
