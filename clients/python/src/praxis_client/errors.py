"""What can go wrong, as classes. Each error says in ``fix`` what to do, and in ``request_id`` how to find it in the log.

The classes follow docs/integrate/errors.md. ``code`` of a refusal is its error there, such as ``slot-taken``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from praxis_client._fixes import fix_for
from praxis_client._flow import Answer, Request

_alternative_url = "https://praxis.health/fhir/StructureDefinition/alternative"
_error_system = "https://praxis.health/fhir/CodeSystem/error"


class PraxisError(Exception):
    """Any error of this package."""

    fix: str = ""
    """What to do, in a sentence."""
    request_id: str | None = None
    """X-Request-Id of the answer. The operator finds the request in the log by it."""
    retry_after: float | None = None
    """Seconds after which the service asks to try again; None if it does not say."""


class Unreachable(PraxisError):
    """There is no answer: no connection, a connection that was lost, or a timeout."""

    fix = "Check the base URL and the network. Repeat a write with the same Idempotency-Key."

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent
        """Whether the service may have received the request."""


class AnswerTooLarge(PraxisError):
    """The answer is longer than this client reads."""

    fix = "Ask for less: a smaller _count, _elements, or fewer entries of a Bundle."


class UnexpectedAnswer(PraxisError):
    """The answer is a success and no JSON: it comes from a proxy, or from something else than the service."""

    fix = "Check the base URL, and which proxies are in between."

    def __init__(self, request: Request, answer: Answer) -> None:
        super().__init__(f"{request.label}: {answer.status} {answer.headers.get('content-type', '')}")
        self.request_id = answer.headers.get("x-request-id")


class ContentDamaged(PraxisError):
    """The downloaded file is not what the resource says: size or hash differ."""

    fix = "Download it again. If the error remains, tell the operator the reference of the resource."


class AwaitingReview(PraxisError):
    """The write is valid, and waits for the practice (202). Nothing is stored yet. Do not send it again."""

    fix = "Keep the id. $reconciliation?id=… tells what the practice has decided."

    def __init__(self, task: str, request_id: str | None) -> None:
        super().__init__(f"the write waits for the practice; its reconciliation id is {task}")
        self.task = task
        """Id of the Task, which is the reconciliation id."""
        self.request_id = request_id


class TokenRefused(PraxisError):
    """The token endpoint gives no token (RFC 6749 §5.2)."""

    def __init__(self, status: int, error: str, description: str, answer: Answer) -> None:
        super().__init__(f"no token: {status} {error}: {description}")
        self.status = status
        self.error = error
        """Such as ``invalid_client``."""
        self.description = description
        self.fix = fix_for(error, status)
        self.request_id = answer.headers.get("x-request-id")
        self.retry_after = read_retry_after(answer.headers)


class Refused(PraxisError):
    """The service answered with an error. The subclasses are the usual ones by status."""

    def __init__(self, request: Request, answer: Answer) -> None:
        outcome = _read_outcome(answer)
        issues = outcome.get("issue", [])
        self.status = answer.status
        self.outcome: Mapping[str, Any] = outcome
        """The OperationOutcome; empty if the answer came from something else than the service."""
        self.issues: Sequence[Mapping[str, Any]] = issues
        self.issue: Mapping[str, Any] = issues[0] if issues else {}
        """The first issue: ``diagnostics`` says what is wrong, ``expression`` where."""
        self.code = _read_code(self.issue)
        """The error as docs/integrate/errors.md lists it, such as ``slot-taken``; empty if the answer names none."""
        self.fix = fix_for(self.code, answer.status)
        self.request_id = answer.headers.get("x-request-id")
        self.retry_after = read_retry_after(answer.headers)
        said = " ".join(text for text in (self.code, self.issue.get("diagnostics", "")) if text)
        super().__init__(f"{request.label}: {answer.status} {said}".rstrip())


class BadRequest(Refused):
    """400: the request, the search or the resource is malformed."""


class Unauthorized(Refused):
    """401: the token or the API key is missing, wrong or expired. A new token was tried already."""


class Forbidden(Refused):
    """403: the practice did not authorise the application, or no access entry allows the call."""


class NotFound(Refused):
    """404: there is no such path or resource, or the application may not see it."""


class Conflict(Refused):
    """409: another change came first."""


@dataclass(frozen=True)
class Alternative:
    """A free slot, to be held or booked in place of another one."""

    slot: str
    """The reference, such as ``Slot/…``."""
    start: str
    end: str


class SlotTaken(Conflict):
    """409: the time is booked or held already. ``alternatives`` are free slots."""

    @property
    def alternatives(self) -> list[Alternative]:
        """Return free slots. There are none if the application may not search for slots."""
        return _alternatives_in(self.issues)


class Gone(Refused):
    """410: the resource is deleted, or the link has ended."""


class FeedEnded(Gone):
    """410: the place in the feed of changes is no longer valid. Delete the copy, clear the cursor and begin again."""


class PreconditionFailed(Refused):
    """412: the resource has a newer version, or ``If-None-Exist`` matches several."""


class TooLarge(Refused):
    """413 or 414: the body or the address is too long."""


class Unprocessable(Refused):
    """422: the request is well-formed and breaks an invariant or a rule."""


class RateLimited(Refused):
    """429: too many requests in this minute."""


class ServerError(Refused):
    """500 and above: the service cannot answer."""


class Unavailable(ServerError):
    """503: the service cannot answer now."""


_by_code: Mapping[str, type[Refused]] = {"slot-taken": SlotTaken, "feed-ended": FeedEnded}
_by_status: Mapping[int, type[Refused]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    413: TooLarge,
    414: TooLarge,
    422: Unprocessable,
    429: RateLimited,
    503: Unavailable,
}


def read_refusal(request: Request, answer: Answer) -> Refused:
    """Return the error that an answer is."""
    code = _read_code((_read_outcome(answer).get("issue") or [{}])[0])
    usual = ServerError if answer.status >= 500 else Refused
    return _by_code.get(code, _by_status.get(answer.status, usual))(request, answer)


def read_token_refusal(answer: Answer) -> TokenRefused:
    """Return the error that an answer of a token endpoint is."""
    body = _read_object(answer)
    error = body.get("error", "no-answer-of-a-token-endpoint")
    return TokenRefused(answer.status, str(error), str(body.get("error_description", "")), answer)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110 §10.2.3): a number, or a date seen from that of the answer."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    then = _read_date(text)
    now = _read_date(headers.get("date", "")) or datetime.now(timezone.utc)
    return None if then is None else max(0.0, (then - now).total_seconds())


def _read_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=timezone.utc)


def _read_object(answer: Answer) -> dict[str, Any]:
    try:
        body = json.loads(answer.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _read_outcome(answer: Answer) -> dict[str, Any]:
    body = _read_object(answer)
    return body if body.get("resourceType") == "OperationOutcome" else {}


def _read_code(issue: Mapping[str, Any]) -> str:
    codings = issue.get("details", {}).get("coding", [])
    return next((str(each.get("code", "")) for each in codings if each.get("system") == _error_system), "")


def _alternatives_in(issues: Sequence[Mapping[str, Any]]) -> list[Alternative]:
    extensions = [extension for issue in issues for extension in issue.get("extension", [])]
    named = [each["valueReference"] for each in extensions if each.get("url") == _alternative_url]
    return [Alternative(each["reference"], *each.get("display", "/").split("/", 1)) for each in named]
