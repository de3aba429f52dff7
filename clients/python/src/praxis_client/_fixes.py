"""What to do about an error, by its code, else by its status. A test compares the codes with the tables of the service."""

from __future__ import annotations

from collections.abc import Mapping

_ask_less = "Do not repeat the request. Send the cheaper one that diagnostics names."
_ask_operator = "Report the request_id to the operator."
_correct = "Correct what diagnostics and expression of the issue name."
_correct_path = "Compare the path with your base URL and with the API reference."
_wait = "Wait for retry_after seconds, then repeat the request."

fixes: Mapping[str, str] = {
    # The data API.
    "access-denied": "An access entry is missing: diagnostics names it and who can grant it. Ask them.",
    "answer-too-large": "Send several Bundles with fewer entries.",
    "body-too-large": "Send less in one request: several Bundles, or a file by documents.upload.",
    "bundle-invalid": _correct,
    "bundle-too-large": "Send several Bundles with fewer entries.",
    "code-system-unknown": "Check the URL of the code system.",
    "code-unknown": "Check the code and its system.",
    "conflict": "Read the resource again and repeat the change.",
    "credentials-expired": "The token ends before it is used. Check the clock of this machine.",
    "credentials-invalid": "Use the API key that the token was requested with, of the same flow. Else ask the operator.",
    "credentials-missing": "A proxy may remove the headers Authorization and x-api-key. Let them pass.",
    "cursor-invalid": "Begin again with the first page.",
    "duplicate": "Use the record that the answer links to, if it has a link.",
    "expansion-too-costly": "Ask for a part of the value set: filter, or offset and count.",
    "export-ended": "Begin another export.",
    "feed-ended": "Delete your copy, clear the cursor and follow again from the beginning.",
    "firm-forbidden": "Check the name of the practice in the base URL. Ask the practice to authorise the application.",
    "header-invalid": _correct,
    "id-invalid": "Send an id of at most 64 letters, digits, hyphens and dots.",
    "input-invalid": _correct,
    "internal": _ask_operator,
    "invariant-broken": _correct,
    "json-malformed": _correct,
    "key-reused": "Send a new idempotency key with each new request.",
    "labels-too-many": "Ask for the $meta of one type or resource.",
    "legacy-ended": "Use ClientCredentials in place of PasswordGrant.",
    "legacy-paused": "Wait for retry_after seconds. Move to ClientCredentials: the password grant will end.",
    "link-ended": "Read the resource again: it gives a new URL. Request a new URL for an upload.",
    "media-type-unsupported": "Send one of the media types that diagnostics names.",
    "method-not-allowed": _correct_path,
    "method-unknown": _correct_path,
    "not-acceptable": "Ask for JSON.",
    "operation-parameter-invalid": _correct,
    "operation-unknown": _correct_path,
    "page-too-deep": "Follow the link next in place of page=N.",
    "patch-failed": "Read the resource and compare it with the paths of the patch.",
    "patch-invalid": _correct,
    "path-unknown": _correct_path,
    "precondition-failed": "Read the resource again and repeat the change. Make the search of if_none_exist narrower.",
    "profile-unknown": "Check the URL of the profile.",
    "range-invalid": "Ask for a range within the file.",
    "rate-exceeded": _wait,
    "request-malformed": _correct,
    "resource-deleted": "Remove your copy. history shows the versions before.",
    "resource-id-mismatch": "Let the id of the resource be that of the path.",
    "resource-invalid": "Correct the element that expression names. Use patch to change only some elements.",
    "resource-not-found": "Check the id. The application may also not see the resource.",
    "resource-type-mismatch": "Let resourceType be the type of the path.",
    "role-missing": "Ask an administrator who has the role.",
    "rule-broken": "Read diagnostics. docs/integrate/states.md lists the allowed transitions.",
    "search-invalid": "Correct the parameter that expression names. The API reference lists those of the type.",
    "search-parameter-unservable": _correct,
    "slot-missing": "Choose a slot by booking.find.",
    "slot-taken": "Offer the slots in alternatives.",
    "stale-access": _wait,
    "statement-timeout": "Narrow the search, then repeat it.",
    "too-costly": _ask_less,
    "type-unknown": _correct_path,
    "unavailable": _wait,
    "upgrade-required": "Open a websocket there.",
    "uri-too-long": "Search by POST, or ask in several searches.",
    "value-set-invalid": "Correct the definition of the value set.",
    "value-set-unknown": "Check the URL of the value set.",
    "xml-malformed": _correct,
    # The token endpoints.
    "invalid_client": "Check client id, client secret, API key and realm.",
    "invalid_grant": "Check username and password, and that they belong to this practice.",
    "invalid_request": "Check the fields of the credentials.",
    "invalid_scope": "Ask for entries that the application has.",
    "rate_exceeded": _wait,
    "server_error": _ask_operator,
    "temporarily_unavailable": _wait,
    "too_many_attempts": "Check the secret, then wait for retry_after seconds.",
    "unauthorized_client": "Use ClientCredentials: the password grant has ended, or the client may not use it.",
    "unsupported_grant_type": "Check the token URL: it is that of another flow.",
}

_by_status: Mapping[int, str] = {401: "Check the credentials.", 429: _wait, 503: _wait}


def fix_for(code: str, status: int) -> str:
    """Return what to do about an error: a sentence for any code and status."""
    known = fixes.get(code) or _by_status.get(status)
    if known is not None:
        return known
    return (
        _ask_operator if status >= 500 else "Read the body of the answer: it may come from a proxy before the service."
    )
