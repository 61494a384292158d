"""The built-in engine for the pipeline: answers by stated rules, without any model, for plans only."""

from forge.pipeline.rules.answering import BuiltinCannot, answer

__all__ = ["BuiltinCannot", "answer"]
