"""Following changes: everything is told, in order, and a program that is killed goes on where it was."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import httpx
from support import Counter, Practice, order, patient, seeded

from praxis_client import (
    BadRequest,
    Change,
    Client,
    ClientCredentials,
    FeedEnded,
    FileCursor,
    Forbidden,
    MemoryCursor,
    NotFound,
)
from praxis_client.r4 import Patient

kills = int(os.environ.get("FOLLOWER_KILLS", "6"))
writers = int(os.environ.get("FOLLOWER_WRITERS", "2"))
page_size = 7
"""Changes of a page of follower.py."""


class Following(unittest.TestCase):
    def setUp(self) -> None:
        self.practice = Practice(patients=8)
        self.counter = Counter()
        http = self.counter.http()
        self.addCleanup(http.close)
        self.client = self.practice.open(http=http)

    def test_an_application_that_may_search_nothing_has_no_feed(self) -> None:
        with Practice(entries=["acl/pat_c"]).open() as client, self.assertRaises(Forbidden):
            next(client.follow())

    def test_a_cursor_of_another_feed_is_refused(self) -> None:
        order("settle")
        cursor = MemoryCursor()
        list(self.client.follow(cursor, ["Patient"], wait=None))
        with Practice(patients=1).open() as other, self.assertRaises(ValueError):
            next(other.follow(cursor, ["Patient"]))
        place = str(cursor.load())
        cursor.save(place.replace("since=c", "since=cx"))
        with self.assertRaises(BadRequest) as caught:
            next(self.client.follow(cursor, ["Patient"]))
        self.assertEqual(caught.exception.code, "cursor-invalid")

    def test_the_copy_is_complete_then_come_its_changes(self) -> None:
        order("settle")
        cursor = MemoryCursor()
        copy = {change.id: change.resource for change in self.client.follow(cursor, [Patient], count=3, wait=None)}
        self.assertEqual(len(copy), 8)
        self.assertEqual(list(self.client.follow(cursor, [Patient], count=3, wait=None)), [])
        made = self.client.create(patient("Changed"))
        self.client.update("Patient", made["id"], lambda draft: {**draft, "gender": "other"})
        self.client.delete("Patient", made["id"])
        order("settle")
        changes = list(self.client.follow(cursor, [Patient], count=3, wait=None))
        self.assertEqual([change.reference for change in changes], [f"Patient/{made['id']}"] * 3)
        self.assertEqual([change.is_deleted for change in changes], [False, False, True])
        self.assertIsNone(changes[2].resource)

    def test_a_page_that_is_not_worked_off_comes_again(self) -> None:
        order("settle")
        cursor = MemoryCursor()
        first = []
        for change in self.client.follow(cursor, ["Patient"], count=5, wait=None):
            first.append(change.id)
            if len(first) == 7:
                break
        again = [change.id for change in self.client.follow(cursor, ["Patient"], count=5, wait=None)]
        self.assertEqual(again[:2], first[5:])
        self.assertEqual(len(set(first + again)), 8)

    def test_a_change_wakes_who_waits(self) -> None:
        order("settle")
        cursor = MemoryCursor()
        list(self.client.follow(cursor, ["Patient"], wait=None))
        before = self.counter.calls
        told: list[Change] = []
        waiting = threading.Thread(target=lambda: told.append(next(self.client.follow(cursor, ["Patient"], wait=30))))
        waiting.start()
        with self.practice.open() as another:
            made = another.create(patient("Awaited"))
        waiting.join(60)
        self.assertEqual([change.id for change in told], [made["id"]])
        self.assertEqual(self.counter.calls - before, 1, "one request has waited")

    def test_a_follower_whose_rights_change_begins_again(self) -> None:
        order("settle")
        with tempfile.TemporaryDirectory() as directory:
            cursor = FileCursor(Path(directory, "cursor"))
            self.assertEqual(len(list(self.client.follow(cursor, ["Patient"], wait=None))), 8)
            order("narrow", practice=self.practice.name, entries=["acl/pat_s", "acl/pat_r"])
            with self.assertRaises(FeedEnded) as caught:
                next(self.client.follow(cursor, ["Patient"], wait=None))
            self.assertEqual(caught.exception.code, "feed-ended")
            cursor.clear()
            order("settle")
            self.assertEqual(len(list(self.client.follow(cursor, ["Patient"], wait=None))), 8)

    def test_a_store_of_coroutines(self) -> None:
        order("settle")

        class Store:
            places: list[str] = []  # noqa: RUF012

            async def load(self) -> str | None:
                await asyncio.sleep(0)
                return self.places[-1] if self.places else None

            async def save(self, place: str) -> None:
                await asyncio.sleep(0)
                self.places.append(place)

        async def follow() -> tuple[int, int]:
            async with self.practice.open_async() as client:
                first = [change async for change in client.follow(Store(), ["Patient"], count=5, wait=None)]
                second = [change async for change in client.follow(Store(), ["Patient"], count=5, wait=None)]
                return len(first), len(second)

        self.assertEqual(asyncio.run(follow()), (8, 0))
        self.assertEqual(len(Store.places), 3)


class Hasty(unittest.TestCase):
    def test_empty_pages_that_come_at_once_are_asked_for_once_a_second(self) -> None:
        link = "https://praxis.example/pm/fhir/v2/$changes?since=1"
        page = {"resourceType": "Bundle", "type": "history", "link": [{"relation": "next", "url": link}]}
        seconds = [0.0]
        slept: list[float] = []

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/token"):
                return httpx.Response(200, json={"access_token": "t", "expires_in": 900})
            seconds[0] += 0.25
            return httpx.Response(200, json=page) if seconds[0] < 1 else httpx.Response(404)

        http = httpx.Client(transport=httpx.MockTransport(answer))
        self.addCleanup(http.close)
        credentials = ClientCredentials("k", "i", "s", token_url="https://praxis.example/token")
        base = "https://praxis.example/pm/fhir/v2"
        client = Client(base, credentials, http=http, clock=lambda: seconds[0], sleep=slept.append)
        with self.assertRaises(NotFound):
            next(client.follow(types=["Patient"], wait=30))
        self.assertEqual(slept, [0.75, 0.75, 0.75])


class Killed(unittest.TestCase):
    """A follower is killed again and again while others write."""

    def setUp(self) -> None:
        self.practice = Practice()
        self.versions: dict[str, int] = {}
        self.ended = threading.Event()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def write(self, writer: int) -> None:
        random = seeded(writer)
        versions: dict[str, int] = {}
        number = 0
        with self.practice.open() as client:
            while not self.ended.wait(0.02 * writers):
                number += 1
                if number % 3 > 0:
                    versions[client.create(patient(f"Told {writer} {number}"))["id"]] = 1
                    continue
                id = random.choice([*versions])
                renamed = [{"text": f"Told {writer} {number}"}]
                client.update("Patient", id, lambda draft, name=renamed: {**draft, "name": name})
                versions[id] += 1
        self.versions.update(versions)

    def test_it_misses_nothing(self) -> None:
        random = seeded()
        given = self.practice.credentials
        copy = self.directory / "copy"
        words = [self.practice.base, given.api_key, given.client_id, given.client_secret]
        program = [sys.executable, str(Path(__file__).with_name("follower.py")), *words]
        program += [str(self.directory / "cursor"), str(copy)]
        threads = [threading.Thread(target=self.write, args=(writer,)) for writer in range(writers)]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as follower:
                for _ in range(random.randint(1, 4)):
                    follower.stdout.readline()
                time.sleep(random.uniform(0, 0.05))
                follower.kill()
            self.assertEqual(follower.returncode, -signal.SIGKILL)
            order("advance", seconds=61)  # a minute of its own for each, so that the rate limit stops nobody
        self.ended.set()
        for thread in threads:
            thread.join()
        order("settle")
        subprocess.run([*program, "end"], check=True, stdout=subprocess.PIPE, timeout=120)
        last: dict[str, int] = {}
        repeated = 0
        for id, version in (line.split() for line in copy.read_text("utf-8").splitlines()):
            repeated += last.get(id, 0) >= int(version)
            last[id] = max(last.get(id, 0), int(version))
        self.assertGreater(len(self.versions), 10)
        self.assertEqual(last, self.versions)
        self.assertLessEqual(repeated, kills * page_size, "only a page in hand comes again")


class Files(unittest.TestCase):
    def test_a_cursor_is_kept_as_a_whole_and_for_its_owner(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "cursor")
            cursor = FileCursor(path)
            self.assertIsNone(cursor.load())
            cursor.save("https://example.com/a")
            cursor.save("https://example.com/b")
            self.assertEqual(FileCursor(str(path)).load(), "https://example.com/b")
            self.assertEqual(os.listdir(directory), ["cursor"])
            self.assertEqual(path.stat().st_mode & 0o077, 0)
            cursor.clear()
            cursor.clear()
            self.assertIsNone(cursor.load())
