"""What a model has been shown of a branch so far. A small value that each turn stores for the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from forge.git import ObjectId
from forge.json_value import Json

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SeenFile:
    blob: ObjectId | None
    """None when the file was not there."""
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    tree: ObjectId | None = None
    """The tree up to which changes were told; None before the stream has begun."""
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    skills: str = ""
    """A digest of the list of skills."""

    @property
    def begun(self) -> bool:
        return self.tree is not None

    def to_json(self) -> Json:
        files = {path: [file.blob, *map(list, file.ranges)] for path, file in self.files.items()}
        return {"tree": self.tree, "files": files, "skills": self.skills}

    @classmethod
    def from_json(cls, data: Json) -> Seen:
        """An empty value where nothing, or something else, was stored."""
        tree, files = data.get("tree"), data.get("files")
        if not isinstance(tree, str) or not isinstance(files, dict):
            return cls()
        return cls(
            ObjectId(tree),
            {
                path: SeenFile(blob, tuple((int(first), int(last)) for first, last in ranges))
                for path, (blob, *ranges) in files.items()
            },
            str(data.get("skills", "")),
        )
