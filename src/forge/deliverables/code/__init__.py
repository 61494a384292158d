"""Code as a deliverable: built by agents on a branch of its own, tested in the sandbox, reviewed until it converges."""

from forge.deliverables.code.deliverable import CodeType
from forge.deliverables.code.registries import Registries

__all__ = ["CodeType", "Registries"]
