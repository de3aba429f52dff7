"""Batches and transactions: many requests in one (https://hl7.org/fhir/R4/http.html#transaction)."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from praxis_client._flow import Answer, Request
from praxis_client._json import encode_json
from praxis_client.errors import Refused, read_refusal
from praxis_client.reading import Query, encode_query, reference_to


@dataclass(frozen=True)
class Entry:
    """A request in a Bundle, and the place of its answer."""

    index: int
    reference: str
    """How other entries refer to what this one creates."""


class Bundle:
    """Requests that are sent together: see Batch and Transaction."""

    kind: Literal["batch", "transaction"]

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def create(self, resource: Mapping[str, Any], if_none_exist: Query | None = None) -> Entry:
        """Create a resource. ``reference`` of the result stands for it in other entries."""
        request = {"method": "POST", "url": resource["resourceType"]}
        if if_none_exist is not None:
            request["ifNoneExist"] = encode_query(if_none_exist)
        return self._add(request, resource, f"urn:uuid:{uuid.uuid4()}")

    def replace(self, resource: Mapping[str, Any], version: str | None = None) -> Entry:
        """Replace a resource; with ``version`` only if that is the current one."""
        return self._add(_conditional("PUT", reference_to(resource), version), resource)

    def patch(self, reference: str, operations: Sequence[Mapping[str, Any]], version: str | None = None) -> Entry:
        """Patch a resource by JSON Patch (RFC 6902)."""
        data = base64.b64encode(encode_json(list(operations))).decode()
        body = {"resourceType": "Binary", "contentType": "application/json-patch+json", "data": data}
        return self._add(_conditional("PATCH", reference, version), body)

    def delete(self, reference: str, version: str | None = None) -> Entry:
        """Delete a resource; with ``version`` only if that is the current one."""
        return self._add(_conditional("DELETE", reference, version))

    def read(self, reference: str) -> Entry:
        """Read a resource."""
        return self._add({"method": "GET", "url": reference})

    def search(self, resource_type: str, query: Query) -> Entry:
        """Search. The answer is one page, a Bundle."""
        return self._add({"method": "GET", "url": f"{resource_type}?{encode_query(query)}"})

    def to_resource(self) -> dict[str, Any]:
        """Return the Bundle to send."""
        return {"resourceType": "Bundle", "type": self.kind, "entry": self._entries}

    def _add(self, request: dict[str, Any], resource: Mapping[str, Any] | None = None, url: str | None = None) -> Entry:
        entry: dict[str, Any] = {"request": request}
        if resource is not None:
            entry["resource"] = dict(resource)
        if url is not None:
            entry["fullUrl"] = url
        self._entries.append(entry)
        return Entry(len(self._entries) - 1, url or request["url"])


class Batch(Bundle):
    """Requests that stand for themselves: some may be refused. ``Answers`` tells each."""

    kind = "batch"


class Transaction(Bundle):
    """Requests that all succeed, or none of them has an effect."""

    kind = "transaction"


@dataclass(frozen=True)
class EntryAnswer:
    """The answer to one entry."""

    status: int
    location: str | None
    etag: str | None
    resource: dict[str, Any] | None
    """What was read or stored, if the service sends it."""
    refusal: Refused | None
    """Why the entry of a batch was refused; None if it was not."""

    @property
    def id(self) -> str | None:
        """Return the id of what was written or read."""
        if self.resource is not None:
            return self.resource.get("id")
        parts = (self.location or "").split("/_history/")[0].split("/")
        return parts[-1] or None


class Answers(Sequence[EntryAnswer]):
    """The answers to the entries of a Bundle, in their order. An Entry is an index, too."""

    def __init__(self, bundle: Bundle, answered: Mapping[str, Any]) -> None:
        requests = bundle.to_resource()["entry"]
        self._answers = [
            _read_answer(each["request"], entry)
            for each, entry in zip(requests, answered.get("entry", []), strict=True)
        ]

    def __getitem__(self, index: Any) -> Any:
        return self._answers[index.index if isinstance(index, Entry) else index]

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[EntryAnswer]:
        return iter(self._answers)

    def raise_refusals(self) -> None:
        """Raise the first refusal, if there is one."""
        for answer in self._answers:
            if answer.refusal is not None:
                raise answer.refusal


def _conditional(method: str, url: str, version: str | None) -> dict[str, Any]:
    request = {"method": method, "url": url}
    return request if version is None else {**request, "ifMatch": f'W/"{version}"'}


def _read_answer(request: Mapping[str, Any], entry: Mapping[str, Any]) -> EntryAnswer:
    response = entry.get("response", {})
    status = int(response["status"].split()[0])
    outcome = response.get("outcome")
    refusal = None
    if status >= 400:
        answer = Answer(status, {}, encode_json(outcome or {}))
        label = f"{request['method']} {request['url'].split('?')[0]} of a batch"
        refusal = read_refusal(Request(request["method"], request["url"], label=label), answer)
    return EntryAnswer(status, response.get("location"), response.get("etag"), entry.get("resource"), refusal)
