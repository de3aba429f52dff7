"""Pages of searches, histories and operations that answer with a Bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from praxis_client._flow import Answer

R = TypeVar("R", bound=Mapping[str, Any])


@dataclass(frozen=True)
class Page(Generic[R]):
    """One page."""

    resources: list[R]
    """The matches, in their order."""
    included: list[dict[str, Any]]
    """What ``_include`` and ``_revinclude`` have added."""
    warnings: list[str]
    """What the service says about the search, such as that the total is an estimate."""
    total: int | None
    """The number of matches, if the search asked for it by ``_total``."""
    next: str | None
    """The link to the next page; None on the last one."""
    complete_until: str | None
    """X-Complete-Until: no more changes from before this instant will appear."""
    bundle: dict[str, Any] = field(repr=False)
    """The page as it came."""


def read_page(answer: Answer) -> Page[dict[str, Any]]:
    """Return an answer as a page."""
    bundle = answer.json()
    entries = bundle.get("entry", [])
    by_mode: dict[str, list[dict[str, Any]]] = {"match": [], "include": [], "outcome": []}
    for entry in entries:
        mode = entry.get("search", {}).get("mode", "match")
        if "resource" in entry:
            by_mode.setdefault(mode, []).append(entry["resource"])
    issues = [issue for outcome in by_mode["outcome"] for issue in outcome.get("issue", [])]
    return Page(
        resources=by_mode["match"],
        included=by_mode["include"],
        warnings=[issue["diagnostics"] for issue in issues if "diagnostics" in issue],
        total=bundle.get("total"),
        next=find_link(bundle, "next"),
        complete_until=answer.headers.get("x-complete-until"),
        bundle=bundle,
    )


def find_link(bundle: Mapping[str, Any], relation: str) -> str | None:
    """Return the URL of a link of a Bundle; None if there is none."""
    return next((link["url"] for link in bundle.get("link", []) if link.get("relation") == relation), None)
