"""Reading, searching and writing records. Denials first."""

from __future__ import annotations

import json
import unittest
from decimal import Decimal
from typing import Any

import httpx
from support import Counter, Practice, order, patient

from praxis_client import (
    AwaitingReview,
    BadRequest,
    Batch,
    ExactFloat,
    Forbidden,
    Gone,
    NotFound,
    PreconditionFailed,
    Refused,
    Transaction,
    Unprocessable,
    read_parameter,
    reference_to,
)
from praxis_client._json import encode_json
from praxis_client.r4 import Observation, Patient


class Denials(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice(
            entries=[f"acl/{each}" for each in ("pat_c", "pat_r", "pat_s", "cov_c", "cov_r")], patients=1
        )
        cls.client = cls.practice.open()
        cls.addClassCleanup(cls.client.close)

    def test_an_access_entry_is_missing(self) -> None:
        with self.assertRaises(Forbidden) as caught:
            self.client.count("Appointment")
        refusal = caught.exception
        self.assertEqual((refusal.status, refusal.code), (403, "access-denied"))
        self.assertIn("acl/appmt_s", refusal.issue["diagnostics"])
        self.assertIn("diagnostics names it", refusal.fix)
        self.assertRegex(refusal.request_id or "", r"^\S+$")
        self.assertTrue(str(refusal).startswith("POST Appointment/_search: 403 access-denied "), str(refusal))

    def test_a_resource_that_is_not_there(self) -> None:
        with self.assertRaises(NotFound) as caught:
            self.client.read("Patient", "nobody")
        self.assertEqual(caught.exception.code, "resource-not-found")

    def test_a_search_parameter_that_is_none(self) -> None:
        with self.assertRaises(BadRequest) as caught:
            list(self.client.search("Patient", {"hobby": "chess"}))
        self.assertEqual((caught.exception.code, caught.exception.issue["expression"]), ("search-invalid", ["hobby"]))

    def test_an_element_that_is_none(self) -> None:
        with self.assertRaises(BadRequest) as caught:
            self.client.create({**patient("Stone"), "hobby": "chess"})
        self.assertEqual(caught.exception.code, "resource-invalid")

    def test_what_is_no_type_or_id_is_not_sent(self) -> None:
        for call in (
            lambda: self.client.read("patient/..", "1"),
            lambda: self.client.read("Patient", "../Observation/1"),
            lambda: self.client.read("Patient", ""),
            lambda: self.client.read("Patient", "1", version="a/b"),
            lambda: self.client.create({"name": []}),
            lambda: self.client.replace(patient("Stone")),
            lambda: self.client.delete("Patient", "1?x=y"),
            lambda: self.client.get_operation("Patient/../../../../x"),
            lambda: next(self.client.list("/etc")),
            lambda: reference_to(patient("Stone")),
        ):
            with self.assertRaises(ValueError):
                call()

    def test_a_write_that_waits_for_the_practice_is_no_success(self) -> None:
        order("review", practice=self.practice.name, type="Coverage")
        [someone] = self.client.search("Patient")
        coverage = {
            "resourceType": "Coverage",
            "status": "active",
            "beneficiary": {"reference": reference_to(someone)},
            "payor": [{"display": "Example Insurance"}],
        }
        with self.assertRaises(AwaitingReview) as caught:
            self.client.create(coverage)
        told = self.client.get_operation("$reconciliation", {"id": caught.exception.task})
        self.assertEqual(told["resourceType"], "Parameters")


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice(patients=60)
        cls.counter = Counter()
        http = cls.counter.http()
        cls.addClassCleanup(http.close)
        cls.client = cls.practice.open(http=http)

    def test_pages_follow_each_other_and_no_parameter_stands_in_a_url(self) -> None:
        before = len(self.counter.requests)
        query = {"family": "stone", "_sort": "family", "_count": 25}
        families = [each["name"][0]["family"] for each in self.client.search("Patient", query)]
        self.assertEqual(families, [f"Stone{number:03}" for number in range(60)])
        urls = [str(request.url) for request in self.counter.requests[before:] if "/Patient" in request.url.path]
        self.assertEqual(len(urls), 3)
        self.assertEqual([url for url in urls if "stone" in url.lower()], [])

    def test_a_page_is_asked_for_when_it_is_needed(self) -> None:
        pages = self.client.search_pages("Patient", {"family": "stone", "_count": 10, "_total": "accurate"})
        before = self.counter.calls
        first = next(pages)
        self.assertEqual((first.total, len(first.resources), self.counter.calls - before), (60, 10, 1))
        self.assertIsNotNone(first.next)

    def test_lists_repeat_a_parameter(self) -> None:
        query = {"birthdate": ["ge1950-01-01", "lt1952-01-01"], "active:missing": True}
        self.assertEqual(self.client.count("Patient", query), 4)
        self.assertEqual(self.client.count("Patient", [("birthdate", "ge1950"), ("birthdate", "lt1951")]), 2)

    def test_included_resources_stand_apart(self) -> None:
        someone = self.client.create(patient("Included"))
        condition = {"resourceType": "Condition", "subject": {"reference": reference_to(someone)}}
        self.client.create(condition)
        query = {"subject": reference_to(someone), "_include": "Condition:subject"}
        [page] = self.client.search_pages("Condition", query)
        self.assertEqual([each["resourceType"] for each in page.resources], ["Condition"])
        self.assertEqual([each["id"] for each in page.included], [someone["id"]])
        everything = list(self.client.list(f"{reference_to(someone)}/$everything"))
        self.assertEqual({each["resourceType"] for each in everything}, {"Patient", "Condition"})

    def test_a_record_is_stored_read_changed_and_deleted(self) -> None:
        made = self.client.create(patient("Once"))
        self.assertEqual((made["meta"]["versionId"], self.client.read("Patient", made["id"])), ("1", made))
        replaced = self.client.replace({**made, "gender": "other"}, version="1")
        self.assertEqual(replaced["meta"]["versionId"], "2")
        with self.assertRaises(PreconditionFailed):
            self.client.replace({**made, "gender": "female"}, version="1")
        operations = [{"op": "replace", "path": "/gender", "value": "male"}]
        self.assertEqual(self.client.patch("Patient", made["id"], operations, version="2")["gender"], "male")
        self.assertEqual(self.client.read("Patient", made["id"], version="2")["gender"], "other")
        versions = [each["meta"]["versionId"] for each in self.client.history("Patient", made["id"])]
        self.assertEqual(versions, ["3", "2", "1"])
        self.client.delete("Patient", made["id"])
        with self.assertRaises(Gone) as caught:
            self.client.read("Patient", made["id"])
        self.assertEqual(caught.exception.code, "resource-deleted")

    def test_a_conditional_create_finds_what_is_there(self) -> None:
        first = self.client.create(patient("Unique"), if_none_exist={"family": "Unique"})
        second = self.client.create(patient("Unique"), if_none_exist={"family": "Unique"})
        self.assertEqual(first["id"], second["id"])

    def test_an_update_sends_what_differs_alone(self) -> None:
        made = self.client.create({**patient("Different"), "gender": "other", "language": "de"})

        def change(draft: dict[str, Any]) -> None:
            del draft["gender"]
            draft["language"] = "en"
            draft["active"] = True

        stored = self.client.update("Patient", made["id"], change)
        request = self.counter.requests[-1]
        self.assertEqual((request.method, request.headers["if-match"]), ("PATCH", 'W/"1"'))
        self.assertEqual(
            json.loads(request.content),
            [
                {"op": "remove", "path": "/gender"},
                {"op": "add", "path": "/language", "value": "en"},
                {"op": "add", "path": "/active", "value": True},
            ],
        )
        self.assertEqual((stored["language"], stored["active"], "gender" in stored), ("en", True, False))

    def test_an_update_loses_nothing_that_others_change_meanwhile(self) -> None:
        made = self.client.create(patient("Shared"))
        seen = []

        def rename(draft: dict[str, Any]) -> None:
            seen.append(draft["meta"]["versionId"])
            if len(seen) == 1:  # somebody else is faster
                self.client.patch("Patient", made["id"], [{"op": "add", "path": "/gender", "value": "other"}])
            draft["name"][0]["given"] = ["Ada"]

        stored = self.client.update("Patient", made["id"], rename)
        self.assertEqual(seen, ["1", "2"])
        self.assertEqual((stored["gender"], stored["name"][0]["given"]), ("other", ["Ada"]))
        self.assertEqual(self.client.update("Patient", made["id"], lambda draft: draft)["meta"]["versionId"], "3")

    def test_an_update_that_never_comes_first_ends(self) -> None:
        made = self.client.create(patient("Contended"))
        attempts = []

        def change(draft: dict[str, Any]) -> dict[str, Any]:
            attempts.append(draft)
            marks = [{"op": "add", "path": "/language", "value": ("de", "en")[len(attempts) % 2]}]
            self.client.patch("Patient", made["id"], marks)
            return {**draft, "gender": "other"}

        with self.assertRaises(PreconditionFailed):
            self.client.update("Patient", made["id"], change)
        self.assertEqual(len(attempts), 5)

    def test_decimals_keep_their_digits(self) -> None:
        someone = self.client.create(patient("Measured"))
        observation: Observation = {
            "resourceType": "Observation",
            "status": "final",
            "code": {"text": "Dose"},
            "subject": {"reference": reference_to(someone)},
            "valueQuantity": {"value": ExactFloat("1.10"), "unit": "mg"},
        }
        made = self.client.create(observation)
        self.assertEqual(made["valueQuantity"]["value"], 1.1)
        read = self.client.read(Observation, made["id"])
        self.client.replace({**read, "note": [{"text": "as told"}]})
        sent = self.counter.requests[-1].headers
        credentials = {name: sent[name] for name in ("authorization", "x-api-key")}
        stored = httpx.get(f"{self.practice.base}/Observation/{made['id']}", headers=credentials)
        self.assertIn(b'"value":1.10,', stored.content)
        self.assertIn(b"as told", stored.content)
        self.assertEqual(
            encode_json({"a": [Decimal("2.50"), 1.5, True, None, "ü"]}), b'{"a":[2.50,1.5,true,null,"\\u00fc"]}'
        )
        for nonsense in ("nan", "1_000", "01", "1.", "", "Infinity"):
            with self.assertRaises(ValueError):
                ExactFloat(nonsense)
        with self.assertRaises(ValueError):
            encode_json(float("nan"))

    def test_types_of_r4_are_names_of_types(self) -> None:
        made = self.client.create(patient("Typed"))
        typed: Patient = self.client.read(Patient, made["id"])
        self.assertEqual(typed["name"][0]["family"], "Typed")
        [found] = self.client.search(Patient, {"_id": made["id"]})
        self.assertEqual(found["id"], made["id"])

    def test_operations(self) -> None:
        told = self.client.get_operation("$effective-access", {"type": "Patient"})
        self.assertEqual(told["resourceType"], "Parameters")
        with self.assertRaises(Refused):
            self.client.get_operation("$nonsense")


class Bundles(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice()
        cls.client = cls.practice.open()
        cls.addClassCleanup(cls.client.close)

    def test_a_transaction_that_fails_leaves_nothing(self) -> None:
        transaction = Transaction()
        transaction.create(patient("Nothing"))
        transaction.create({"resourceType": "Observation", "status": "final"})
        with self.assertRaises((BadRequest, Unprocessable)):
            self.client.send(transaction)
        self.assertEqual(self.client.count("Patient", {"family": "Nothing"}), 0)

    def test_entries_of_a_transaction_refer_to_each_other(self) -> None:
        transaction = Transaction()
        who = transaction.create(patient("Linked"), if_none_exist={"family": "Linked"})
        what = transaction.create({"resourceType": "Condition", "subject": {"reference": who.reference}})
        answers = self.client.send(transaction)
        self.assertEqual([each.status for each in answers], [201, 201])
        condition = self.client.read("Condition", answers[what].id)
        self.assertEqual(condition["subject"]["reference"], f"Patient/{answers[who].id}")

    def test_each_entry_of_a_batch_stands_for_itself(self) -> None:
        made = self.client.create(patient("Batched"))
        batch = Batch()
        read = batch.read(reference_to(made))
        missing = batch.read("Patient/nobody")
        patched = batch.patch(reference_to(made), [{"op": "add", "path": "/gender", "value": "other"}], version="1")
        found = batch.search("Patient", {"family": "Batched"})
        gone = batch.delete(reference_to(self.client.create(patient("Deleted"))))
        replaced = batch.replace({**self.client.create(patient("Replaced")), "gender": "male"})
        answers = self.client.send(batch)
        self.assertEqual(len(answers), len(batch))
        refusal = answers[missing].refusal
        self.assertEqual((answers[missing].status, type(refusal), refusal.code), (404, NotFound, "resource-not-found"))
        self.assertEqual(answers[read].resource["id"], made["id"])
        self.assertEqual((answers[patched].status, answers[replaced].status), (200, 200))
        self.assertIn(answers[gone].status, (200, 204))
        self.assertEqual(answers[found].resource["resourceType"], "Bundle")
        self.assertEqual(self.client.read("Patient", made["id"])["gender"], "other")
        with self.assertRaises(NotFound):
            answers.raise_refusals()


class Parameters(unittest.TestCase):
    def test_values_are_read_by_name(self) -> None:
        parameters = {"parameter": [{"name": "a", "valueCode": "x"}, {"name": "b", "part": [{"name": "c"}]}]}
        self.assertEqual((read_parameter(parameters, "a"), read_parameter(parameters, "z")), ("x", None))
        self.assertEqual(read_parameter(parameters, "b"), [{"name": "c"}])
