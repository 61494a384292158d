"""Parts of an address that routes of several nouns share."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

Project = Annotated[str, Path(max_length=200, description="The id of a project.", examples=["20261116-4f2a"])]
