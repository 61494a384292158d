"""The steps from one shape of the database to the next, oldest first."""

from __future__ import annotations

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011", "0012", "0013")
"""Every revision this version of Forge knows. A database that names another one belongs to a newer Forge."""
