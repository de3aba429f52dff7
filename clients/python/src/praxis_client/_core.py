"""What the clients do with resources, as flows: see ``client.Client`` for what each of them means to a caller."""

from __future__ import annotations

import copy
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from praxis_client._flow import Answer, Call, Emit, Flow, Pause, Request, Send
from praxis_client._json import encode_json
from praxis_client._tokens import Token, TokenKeeper
from praxis_client._version import version
from praxis_client.bundles import Answers, Bundle
from praxis_client.changes import Change, read_changes
from praxis_client.cursors import CursorStore
from praxis_client.errors import (
    AwaitingReview,
    Conflict,
    PraxisError,
    PreconditionFailed,
    Unauthorized,
    UnexpectedAnswer,
    read_refusal,
)
from praxis_client.pages import Page, read_page
from praxis_client.reading import Query, encode_query
from praxis_client.retries import Attempts, Retries

_fhir_json = "application/fhir+json"
_form_type = {"content-type": "application/x-www-form-urlencoded"}
_user_agent = f"praxis-client-python/{version}"
_renewable = ("credentials-expired", "credentials-invalid")
_update_attempts = 5
_empty_pages_max = 3
"""Empty pages in a row that end a copy where the operator has X-Complete-Until turned off."""
_empty_page_seconds = 1.0
"""What lies between two requests at least where a page is empty: a proxy may answer at once in place of the service."""
_id = re.compile(r"[A-Za-z0-9\-.]{1,64}")
_type = re.compile(r"[A-Z][A-Za-z]{1,63}")
_location = re.compile(r"/([A-Z][A-Za-z]+)/([A-Za-z0-9\-.]{1,64})/_history/([A-Za-z0-9\-.]{1,64})$")

Select = Callable[[Page[dict[str, Any]]], Sequence[Any]]


class Core:
    """The flows of one practice. ``base`` is its FHIR base URL."""

    def __init__(self, base: str, tokens: TokenKeeper, clock: Callable[[], float], retries: Retries) -> None:
        self.base = check_base(base)
        self.clock = clock
        self.retries = retries
        self._tokens = tokens

    def move(self, base: str) -> Core:
        """Return the core of another practice with the same token. Raise ValueError if the token is not for it."""
        core = Core(base, self._tokens, self.clock, self.retries)
        if urlsplit(core.base)[:2] != urlsplit(self.base)[:2]:
            raise ValueError("the base URL is of another service: make a client of its own")
        if not self._tokens.credentials.is_for_all_practices:
            raise ValueError("a password is of one practice: make a client of its own")
        return core

    # Requests.

    def call(self, request: Request) -> Flow[Answer]:
        """Send a request with token and key until it is answered. Return an answer below 400, raise what else came."""
        attempts = Attempts(self.retries, self.clock, is_repeatable=_is_repeatable(request))
        refused: Token | None = None
        while True:
            if refused is None:
                token = yield from self._tokens.find_token()
            else:
                token = yield from self._tokens.replace_refused(refused)
            try:
                return (yield from self._send_once(request, token))
            except Unauthorized as refusal:
                if refused is not None or refusal.code not in _renewable:
                    raise
                refused = token
                continue
            except PraxisError as failure:
                pause = attempts.pause_after(failure)
                if pause is None:
                    raise
            yield Pause(pause)

    def send_bare(self, request: Request) -> Flow[Answer]:
        """Send a request without credentials, once: URLs of files are rights in themselves."""
        answer: Answer = yield Send(request.with_headers({"user-agent": _user_agent}))
        if answer.status >= 300:
            raise read_refusal(request, answer)
        return answer

    def _send_once(self, request: Request, token: Token) -> Flow[Answer]:
        credentials = {"authorization": f"Bearer {token.value}", "x-api-key": self._tokens.credentials.api_key}
        answer: Answer = yield Send(request.with_headers({**credentials, "user-agent": _user_agent}))
        if answer.status >= 300:
            raise read_refusal(request, answer)
        if answer.content and "json" not in answer.headers.get("content-type", ""):
            raise UnexpectedAnswer(request, answer)
        return answer

    def build(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str | None] | None = None,
        wait_seconds: float = 0,
    ) -> Request:
        """Return a request to a path below the base URL. Headers that are None are left out.

        Raise ValueError for a path that leads out of it, as an id from elsewhere may.
        """
        if path.startswith("/") or {".", ".."} & set(path.split("?")[0].split("/")):
            raise ValueError("the path leads out of the base URL of the practice")
        given = {name: value for name, value in (headers or {}).items() if value is not None}
        content = b"" if body is None else body if isinstance(body, bytes) else encode_json(body)
        typed = {"content-type": _fhir_json} if content else {}
        url = f"{self.base}/{path}" if path else self.base
        label = f"{method} {path.split('?')[0] or 'Bundle'}"
        return Request(method, url, {"accept": _fhir_json, **typed, **given}, content, wait_seconds, label)

    def rebase(self, link: str) -> str:
        """Return a link of an answer as a path below the base URL: credentials go nowhere else.

        The origin of the link may be another one, as where the client reaches the service through a tunnel.
        Raise ValueError for a link that leads elsewhere.
        """
        parts = urlsplit(link)
        prefix = f"{urlsplit(self.base).path}/"
        if not parts.path.startswith(prefix):
            raise ValueError("the link leads out of the base URL of the practice")
        path = parts.path.removeprefix(prefix)
        return f"{path}?{parts.query}" if parts.query else path

    # Reads.

    def read(self, resource_type: str, id: str, version: str | None = None) -> Flow[Any]:
        """GET a resource, or one version of it."""
        path = instance_path(resource_type, id)
        answer = yield from self.call(
            self.build("GET", path if version is None else f"{path}/_history/{_checked(version)}")
        )
        return answer.json()

    def search(self, resource_type: str, query: Query, select: Select) -> Flow[None]:
        """Emit what ``select`` takes of each page of a search by POST: so no parameter stands in a URL."""
        path = f"{type_path(resource_type)}/_search"
        parameters = encode_query(query)
        while True:
            page = read_page((yield from self.call(self.build("POST", path, parameters.encode(), _form_type))))
            for item in select(page):
                yield Emit(item)
            if page.next is None:
                return
            # The link repeats the parameters of the search. As a form they stand in no URL either.
            parameters = self.rebase(page.next).partition("?")[2]

    def list(self, path: str, query: Query, select: Select) -> Flow[None]:
        """Emit what ``select`` takes of each page of anything that is read by GET and has links ``next``."""
        link = with_query(path, query)
        while True:
            page = read_page((yield from self.call(self.build("GET", link))))
            for item in select(page):
                yield Emit(item)
            if page.next is None:
                return
            link = self.rebase(page.next)

    def count(self, resource_type: str, query: Query) -> Flow[int]:
        """Return the exact number of matches."""
        pairs = list(query.items()) if isinstance(query, Mapping) else list(query)
        content = encode_query([*pairs, ("_summary", "count")]).encode()
        answer = yield from self.call(self.build("POST", f"{type_path(resource_type)}/_search", content, _form_type))
        return int(answer.json()["total"])

    # Writes.

    def write(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str | None] | None = None,
        key: str | None = None,
    ) -> Flow[Answer]:
        """Send a write with an Idempotency-Key, which stays the same for each attempt. Raise AwaitingReview for 202."""
        idempotency_key = str(uuid.uuid4()) if key is None else key
        keyed = {**(headers or {}), "idempotency-key": _quoted(idempotency_key)}
        answer = yield from self.call(self.build(method, path, body, keyed))
        if answer.status == 202:
            task = urlsplit(answer.headers.get("location", "")).path.rpartition("/Task/")[2].split("/")[0]
            raise AwaitingReview(task, answer.headers.get("x-request-id"))
        return answer

    def create(self, resource: Mapping[str, Any], if_none_exist: Query | None, key: str | None) -> Flow[Any]:
        """POST a resource."""
        condition = None if if_none_exist is None else encode_query(if_none_exist)
        path = type_path(resource.get("resourceType", ""))
        return read_written((yield from self.write("POST", path, resource, {"if-none-exist": condition}, key)))

    def replace(self, resource: Mapping[str, Any], version: str | None, key: str | None) -> Flow[Any]:
        """PUT a resource; with ``version`` only if that is the current one."""
        condition = None if version is None else f'W/"{_checked(version)}"'
        path = instance_path(resource.get("resourceType", ""), resource.get("id", ""))
        return read_written((yield from self.write("PUT", path, resource, {"if-match": condition}, key)))

    def update(self, resource_type: str, id: str, change: Callable[[Any], Any]) -> Flow[Any]:
        """Read, change and PATCH what differs with If-Match; once more where another change came first."""
        attempt = 1
        while True:
            resource = yield from self.read(resource_type, id)
            draft = copy.deepcopy(resource)
            changed = change(draft)
            operations = find_differences(resource, draft if changed is None else changed)
            if not operations:
                return resource
            try:
                return (yield from self.patch(resource_type, id, operations, resource["meta"]["versionId"], None))
            except (PreconditionFailed, Conflict) as refusal:
                if attempt >= _update_attempts or refusal.code not in ("precondition-failed", "conflict"):
                    raise
            attempt += 1

    def patch(
        self, resource_type: str, id: str, operations: Sequence[Mapping[str, Any]], version: str | None, key: str | None
    ) -> Flow[Any]:
        """PATCH by JSON Patch (RFC 6902)."""
        condition = None if version is None else f'W/"{_checked(version)}"'
        headers = {"content-type": "application/json-patch+json", "if-match": condition}
        path = instance_path(resource_type, id)
        return read_written((yield from self.write("PATCH", path, [*operations], headers, key)))

    def delete(self, resource_type: str, id: str, version: str | None, key: str | None) -> Flow[None]:
        """DELETE a resource."""
        condition = None if version is None else f'W/"{_checked(version)}"'
        yield from self.write("DELETE", instance_path(resource_type, id), None, {"if-match": condition}, key)

    def send(self, bundle: Bundle, key: str | None) -> Flow[Answers]:
        """POST a batch or transaction."""
        answer = yield from self.write("POST", "", bundle.to_resource(), None, key)
        return Answers(bundle, answer.json())

    def find_outcome(self, key: str) -> Flow[dict[str, Any]]:
        """Return what became of a write, as name and value."""
        path = f"$write-outcome?{encode_query({'key': key})}"
        told = (yield from self.call(self.build("GET", path))).json()
        return {
            each["name"]: next(value for name, value in each.items() if name != "name") for each in told["parameter"]
        }

    # Operations.

    def get_operation(self, path: str, query: Query) -> Flow[Any]:
        """GET an operation that changes nothing."""
        return (yield from self.call(self.build("GET", with_query(path, query)))).json()

    def post_operation(self, path: str, parameters: Mapping[str, Any] | None, key: str | None) -> Flow[Any]:
        """POST an operation, with an Idempotency-Key."""
        return (yield from self.write("POST", path, parameters, None, key)).json()

    # Changes.

    def follow(
        self,
        cursor: CursorStore,
        types: Sequence[str],
        since: str | None,
        count: int | None,
        wait: int | None,
        select: Callable[[Sequence[Change]], Sequence[Any]],
    ) -> Flow[None]:
        """Emit what ``select`` takes of each page of changes. The place behind a page is saved when more is asked for.

        Without ``wait`` it ends when the copy is complete.
        """
        place = yield Call(cursor.load)
        if place is None:
            names = ",".join(type_path(each) for each in types) or None
            place = f"{self.base}/{with_query('$changes', {'_type': names, '_count': count, 'since': since})}"
        empty = 0
        while True:
            began = self.clock()
            page = yield from self._read_change_page(place, wait)
            changes = read_changes(page)
            for item in select(changes):
                yield Emit(item)
            if page.next is None:
                raise ValueError("a page of changes has no link next")
            place = page.next
            yield Call(cursor.save, (place,))
            empty = 0 if changes else empty + 1
            if wait is None and (page.complete_until is not None or empty >= _empty_pages_max):
                return
            early = min(_empty_page_seconds, _empty_page_seconds - (self.clock() - began))
            if wait and not changes and early > 0:
                yield Pause(early)

    def _read_change_page(self, place: str, wait: int | None) -> Flow[Page[dict[str, Any]]]:
        path = self.rebase(place)
        if wait is None:
            return read_page((yield from self.call(self.build("GET", path))))
        separator = "&" if "?" in path else "?"
        request = self.build("GET", f"{path}{separator}_wait={wait}", wait_seconds=wait)
        return read_page((yield from self.call(request)))


def find_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the operations of JSON Patch on whole elements that lead from one version to the other."""
    removed = [{"op": "remove", "path": f"/{name}"} for name in before if name not in after]
    differing = [(name, value) for name, value in after.items() if name not in before or before[name] != value]
    return [*removed, *({"op": "add", "path": f"/{name}", "value": value} for name, value in differing)]


def select_resources(page: Page[dict[str, Any]]) -> Sequence[Any]:
    """Return the matches of a page."""
    return page.resources


def select_page(page: Page[dict[str, Any]]) -> Sequence[Any]:
    """Return the page itself."""
    return (page,)


def read_written(answer: Answer) -> Any:
    """Return the resource that a write has stored.

    Where the service does not send it, since the application may not read it or the answer is a repeated one, it has type, id and
    version alone.
    """
    body = answer.json()
    place = _location.search(answer.headers.get("location", ""))
    if place is None or (isinstance(body, dict) and body.get("resourceType") == place[1]):
        return body
    return {"resourceType": place[1], "id": place[2], "meta": {"versionId": place[3]}}


def with_query(path: str, query: Query) -> str:
    """Return a path with parameters."""
    encoded = encode_query(query)
    return f"{path}?{encoded}" if encoded else path


def check_base(base: str) -> str:
    """Return the base URL without a slash at its end. Raise ValueError for what is no FHIR base of a practice."""
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ValueError("the base URL has the form https://host/{environment}/firm/{firm}/{product}/fhir/v2")
    if parts.username is not None:
        raise ValueError("the base URL holds no credentials")
    return base.rstrip("/")


def type_name(resource_type: Any) -> str:
    """Return the name of a resource type that is given as name or as class of ``r4``."""
    return resource_type if isinstance(resource_type, str) else str(resource_type.__name__)


def type_path(resource_type: str) -> str:
    """Return the name of a resource type. Raise ValueError for what cannot be one."""
    if _type.fullmatch(resource_type) is None:
        raise ValueError(f"{resource_type!r} is no resource type: R4 has names such as Patient")
    return resource_type


def instance_path(resource_type: str, id: str) -> str:
    """Return ``Type/id``. Raise ValueError for an id that cannot be one: nothing else gets into a path."""
    return f"{type_path(resource_type)}/{_checked(id)}"


def _checked(id: str) -> str:
    if _id.fullmatch(id) is None or id in (".", ".."):
        raise ValueError(f"{id!r} is no id: R4 has letters, digits, hyphens and dots, at most 64")
    return id


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_repeatable(request: Request) -> bool:
    """Whether sending it twice has the effect of sending it once."""
    return request.method == "GET" or "idempotency-key" in request.headers or request.url.endswith("/_search")
