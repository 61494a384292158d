"""Parts of an address that routes of several nouns share."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

Project = Annotated[str, Path(max_length=200, description="The id of a project.", examples=["20261116-4f2a"])]
Repo = Annotated[str, Path(max_length=64, description="The id of a repository.", examples=["0a1b2c3d4e5f"])]
Branch = Annotated[str, Query(min_length=1, max_length=250, examples=["ai/first"])]
ContractType = Annotated[str, Path(max_length=40, examples=["blueprint"])]
