"""Models by name: which there are, which one to take, and how each is asked."""

from forge.agents.models.names import split_name
from forge.agents.models.registry import Availability, available, choose, resolve

__all__ = ["Availability", "available", "choose", "resolve", "split_name"]
