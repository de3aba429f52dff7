"""The token that all calls of a client share: requested once for all of them, renewed ahead of its end, replaced if refused.

Callers may be a thousand threads or tasks. Whoever finds the token about to end renews it, while the others use it as long as it
lasts. Only where there is no usable token do callers wait for the one that requests it, and share what became of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from praxis_client._flow import Alone, Answer, Flow, Pause, Request, Send
from praxis_client.credentials import Credentials
from praxis_client.errors import PraxisError, TokenRefused, read_refusal, read_token_refusal
from praxis_client.retries import Attempts, Retries, never

_margin_seconds_max = 60.0
"""A token is renewed so long before its end, or in the last tenth of its time, whichever is shorter."""
_renewal_pause_seconds = 10.0
"""Time between two renewals of a token that still lasts, if the first one fails."""


@dataclass(frozen=True)
class Token:
    """An access token, with times of the client's clock."""

    value: str = field(repr=False)
    renew_at: float
    ends_at: float


class TokenKeeper:
    """Keeps the token of some credentials. ``lock`` is that of the driver."""

    def __init__(
        self, credentials: Credentials, base: str, lock: Any, clock: Callable[[], float], retries: Retries
    ) -> None:
        self.credentials = credentials
        self._base = base
        self._lock = lock
        self._clock = clock
        self._retries = retries
        self._token: Token | None = None
        self._refresh_token: str | None = None
        self._token_url: str | None = None
        self._failures = 0
        self._failure: PraxisError | None = None

    def find_token(self) -> Flow[Token]:
        """Return a token that lasts. Raise TokenRefused or Unreachable if there is none to be had."""
        token = self._token
        now = self._clock()
        if token is None or now >= token.ends_at:
            return (yield from self._replace(token))
        if now >= token.renew_at:
            renewed: Token | None = yield Alone(self._lock, lambda: self._renew_early(token), waits=False)
            return token if renewed is None else renewed
        return token

    def replace_refused(self, token: Token) -> Flow[Token]:
        """Return another token than one that a call was refused with (401)."""
        return (yield from self._replace(token))

    def _replace(self, known: Token | None) -> Flow[Token]:
        failures = self._failures
        token: Token = yield Alone(self._lock, lambda: self._replace_alone(known, failures), waits=True)
        return token

    def _replace_alone(self, known: Token | None, failures: int) -> Flow[Token]:
        current = self._find_other(known)
        if current is not None and self._clock() < current.ends_at:
            return current
        if self._failure is not None and self._failures != failures:
            raise self._failure  # of the request that this caller has waited for
        try:
            return (yield from self._request(self._retries))
        except PraxisError as failure:
            self._failures += 1
            self._failure = failure
            raise

    def _renew_early(self, known: Token) -> Flow[Token]:
        current = self._find_other(known)
        if current is not None:
            return current
        try:
            return (yield from self._request(never))
        except PraxisError:
            self._token = replace(known, renew_at=self._clock() + _renewal_pause_seconds)
            return known

    def _find_other(self, known: Token | None) -> Token | None:
        """Return the token that somebody else has got meanwhile, if there is one."""
        current = self._token
        is_same = current is None or (known is not None and current.value == known.value)
        return None if is_same else current

    def _request(self, retries: Retries) -> Flow[Token]:
        url = yield from self._find_token_url(retries)
        if self._refresh_token is not None:
            try:
                return (yield from self._request_at(url, retries))
            except TokenRefused as refusal:
                if refusal.error != "invalid_grant":
                    raise
                self._refresh_token = None
        return (yield from self._request_at(url, retries))

    def _request_at(self, url: str, retries: Retries) -> Flow[Token]:
        headers = {"content-type": "application/x-www-form-urlencoded", "x-api-key": self.credentials.api_key}
        attempts = Attempts(retries, self._clock, is_repeatable=True)
        while True:
            began = self._clock()
            # Made anew for each attempt: an assertion is taken once.
            form = self.credentials.build_form(url, self._refresh_token)
            try:
                answer = yield Send(Request("POST", url, headers, urlencode(form).encode(), label="token request"))
                return self._keep(_read_token(answer), began)
            except PraxisError as failure:
                pause = attempts.pause_after(failure)
                if pause is None:
                    raise
            yield Pause(pause)

    def _keep(self, body: dict[str, Any], began: float) -> Token:
        """Keep a new token. Its time runs from the request on, so that it never lasts longer than it seems to."""
        try:
            lifetime = float(body["expires_in"])
        except (KeyError, TypeError, ValueError):
            lifetime = self.credentials.lifetime
        margin = min(_margin_seconds_max, lifetime / 10)
        token = Token(body["access_token"], renew_at=began + lifetime - margin, ends_at=began + lifetime)
        self._refresh_token = body.get("refresh_token")
        self._token = token
        self._failure = None
        return token

    def _find_token_url(self, retries: Retries) -> Flow[str]:
        if self._token_url is None:
            self._token_url = self.credentials.find_token_url(self._base) or (yield from self._discover(retries))
        return self._token_url

    def _discover(self, retries: Retries) -> Flow[str]:
        url = f"{self._base}/.well-known/smart-configuration"
        request = Request("GET", url, {"accept": "application/json"}, label="discovery")
        attempts = Attempts(retries, self._clock, is_repeatable=True)
        while True:
            try:
                answer = yield Send(request)
                if answer.status != 200:
                    raise read_refusal(request, answer)
                return self._read_endpoint(answer)
            except PraxisError as failure:
                pause = attempts.pause_after(failure)
                if pause is None:
                    raise
            yield Pause(pause)

    def _read_endpoint(self, answer: Answer) -> str:
        try:
            endpoint = str(answer.json()["token_endpoint"])
        except (KeyError, TypeError, ValueError):
            raise TokenRefused(answer.status, "no-discovery-document", "it names no token_endpoint", answer) from None
        if urlsplit(endpoint).scheme not in ("https", urlsplit(self._base).scheme):
            raise TokenRefused(answer.status, "endpoint-not-secure", "the secret would be sent without TLS", answer)
        return endpoint


def _read_token(answer: Answer) -> dict[str, Any]:
    if answer.status != 200:
        raise read_token_refusal(answer)
    try:
        body = answer.json()
        if isinstance(body["access_token"], str):
            return dict(body)
    except (KeyError, TypeError, ValueError):
        pass
    raise read_token_refusal(answer)
