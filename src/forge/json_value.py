"""A JSON object, as it is read and written."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
