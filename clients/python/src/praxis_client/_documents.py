"""Upload and download of files, as flows (docs/integrate/documents.md)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from praxis_client._core import Core, instance_path
from praxis_client._flow import Flow, Pause, Request
from praxis_client.errors import ContentDamaged, Gone, PraxisError
from praxis_client.reading import find_id, read_parameter
from praxis_client.retries import Attempts

_hashes = {20: hashlib.sha1, 32: hashlib.sha256}
"""By length. R4 has SHA-1; the service takes SHA-256 as well."""
_ports = {"http": 80, "https": 443}


class DocumentFlows:
    """The flows of ``client.documents``."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def upload(self, content: bytes, content_type: str, title: str | None) -> Flow[dict[str, Any]]:
        """Store a file and return the Attachment for it. Each attempt has a URL of its own: a URL takes one file."""
        attempts = Attempts(self._core.retries, self._core.clock, is_repeatable=True)
        while True:
            binary = {"resourceType": "Binary", "contentType": content_type}
            place = yield from self._core.post_operation("Binary", binary, None)
            try:
                yield from self._put(read_parameter(place, "url"), content, content_type)
                break
            except PraxisError as failure:
                pause = attempts.pause_after(failure)
                if pause is None:
                    raise
            yield Pause(pause)
        attachment = {
            "contentType": content_type,
            "url": read_parameter(place, "attachment"),
            "size": len(content),
            "hash": base64.b64encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode(),
        }
        return attachment if title is None else {**attachment, "title": title}

    def _put(self, url: str, content: bytes, content_type: str) -> Flow[None]:
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        headers = {"content-type": content_type, "content-digest": f"sha-256=:{digest}:"}
        place = _check_url(url, self._core.base)
        yield from self._core.send_bare(Request("PUT", place, headers, content, label="upload of a file"))

    def file(
        self,
        patient: str | Mapping[str, Any],
        content: bytes,
        content_type: str,
        title: str | None,
        document: Mapping[str, Any] | None,
        key: str | None,
    ) -> Flow[Any]:
        """Upload a file and create a DocumentReference of it."""
        attachment = yield from self.upload(content, content_type, title)
        resource = {
            "status": "current",
            "subject": {"reference": f"Patient/{find_id(patient, 'Patient')}"},
            **(document or {}),
            "resourceType": "DocumentReference",
            "content": [{"attachment": attachment}],
        }
        return (yield from self._core.create(resource, None, key))

    def download(self, document: str | Mapping[str, Any], index: int) -> Flow[bytes]:
        """Return a file of a DocumentReference, compared with size and hash where they are said."""
        path = instance_path("DocumentReference", find_id(document, "DocumentReference"))
        attempts = Attempts(self._core.retries, self._core.clock, is_repeatable=True)
        has_ended = False
        while True:
            # Read each time: the URL in it lasts for five minutes, and ends when rights change.
            resource = yield from self._core.get_operation(path, {})
            attachment = resource["content"][index]["attachment"]
            url = _check_url(attachment.get("url"), self._core.base)
            try:
                answer = yield from self._core.send_bare(Request("GET", url, label="download of a file"))
                return _checked(answer.content, attachment)
            except Gone:
                if has_ended:
                    raise
                has_ended = True
                continue
            except PraxisError as failure:
                pause = attempts.pause_after(failure)
                if pause is None:
                    raise
            yield Pause(pause)


def _checked(content: bytes, attachment: Mapping[str, Any]) -> bytes:
    size = attachment.get("size")
    if size is not None and size != len(content):
        raise ContentDamaged(f"the file has {len(content)} bytes, and the resource says {size}")
    said = base64.b64decode(attachment.get("hash", ""))
    make = _hashes.get(len(said))
    if make is not None and make(content).digest() != said:
        raise ContentDamaged("the hash of the file is not the one that the resource says")
    return content


def _check_url(url: Any, base: str) -> str:
    """Return the URL of a file if it is at the service of the base URL: a resource may name any place.

    Raise ValueError for another one. The text does not tell the URL, which is a right in itself.
    """
    origin = _read_origin(url) if isinstance(url, str) else None
    if origin is None or origin != _read_origin(base):
        raise ValueError("the URL of the file is not at the service of the base URL")
    return str(url)


def _read_origin(url: str) -> tuple[str, str, int | None] | None:
    """Return scheme, host and port of a URL; None if it has none, or names somebody."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc or "\\" in parts.netloc:
        return None
    return parts.scheme, parts.hostname, port or _ports.get(parts.scheme)
