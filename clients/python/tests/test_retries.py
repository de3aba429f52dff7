"""What is sent again, when and how often: through a network that loses requests and answers, and at the limit of a rate."""

from __future__ import annotations

import contextlib
import socket
import threading
import unittest

import httpx
from support import Counter, Practice, ServiceClock, order, patient

from praxis_client import (
    AnswerTooLarge,
    BadRequest,
    Client,
    ClientCredentials,
    RateLimited,
    Refused,
    Retries,
    TokenRefused,
    UnexpectedAnswer,
    Unprocessable,
    Unreachable,
)
from praxis_client._flow import Answer, Request
from praxis_client.errors import read_refusal, read_retry_after
from praxis_client.retries import Attempts, never

quick = Retries(first_pause=0.001, longest_pause=0.002)


def refusal_of(status: int, **headers: str) -> Refused:
    return read_refusal(Request("GET", "http://x", label="GET x"), Answer(status, headers, b"<html>"))


class Decisions(unittest.TestCase):
    """What is decided of each failure, without a network."""

    def pauses(self, *failures: Exception, is_repeatable: bool = True, **limits: float) -> list[float | None]:
        clock = ServiceClock()
        attempts = Attempts(Retries(**limits), clock, is_repeatable=is_repeatable)
        return [attempts.pause_after(failure) for failure in failures]

    def test_what_the_same_request_gets_again_is_not_repeated(self) -> None:
        for status in (400, 401, 403, 404, 409, 410, 412, 413, 422, 501):
            self.assertEqual(self.pauses(refusal_of(status)), [None], status)
        token = TokenRefused(401, "invalid_client", "", Answer(401, {}, b""))
        self.assertEqual(self.pauses(token), [None])

    def test_what_may_have_had_an_effect_is_not_repeated_without_a_key(self) -> None:
        lost, unsent = Unreachable("x", was_sent=True), Unreachable("x", was_sent=False)
        for failure in (lost, refusal_of(500), refusal_of(503, **{"retry-after": "1"})):
            self.assertEqual(self.pauses(failure, is_repeatable=False), [None])
        self.assertNotIn(None, self.pauses(unsent, is_repeatable=False))
        self.assertEqual(self.pauses(refusal_of(429, **{"retry-after": "1"}), is_repeatable=False), [1.0])

    def test_retry_after_is_obeyed_as_it_is(self) -> None:
        for status in (409, 429, 503):
            self.assertEqual(self.pauses(refusal_of(status, **{"retry-after": "7"})), [7.0])

    def test_the_time_is_bounded(self) -> None:
        wait = refusal_of(503, **{"retry-after": "25"})
        self.assertEqual(self.pauses(wait, wait, wait), [25.0, 25.0, None])
        self.assertEqual(self.pauses(wait, total_seconds=24), [None])

    def test_attempts_are_bounded(self) -> None:
        lost = Unreachable("x", was_sent=True)
        pauses = self.pauses(*[lost] * 10, total_seconds=1_000)
        self.assertEqual([pause is None for pause in pauses], [False] * 9 + [True])
        for number, pause in enumerate(pauses[:-1]):
            longest = min(15, 0.5 * 2**number)
            self.assertTrue(longest / 2 <= (pause or 0) <= longest, pauses)
        self.assertEqual([pause is None for pause in self.pauses(*[refusal_of(500)] * 3)], [False, False, True])

    def test_a_date_is_seen_from_that_of_the_answer(self) -> None:
        headers = {"date": "Sat, 21 Nov 2026 09:30:00 GMT", "retry-after": "Sat, 21 Nov 2026 09:30:09 GMT"}
        self.assertEqual(read_retry_after(headers), 9.0)
        self.assertEqual(read_retry_after({**headers, "retry-after": "Sat, 21 Nov 2026 09:29:00 GMT"}), 0.0)
        for nonsense in ("", "soon", "-5", "1e9", "٣"):
            self.assertIsNone(read_retry_after({"retry-after": nonsense}))

    def test_an_answer_that_is_none_of_the_service_is_an_error_all_the_same(self) -> None:
        refusal = refusal_of(502)
        self.assertEqual((refusal.code, refusal.issue, refusal.fix), ("", {}, "Report the request_id to the operator."))
        self.assertEqual(str(refusal), "GET x: 502")
        self.assertIn("proxy", refusal_of(302).fix)


class Strangers(unittest.TestCase):
    def test_a_page_of_a_proxy_is_no_answer(self) -> None:
        """The sign-in page of a network, for instance: here the page of the service about itself."""
        practice = Practice()
        origin = "/".join(practice.base.split("/")[:3])
        with practice.open(base=origin) as client, self.assertRaises((Refused, TokenRefused)):
            client.count("Patient")

        def lead_astray(request: httpx.Request) -> None:
            if request.url.path.endswith("/_search"):
                request.method, request.url = "GET", httpx.URL(origin)
                request.headers["accept"] = "text/html"

        http = httpx.Client(event_hooks={"request": [lead_astray]})
        with http, practice.open(http=http) as client, self.assertRaises(UnexpectedAnswer) as caught:
            client.count("Patient")
        self.assertEqual(str(caught.exception), "POST Patient/_search: 200 text/html; charset=utf-8")


class Limits(unittest.TestCase):
    """Answers without an end, from a program that is none of the service."""

    def setUp(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(65_536)
                    connection.sendall(head)
                    while True:
                        connection.sendall(b"10000\r\n" + bytes(65_536) + b"\r\n")

    def test_an_answer_without_an_end_is_given_up(self) -> None:
        base = f"http://127.0.0.1:{self.listener.getsockname()[1]}/sandbox/firm/a/pm/fhir/v2"
        credentials = ClientCredentials("key", "id", "secret")
        with Client(base, credentials, retries=never, answer_bytes_max=1_000_000) as client:
            self.assertRaises(AnswerTooLarge, client.count, "Patient")
        with Client(base, credentials, retries=never, answer_seconds_max=0) as client:
            with self.assertRaises(Unreachable) as caught:
                client.count("Patient")
        self.assertEqual(str(caught.exception), "discovery: the answer takes too long")


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice()
        cls.client = cls.practice.open(base=cls.practice.unreliable, retries=quick)
        cls.addClassCleanup(cls.client.close)
        cls.client.count("Patient")  # the token does not go through the proxy, its discovery does

    def test_a_network_that_stays_down(self) -> None:
        order("mishaps", next=["request-lost"] * 10)
        with self.assertRaises(Unreachable) as caught:
            self.client.count("Patient")
        self.assertIn("POST Patient/_search: ", str(caught.exception))

    def test_a_write_whose_answer_is_lost_has_one_effect(self) -> None:
        for number, mishap in enumerate(["answer-lost", "request-lost", "sent-twice", "late"]):
            order("mishaps", next=[mishap, mishap])
            made = self.client.create(patient(f"Lost{number}"))
            self.assertEqual(made["meta"]["versionId"], "1")
            self.assertEqual(self.client.count("Patient", {"family": f"Lost{number}"}), 1)

    def test_an_update_whose_answer_is_lost_is_no_conflict(self) -> None:
        made = self.client.create(patient("Updated"))
        order("mishaps", next=["none", "answer-lost"])
        stored = self.client.update("Patient", made["id"], lambda draft: {**draft, "gender": "other"})
        self.assertEqual((stored["gender"], stored["meta"]["versionId"]), ("other", "2"))

    def test_pages_go_on_where_the_network_fails(self) -> None:
        for number in range(6):
            self.client.create(patient(f"Paged{number}"))
        order("mishaps", next=["answer-lost", "none", "request-lost", "answer-lost"])
        found = [each["id"] for each in self.client.search("Patient", {"family": "Paged", "_count": 2})]
        self.assertEqual(len(set(found)), 6)

    def test_a_key_of_ones_own_works_in_another_process(self) -> None:
        first = self.client.create(patient("Keyed"), key='morning "run" 1')
        with self.practice.open() as another:
            self.assertEqual(another.create(patient("Keyed"), key='morning "run" 1'), first)
            self.assertEqual(another.find_outcome('morning "run" 1')["outcome"], "done")
            self.assertEqual(another.find_outcome("morning run 2"), {"outcome": "none"})
            with self.assertRaises(Unprocessable) as caught:
                another.create(patient("Other"), key='morning "run" 1')
        self.assertEqual(caught.exception.code, "key-reused")

    def test_a_refused_write_is_sent_once(self) -> None:
        counter = Counter()
        with counter.http() as http, self.practice.open(http=http) as client, self.assertRaises(BadRequest):
            client.create({**patient("Bad"), "hobby": "chess"})
        self.assertEqual(counter.calls, 1)


class Rate(unittest.TestCase):
    def test_the_rest_of_the_minute_is_waited_for_or_told(self) -> None:
        practice, clock, counter = Practice(), ServiceClock(), Counter()
        with counter.http() as http, practice.open(http=http, clock=clock, sleep=clock.sleep) as client:
            # Each costs ten of the 1,250 requests of a minute, and the token one.
            for _ in range(124):
                next(client.booking.find("NONE"), None)
            before = counter.calls
            patience = Retries(total_seconds=1)
            with practice.open(clock=clock, sleep=clock.sleep, retries=patience) as hasty:
                with self.assertRaises((RateLimited, TokenRefused)) as caught:
                    for _ in range(10):
                        next(hasty.booking.find("NONE"), None)
            self.assertGreater(caught.exception.retry_after or 0, 1)
            self.assertEqual(clock.slept, [])
            self.assertIsNone(next(client.booking.find("NONE"), None))
            self.assertEqual((clock.slept, counter.calls - before), ([caught.exception.retry_after], 2))
