"""Files: uploaded, named, downloaded, and compared with what the resource says. Denials first."""

from __future__ import annotations

import base64
import unittest

import httpx
from support import Counter, Practice, patient

from praxis_client import (
    Client,
    ClientCredentials,
    Conflict,
    ContentDamaged,
    Refused,
    Retries,
    Unreachable,
    reference_to,
)
from praxis_client._documents import _checked

letter = b"Dear colleague,\nthank you for sending this patient.\n"


class Damage(unittest.TestCase):
    def test_a_file_that_differs_is_damaged(self) -> None:
        sha1 = base64.b64encode(bytes(20)).decode()
        for attachment in ({"size": 3}, {"size": 2, "hash": sha1}, {"hash": base64.b64encode(bytes(32)).decode()}):
            with self.assertRaises(ContentDamaged):
                _checked(b"ab", attachment)
        self.assertEqual(_checked(b"ab", {}), b"ab")


class OtherPlaces(unittest.TestCase):
    """What answers name as the URL of a file is asked for at the service alone."""

    def open(self, base: str, url: str) -> tuple[Client, list[str]]:
        hosts: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            hosts.append(str(request.url.host))
            if request.url.path.endswith("/token"):
                return httpx.Response(200, json={"access_token": "t", "expires_in": 900})
            if request.method == "POST":
                return httpx.Response(201, json={"parameter": [{"name": "url", "valueUrl": url}]})
            if request.url.path.endswith("/DocumentReference/1"):
                return httpx.Response(200, json={"content": [{"attachment": {"url": url}}]})
            return httpx.Response(200, content=b"a file")

        http = httpx.Client(transport=httpx.MockTransport(answer))
        self.addCleanup(http.close)
        credentials = ClientCredentials("k", "i", "s", token_url="https://praxis.example/token")
        return Client(base, credentials, http=http), hosts

    def test_no_other_place_is_asked(self) -> None:
        base = "https://praxis.example/b/firm/maple/pm/fhir/v2"
        urls = [
            "http://praxis.example/content/secret",
            "https://praxis.example:8443/content/secret",
            "https://praxis.example@other.example/secret",
            "https://other.example\\@praxis.example/secret",
            "https://praxis.example.other.example/secret",
            "https://169.254.169.254/secret",
            "//praxis.example/secret",
            "https://[secret",
            "",
        ]
        for url in urls:
            client, hosts = self.open(base, url)
            for call in (
                lambda client=client: client.documents.download("1"),
                lambda client=client: client.documents.upload(b"a file", "text/plain"),
            ):
                with self.subTest(url=url), self.assertRaises(ValueError) as caught:
                    call()
                self.assertNotIn("secret", str(caught.exception))
            self.assertEqual(set(hosts), {"praxis.example"}, url)
            self.assertEqual(len(hosts), 3, url)

    def test_the_same_place_may_be_written_otherwise(self) -> None:
        client, _ = self.open("https://praxis.example/pm/fhir/v2", "https://PRAXIS.example:443/content/1")
        self.assertEqual(client.documents.download("1"), b"a file")


class Denials(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice()
        cls.client = cls.practice.open()
        cls.addClassCleanup(cls.client.close)
        cls.someone = cls.client.create(patient("Filed"))

    def test_a_media_type_that_is_not_taken(self) -> None:
        with self.assertRaises(Refused):
            self.client.documents.upload(b"MZ", "application/x-msdownload")

    def test_content_of_another_type(self) -> None:
        with self.assertRaises(Refused) as caught:
            self.client.documents.upload(letter, "application/pdf")
        self.assertEqual((caught.exception.status, caught.exception.code), (415, "media-type-unsupported"))
        self.assertTrue(str(caught.exception).startswith("upload of a file: 415 "), str(caught.exception))

    def test_the_same_file_of_the_patient_is_a_duplicate(self) -> None:
        self.client.documents.file(self.someone, letter, "text/plain")
        with self.assertRaises(Conflict) as caught:
            self.client.documents.file(self.someone, letter, "text/plain")
        self.assertEqual(caught.exception.code, "duplicate")


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice()
        cls.counter = Counter()
        http = cls.counter.http()
        cls.addClassCleanup(http.close)
        cls.client = cls.practice.open(http=http)
        cls.someone = cls.client.create(patient("Filed"))

    def test_a_file_comes_back_as_it_was(self) -> None:
        content = b"%PDF-1.7\n" + bytes(range(256)) * 4_000
        filed = self.client.documents.file(
            self.someone, content, "application/pdf", title="Letter", document={"description": "To the surgeon"}
        )
        self.assertEqual(filed["description"], "To the surgeon")
        attachment = filed["content"][0]["attachment"]
        self.assertEqual((attachment["title"], attachment["size"]), ("Letter", len(content)))
        for named in (filed, reference_to(filed), filed["id"]):
            self.assertEqual(self.client.documents.download(named), content)

    def test_a_resource_of_ones_own_names_the_file(self) -> None:
        photo = b"\x89PNG\r\n\x1a\n" + bytes(100)
        attachment = self.client.documents.upload(photo, "image/png", title="Portrait")
        changed = self.client.update("Patient", self.someone["id"], lambda draft: {**draft, "photo": [attachment]})
        self.assertEqual(changed["photo"][0]["title"], "Portrait")

    def test_urls_of_files_get_no_credentials(self) -> None:
        before = len(self.counter.requests)
        self.client.documents.download(self.client.documents.file(self.someone, b"No credentials.", "text/plain"))
        requests = self.counter.requests[before:]
        bare = [request for request in requests if "/fhir/v2/" not in request.url.path]
        self.assertEqual([request.method for request in bare], ["PUT", "GET"])
        for request in bare:
            self.assertEqual({"authorization", "x-api-key"} & set(request.headers), set())

    def test_an_upload_whose_answer_is_lost_is_begun_anew(self) -> None:
        """A URL takes one file, so the second attempt has another one."""
        lost: list[str] = []

        def lose(response: httpx.Response) -> None:
            if response.request.method == "PUT" and len(lost) < 2:
                lost.append(str(response.request.url))
                raise httpx.ReadError("lost", request=response.request)

        http = httpx.Client(event_hooks={"response": [lose]})
        retries = Retries(first_pause=0.001, longest_pause=0.002)
        with http, self.practice.open(http=http, retries=retries) as client:
            filed = client.documents.file(self.someone, b"Sent again.", "text/plain")
            self.assertEqual(client.documents.download(filed), b"Sent again.")
        self.assertEqual(len(set(lost)), 2)

    def test_a_download_that_is_cut_is_repeated_and_ends(self) -> None:
        filed = self.client.documents.file(self.someone, b"Cut.", "text/plain")
        cuts = [0]

        def cut(response: httpx.Response) -> None:
            if "/fhir/v2/" not in response.request.url.path and cuts[0] > 0:
                cuts[0] -= 1
                raise httpx.ReadError("cut", request=response.request)

        http = httpx.Client(event_hooks={"response": [cut]})
        retries = Retries(first_pause=0.001, longest_pause=0.002)
        with http, self.practice.open(http=http, retries=retries) as client:
            client.count("Patient")  # the token is there
            cuts[0] = 1
            self.assertEqual(client.documents.download(filed), b"Cut.")
            cuts[0] = 10
            with self.assertRaises(Unreachable):
                client.documents.download(filed)
        self.assertEqual(cuts[0], 0)
