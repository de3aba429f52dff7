"""What the tests have in common: practices of their own at a real service, and its clock."""

from __future__ import annotations

import json
import os
import random
import urllib.request
from typing import Any

import httpx

from praxis_client import AsyncClient, Client, ClientCredentials, PasswordGrant
from praxis_client._drivers import connection_limits

settings: dict[str, str] = json.loads(os.environ["PRAXIS_CLIENT_TEST"])


def order(name: str, **wishes: Any) -> Any:
    """Ask the program that runs the service for something."""
    request = urllib.request.Request(f"{settings['control']}/{name}", json.dumps(wishes).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class ServiceClock:
    """The time of the service and of a client: it stands still until somebody moves it, or sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        order("advance", seconds=seconds)
        self.seconds += seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


class Practice:
    """A practice, and an application that it has authorised."""

    def __init__(self, **wishes: Any) -> None:
        made = order("practice", **wishes)
        self.name: str = made["name"]
        self.base: str = made["base"]
        self.unreliable: str = made["unreliable"]
        self.credentials = ClientCredentials(**made["client"])
        self.password = PasswordGrant(**made["legacy"])

    def open(self, **options: Any) -> Client:
        return Client(options.pop("base", self.base), options.pop("credentials", self.credentials), **options)

    def open_async(self, **options: Any) -> AsyncClient:
        return AsyncClient(options.pop("base", self.base), options.pop("credentials", self.credentials), **options)


class Counter:
    """Counts what an httpx client sends, by kind: tokens, discovery and calls."""

    def __init__(self) -> None:
        self.tokens = 0
        self.discoveries = 0
        self.calls = 0
        self.bodies: list[bytes] = []
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> None:
        self.requests.append(request)
        if request.url.path.endswith(("/token", "/grant")):
            self.tokens += 1
            self.bodies.append(request.content)
        elif "/.well-known/" in request.url.path:
            self.discoveries += 1
        else:
            self.calls += 1

    async def count_async(self, request: httpx.Request) -> None:
        self(request)

    def http(self) -> httpx.Client:
        return httpx.Client(event_hooks={"request": [self]}, limits=connection_limits)

    def http_async(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(event_hooks={"request": [self.count_async]}, limits=connection_limits)


def patient(family: str) -> dict[str, Any]:
    """A small valid Patient."""
    return {"resourceType": "Patient", "name": [{"family": family}], "birthDate": "1990-12-10"}


def seeded(row: int = 0) -> random.Random:
    """A row of random numbers that is the same each time."""
    return random.Random(20261121 + row)
