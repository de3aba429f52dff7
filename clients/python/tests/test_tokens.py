"""Tokens: one for all callers, renewed ahead of its end, replaced when refused, by both flows. Denials first."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections import Counter as Counting
from collections.abc import Callable
from typing import Any

import httpx
from support import Counter, Practice, ServiceClock, order

from praxis_client import (
    Client,
    ClientAssertion,
    ClientCredentials,
    Forbidden,
    NotFound,
    PasswordGrant,
    Retries,
    TokenRefused,
    Unauthorized,
    Unreachable,
)
from praxis_client._flow import Answer, Request, Send
from praxis_client._tokens import Token

parallel = 1_000
"""Callers at once."""


def call_at_once(count: int, call: Callable[[], Any]) -> list[Any]:
    """Call in as many threads, all begun before the first one calls. Return what was returned or raised."""
    results: list[Any] = []
    gate = threading.Barrier(count)

    def work() -> None:
        gate.wait()
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Waiting:
    """A clock that stands still, and holds requests back until as many threads have asked it twice: before a call, and for its token."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._asked: Counting[int] = Counting()
        self._lock = threading.Lock()
        self._all = threading.Event()

    def __call__(self) -> float:
        with self._lock:
            self._asked[threading.get_ident()] += 1
            if sum(count >= 2 for count in self._asked.values()) == self._threads:
                self._all.set()
        return 0.0

    def hold_back(self, request: httpx.Request) -> None:
        self._all.wait(30)


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice(patients=1)

    def test_a_wrong_secret_is_told_to_all_who_wait_by_one_request(self) -> None:
        given, counter, waiting = self.practice.credentials, Counter(), Waiting(20)
        wrong = ClientCredentials(api_key=given.api_key, client_id=given.client_id, client_secret="wrong")
        http = httpx.Client(event_hooks={"request": [counter, waiting.hold_back]})
        with http, self.practice.open(credentials=wrong, http=http, clock=waiting) as client:
            errors = call_at_once(20, lambda: client.count("Patient"))
        self.assertEqual({type(error) for error in errors}, {TokenRefused})
        refusal = errors[0]
        self.assertEqual((refusal.status, refusal.error), (401, "invalid_client"))
        self.assertEqual(refusal.fix, "Check client id, client secret, API key and realm.")
        self.assertEqual((counter.discoveries, counter.tokens, counter.calls), (1, 1, 0))

    def test_a_key_of_the_other_flow_is_refused_after_one_new_token(self) -> None:
        counter = Counter()

        def mix_up(request: httpx.Request) -> None:
            if "authorization" in request.headers:
                request.headers["x-api-key"] = self.practice.password.api_key

        http = httpx.Client(event_hooks={"request": [counter, mix_up]})
        with http, self.practice.open(http=http) as client, self.assertRaises(Unauthorized) as caught:
            client.count("Patient")
        self.assertEqual(caught.exception.code, "credentials-invalid")
        self.assertIn("same flow", caught.exception.fix)
        self.assertEqual((counter.tokens, counter.calls), (2, 2))

    def test_a_practice_that_does_not_exist_is_forbidden_and_a_product_not_found(self) -> None:
        base = self.practice.base.replace(self.practice.name, "nowhere")
        with self.practice.open(base=base) as client, self.assertRaises(Forbidden) as caught:
            client.count("Patient")
        self.assertEqual(caught.exception.code, "firm-forbidden")
        with self.practice.open(base=self.practice.base.replace("/pm/", "/xy/")) as client:
            with self.assertRaises(NotFound) as missing:
                client.count("Patient")
        self.assertEqual(missing.exception.code, "path-unknown")

    def test_nobody_there(self) -> None:
        with self.practice.open(
            base="http://127.0.0.1:9/sandbox/firm/a/pm/fhir/v2", retries=Retries(attempts_max=1)
        ) as client:
            with self.assertRaises(Unreachable) as caught:
                client.count("Patient")
        self.assertEqual((str(caught.exception), caught.exception.was_sent), ("discovery: ConnectError", False))

    def test_a_base_url_that_is_none(self) -> None:
        for base in (
            "",
            "maple",
            "ftp://example.com/fhir/v2",
            "https://example.com/fhir/v2?x=1",
            "https://a:b@example.com/fhir/v2",
        ):
            with self.assertRaises(ValueError):
                Client(base, self.practice.credentials)

    def test_credentials_do_not_show_their_secrets(self) -> None:
        for credentials in (self.practice.credentials, self.practice.password):
            self.assertNotIn(credentials.api_key, repr(credentials))
        self.assertNotIn(self.practice.credentials.client_secret, repr(self.practice.credentials))
        self.assertNotIn(self.practice.password.password, repr(self.practice.password))


class OneForAll(unittest.TestCase):
    def setUp(self) -> None:
        self.practice = Practice(patients=1)
        self.clock = ServiceClock()
        self.counter = Counter()

    def test_a_thousand_threads_around_the_end_of_a_token_cause_one_request(self) -> None:
        with self.counter.http() as http, self.practice.open(http=http, clock=self.clock) as client:
            [first] = client.search("Patient")
            read = lambda: client.read("Patient", first["id"])["id"]  # noqa: E731
            self.assertEqual(self.counter.tokens, 1)
            self.clock.advance(839)
            self.assertEqual(set(call_at_once(10, read)), {first["id"]})
            self.assertEqual(self.counter.tokens, 1, "it is not renewed while it lasts for long")
            self.clock.advance(21)
            self.assertEqual(call_at_once(parallel, read), [first["id"]] * parallel)
            self.assertEqual(self.counter.tokens, 2, "ahead of the end")
            self.clock.advance(1_000)
            self.assertEqual(call_at_once(100, read), [first["id"]] * 100)
            self.assertEqual(self.counter.tokens, 3, "after the end")

    def test_a_thousand_tasks_around_the_end_of_a_token_cause_one_request(self) -> None:
        async def call() -> None:
            async with (
                self.counter.http_async() as http,
                self.practice.open_async(http=http, clock=self.clock) as client,
            ):
                [first] = [each async for each in client.search("Patient")]
                read = lambda: client.read("Patient", first["id"])  # noqa: E731
                for seconds, callers, tokens in ((860, 100, 2), (1_000, parallel, 3)):
                    self.clock.advance(seconds)
                    answers = await asyncio.gather(*(read() for _ in range(callers)))
                    self.assertEqual([each["id"] for each in answers], [first["id"]] * callers)
                    self.assertEqual(self.counter.tokens, tokens)

        asyncio.run(call())

    def test_a_token_that_ends_early_is_replaced_by_one_request(self) -> None:
        """The client's clock stands still, so each caller learns by a 401 that the token has ended."""
        with self.counter.http() as http, self.practice.open(http=http, clock=lambda: 0.0) as client:
            [first] = client.search("Patient")
            for tokens in (2, 3):
                order("advance", seconds=1_000)
                ids = call_at_once(100, lambda: client.read("Patient", first["id"])["id"])
                self.assertEqual(ids, [first["id"]] * 100)
                self.assertEqual(self.counter.tokens, tokens)

    def test_a_revoked_token_is_replaced_once(self) -> None:
        credentials = self.practice.credentials
        with self.counter.http() as http, self.practice.open(http=http, clock=self.clock) as client:
            client.count("Patient")
            token = self.counter.requests[-1].headers["authorization"].removeprefix("Bearer ")
            discovery = httpx.get(f"{self.practice.base}/.well-known/smart-configuration").json()
            httpx.post(
                discovery["revocation_endpoint"],
                data={"token": token},
                auth=(credentials.client_id, credentials.client_secret),
                headers={"x-api-key": credentials.api_key},
            ).raise_for_status()
            self.assertEqual(call_at_once(50, lambda: client.count("Patient")), [1] * 50)
        self.assertEqual(self.counter.tokens, 2)

    def test_a_renewal_ahead_of_the_end_that_fails_harms_nobody(self) -> None:
        with self.counter.http() as http:
            url = httpx.get(f"{self.practice.base}/.well-known/smart-configuration").json()["token_endpoint"]
            origin = "/".join(self.practice.base.split("/")[:3])
            unreliable = "/".join(self.practice.unreliable.split("/")[:3])
            given = self.practice.credentials
            credentials = ClientCredentials(
                api_key=given.api_key,
                client_id=given.client_id,
                client_secret=given.client_secret,
                token_url=url.replace(origin, unreliable),
            )
            with self.practice.open(http=http, clock=self.clock, credentials=credentials) as client:
                client.count("Patient")
                self.clock.advance(850)
                order("mishaps", next=["request-lost"])
                self.assertEqual([client.count("Patient") for _ in range(3)], [1, 1, 1])
                self.assertEqual(self.counter.tokens, 2, "the next attempt comes after a pause")
                self.clock.advance(11)
                self.assertEqual(client.count("Patient"), 1)
                self.assertEqual(self.counter.tokens, 3)

    def test_one_token_is_for_every_practice(self) -> None:
        other = Practice(patients=2)
        order("admit", practice=self.practice.name, to=other.name)
        with self.counter.http() as http, self.practice.open(http=http) as client:
            self.assertEqual((client.count("Patient"), client.at(other.base).count("Patient")), (1, 2))
            with self.assertRaises(ValueError):
                client.at("https://elsewhere.example.com/sandbox/firm/a/pm/fhir/v2")
        self.assertEqual(self.counter.tokens, 1)
        with self.practice.open(credentials=self.practice.password) as client, self.assertRaises(ValueError):
            client.at(other.base)


class Assertion(unittest.TestCase):
    def test_each_request_has_an_assertion_of_its_own(self) -> None:
        practice, clock, counter = Practice(patients=1), ServiceClock(), Counter()
        signed: list[str] = []

        def sign(audience: str) -> str:
            signed.append(order("sign", audience=audience, client=client_id))
            return signed[-1]

        client_id = order("keyed", practice=practice.name)
        credentials = ClientAssertion(api_key=practice.credentials.api_key, client_id=client_id, sign=sign)
        with counter.http() as http, practice.open(credentials=credentials, http=http, clock=clock) as client:
            self.assertEqual(client.count("Patient"), 1)
            clock.advance(1_000)
            self.assertEqual(client.count("Patient"), 1)
        self.assertEqual((counter.tokens, len(set(signed))), (2, 2))

    def test_fewer_entries(self) -> None:
        practice = Practice(patients=1)
        given = practice.credentials
        for scope, outcome in (("acl/pat_s", None), ("acl/appmt_s", Forbidden), ("acl/nonsense_s", TokenRefused)):
            narrow = ClientCredentials(given.api_key, given.client_id, given.client_secret, scope=scope)
            with practice.open(credentials=narrow) as client:
                if outcome is None:
                    self.assertEqual(client.count("Patient"), 1)
                else:
                    self.assertRaises(outcome, client.count, "Patient")


class Shown(unittest.TestCase):
    def test_what_a_debugger_shows_holds_no_secret(self) -> None:
        request = Request(
            "GET", "https://a.example/secret", {"authorization": "secret"}, b"secret", label="GET Patient"
        )
        for shown in (Token("secret", 1, 2), request, Send(request), Answer(200, {"etag": "1"}, b"secret")):
            self.assertNotIn("secret", repr(shown))
        self.assertIn("GET Patient", repr(request))


class Legacy(unittest.TestCase):
    def test_the_password_is_sent_once_and_the_token_refreshed(self) -> None:
        practice, clock, counter = Practice(patients=1), ServiceClock(), Counter()
        with counter.http() as http, practice.open(credentials=practice.password, http=http, clock=clock) as client:
            self.assertEqual(client.count("Patient"), 1)
            for seconds in (3_000, 600, 4_000):
                clock.advance(seconds)
                self.assertEqual(call_at_once(20, lambda: client.count("Patient")), [1] * 20)
            self.assertEqual(
                [body.split(b"&")[0] for body in counter.bodies],
                [
                    b"grant_type=password",
                    b"grant_type=refresh_token",
                    b"grant_type=refresh_token",
                ],
            )
            clock.advance(31 * 24 * 3_600)
            self.assertEqual(client.count("Patient"), 1)
            self.assertEqual(
                [body.split(b"&")[0] for body in counter.bodies[3:]],
                [b"grant_type=refresh_token", b"grant_type=password"],
            )

    def test_both_flows_open_the_same_records(self) -> None:
        practice = Practice(patients=3)
        found = []
        for credentials in (practice.password, practice.credentials):
            with practice.open(credentials=credentials) as client:
                found.append([each["id"] for each in client.search("Patient")])
        self.assertEqual(len(found[0]), 3)
        self.assertEqual(*found)

    def test_a_wrong_password(self) -> None:
        practice = Practice()
        wrong = PasswordGrant(practice.password.api_key, practice.password.username, "wrong")
        with practice.open(credentials=wrong) as client, self.assertRaises(TokenRefused) as caught:
            client.count("Patient")
        self.assertEqual((caught.exception.error, caught.exception.request_id is None), ("invalid_grant", False))
