"""One file of a project: read to be taken away, and a resource taken out again."""

from __future__ import annotations

import hashlib

from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.app.projects.project_access import DocumentMissing, StoredFile, resources
from forge.app.repositories.files import FileContent

_PLAIN = "100644"
_ETAG = 40


def content(file: StoredFile) -> FileContent:
    try:
        data = file.path.read_bytes()
    except FileNotFoundError as e:
        raise _missing() from e
    return FileContent(file.name, data, _PLAIN, hashlib.sha256(data).hexdigest()[:_ETAG], None, binary=True)


def resource(shop: Workshop, who: Who, id_: str, name: str) -> StoredFile:
    found = next((each for each in resources(shop, who, id_) if each.name == name), None)
    if found is None:
        raise _missing()
    return found


def remove_resource(shop: Workshop, who: Who, id_: str, name: str) -> None:
    """The next distillation does not read it any more. The project's history keeps it."""
    project = project_for(shop, who, id_, "write")
    path = f"resources/{resource(shop, who, id_, name).name}"
    project.records.update(lambda _: {path: None}, f"resources: without {name}")
    audit(shop, who, "project.remove_resource", f"project:{id_}", name)


def _missing() -> DocumentMissing:
    return DocumentMissing("There is no file of this name.", hint="List them to see what there is.")
