"""The built-in engine for the pipeline: sorts by stated rules, without any model; makes outlines of plans only."""

from forge.builtin_rules.answers import CONNECT, WAYS, BuiltinCannot, answer, needs_a_model
from forge.builtin_rules.kinds import judged
from forge.builtin_rules.outline import Outlined, outlined, rendered

__all__ = ["CONNECT", "WAYS", "BuiltinCannot", "Outlined", "answer", "judged", "needs_a_model", "outlined", "rendered"]
