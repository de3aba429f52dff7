"""The ways to get a token (docs/integrate/tokens.md). To move from one to another, replace this one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Credentials(Protocol):
    """What a token is requested with: ClientCredentials, ClientAssertion or PasswordGrant."""

    @property
    def api_key(self) -> str:
        """Value of ``x-api-key``, of the token request and of each call. Each flow has a key of its own."""

    @property
    def lifetime(self) -> float:
        """How long a token lasts, in seconds, if the answer does not say."""

    @property
    def is_for_all_practices(self) -> bool:
        """Whether one token opens every practice that authorised the application."""

    def find_token_url(self, base: str) -> str | None:
        """Return the token endpoint of a FHIR base URL; None if it is to be discovered."""

    def build_form(self, token_url: str, refresh_token: str | None) -> dict[str, str]:
        """Return the form to send. Called for each attempt; without refresh token if that was refused."""


@dataclass(frozen=True)
class ClientCredentials:
    """Client id and secret. The token is for every practice that authorised the application."""

    api_key: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    """Access entries, separated by spaces, to have fewer than the application has."""
    token_url: str | None = None
    """The token endpoint. Without it, the discovery document of the base URL names it."""
    lifetime: float = 300.0
    is_for_all_practices: ClassVar[bool] = True

    def find_token_url(self, base: str) -> str | None:
        """Return ``token_url``."""
        return self.token_url

    def build_form(self, token_url: str, refresh_token: str | None) -> dict[str, str]:
        """Return the form of RFC 6749 §4.4."""
        secret = {"client_id": self.client_id, "client_secret": self.client_secret}
        return _build_client_form(secret, self.scope)


@dataclass(frozen=True)
class ClientAssertion:
    """Client id and a key of your own in place of a secret (RFC 7523, SMART Backend Services)."""

    api_key: str = field(repr=False)
    client_id: str
    sign: Callable[[str], str]
    """Returns a new signed JWT for each call. It is given the audience, which is the token endpoint."""
    scope: str | None = None
    """Access entries, separated by spaces, to have fewer than the application has."""
    token_url: str | None = None
    """The token endpoint. Without it, the discovery document of the base URL names it."""
    lifetime: float = 300.0
    is_for_all_practices: ClassVar[bool] = True

    def find_token_url(self, base: str) -> str | None:
        """Return ``token_url``."""
        return self.token_url

    def build_form(self, token_url: str, refresh_token: str | None) -> dict[str, str]:
        """Return the form of RFC 7523 §2.2, with a new assertion."""
        assertion = {"client_assertion_type": _assertion_type, "client_assertion": self.sign(token_url)}
        return _build_client_form(assertion, self.scope)


@dataclass(frozen=True)
class PasswordGrant:
    """Username and password of one practice: the legacy flow, which will end (docs/integrate/move-from-legacy.md)."""

    api_key: str = field(repr=False)
    username: str
    password: str = field(repr=False)
    token_url: str | None = None
    """The token endpoint. Without it, it is that of the practice in the base URL."""
    lifetime: float = 3600.0
    """The answer does not say how long a token lasts; an hour is the usual time."""
    is_for_all_practices: ClassVar[bool] = False

    def find_token_url(self, base: str) -> str | None:
        """Return ``token_url``, or the endpoint beside the base URL (contract 4.1)."""
        return self.token_url or f"{base.removesuffix('/fhir/v2')}/ws/oauth2/grant"

    def build_form(self, token_url: str, refresh_token: str | None) -> dict[str, str]:
        """Return the form of a refresh (contract 4.2) if there is a refresh token, else that of the password."""
        if refresh_token is not None:
            return {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return {"grant_type": "password", "username": self.username, "password": self.password}


def _build_client_form(authentication: dict[str, str], scope: str | None) -> dict[str, str]:
    form = {"grant_type": "client_credentials", **authentication}
    return form if scope is None else {**form, "scope": scope}
