"""Changes of resources, as ``$changes`` tells them (docs/integrate/follow-changes.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from praxis_client.pages import Page


@dataclass(frozen=True)
class Change:
    """One change, for a copy: store the resource in place of the one that you have, or delete it."""

    type: str
    id: str
    resource: dict[str, Any] | None = field(repr=False)
    """The resource; None if it is deleted, or may no longer be seen."""

    @property
    def is_deleted(self) -> bool:
        """Return whether the copy loses the resource."""
        return self.resource is None

    @property
    def reference(self) -> str:
        """Return the reference to the resource, such as ``Patient/1``."""
        return f"{self.type}/{self.id}"


def read_changes(page: Page[dict[str, Any]]) -> list[Change]:
    """Return the changes of a page of ``$changes``, oldest first."""
    return [_read_change(entry) for entry in page.bundle.get("entry", [])]


def _read_change(entry: dict[str, Any]) -> Change:
    resource_type, id = urlsplit(entry["fullUrl"]).path.split("/")[-2:]
    is_deleted = entry["request"]["method"] == "DELETE"
    return Change(resource_type, id, None if is_deleted else entry["resource"])
