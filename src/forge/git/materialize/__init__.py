"""Real directories for commands: the files of a branch, kept between uses and brought up to date by the difference."""

from forge.git.materialize.budget import Budget
from forge.git.materialize.collect import CollectedChange, Limits, Note
from forge.git.materialize.directory import MaterializedDirectory, held_directory, materialize

__all__ = ["Budget", "CollectedChange", "Limits", "MaterializedDirectory", "Note", "held_directory", "materialize"]
