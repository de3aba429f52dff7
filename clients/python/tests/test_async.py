"""The client for asyncio: it has what the blocking one has, and does the same."""

from __future__ import annotations

import asyncio
import importlib.metadata
import inspect
import unittest

from support import Practice, patient

import praxis_client
from praxis_client import AsyncClient, Batch, Client, SlotTaken


class Parity(unittest.TestCase):
    def test_both_clients_have_the_same_methods_parameters_and_words(self) -> None:
        for blocking, other in (
            (Client, AsyncClient),
            (praxis_client.Booking, praxis_client.AsyncBooking),
            (praxis_client.Documents, praxis_client.AsyncDocuments),
        ):
            names = [name for name in vars(blocking) if not name.startswith("_")]
            self.assertEqual(names, [name for name in vars(other) if not name.startswith("_")])
            for name in names:
                first, second = vars(blocking)[name], vars(other)[name]
                self.assertTrue(inspect.getdoc(first), name)
                self.assertEqual(inspect.getdoc(first), inspect.getdoc(second), name)
                if isinstance(first, property):
                    continue
                parameters, others = (inspect.signature(each).parameters for each in (first, second))
                self.assertEqual(list(parameters.values()), list(others.values()), name)

    def test_the_version_is_that_of_the_package(self) -> None:
        self.assertEqual(praxis_client.__version__, importlib.metadata.version("praxis-client"))

    def test_everything_public_is_described(self) -> None:
        for name in set(praxis_client.__all__) - {"__version__"}:
            each = getattr(praxis_client, name)
            self.assertTrue(inspect.getdoc(each), name)
            for member, value in vars(each).items() if inspect.isclass(each) else ():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{member}")


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.practice = Practice(hasCalendar=True)
        self.client = self.practice.open_async()
        self.addAsyncCleanup(self.client.close)
        self.someone = await self.client.create(patient("Awaited"))

    async def test_records(self) -> None:
        client, id = self.client, self.someone["id"]
        await asyncio.gather(*(client.create(patient(f"Many{number}")) for number in range(30)))
        found = [each["id"] async for each in client.search("Patient", {"family": "Many", "_count": 10})]
        self.assertEqual(len(set(found)), 30)
        pages = [len(page.resources) async for page in client.search_pages("Patient", {"family": "Many", "_count": 10})]
        self.assertEqual((sum(pages), await client.count("Patient", {"family": "Many"})), (30, 30))
        stored = await client.update("Patient", id, lambda draft: {**draft, "gender": "other"})
        patched = await client.patch("Patient", id, [{"op": "remove", "path": "/gender"}], version="2")
        self.assertEqual((stored["gender"], "gender" in patched), ("other", False))
        replaced = await client.replace({**patched, "gender": "male"}, version="3")
        self.assertEqual((await client.read("Patient", id))["gender"], replaced["gender"])
        versions = [each["meta"]["versionId"] async for each in client.history("Patient", id)]
        self.assertEqual(versions, ["4", "3", "2", "1"])
        batch = Batch()
        entry = batch.read(f"Patient/{id}")
        self.assertEqual((await client.send(batch, key="batch"))[entry].id, id)
        self.assertEqual((await client.find_outcome("batch"))["outcome"], "done")
        self.assertEqual([each["id"] async for each in client.list(f"Patient/{id}/$everything")], [id])
        self.assertEqual((await client.get_operation("$effective-access"))["resourceType"], "Parameters")
        changed = {change.id async for change in client.follow(types=["Patient"], wait=None)}
        self.assertTrue(changed <= {id, *found})
        await client.delete("Patient", id)
        self.assertEqual(await client.count("Patient", {"_id": id}), 0)

    async def test_booking(self) -> None:
        booking = self.client.booking
        slots = [slot async for slot in booking.find("FOLLOWUP", {"end": "2026-11-25"})]
        hold = await booking.renew(await booking.hold(slots[0]))
        await booking.release(hold)
        booked = await booking.book(await booking.hold(slots[0]), self.someone, reason="Knee")
        with self.assertRaises(SlotTaken):
            await booking.book(slots[0], self.someone)
        moved = await booking.reschedule(booked, slots[1])
        seen = await self.client.post_operation(f"Appointment/{moved['id']}/$check-in")
        self.assertEqual(seen["resourceType"], "Parameters")
        cancelled = await booking.cancel(await booking.book(slots[2], self.someone), "Has a cold")
        self.assertEqual((moved["start"], cancelled["status"]), (slots[1]["start"], "cancelled"))

    async def test_documents(self) -> None:
        documents = self.client.documents
        filed = await documents.file(self.someone, b"All is well.", "text/plain")
        self.assertEqual(await documents.download(filed), b"All is well.")
        self.assertEqual((await documents.upload(b"All is well.", "text/plain"))["size"], 12)

    async def test_a_caller_that_is_cancelled_harms_nobody(self) -> None:
        async with self.practice.open_async() as client:
            tasks = [asyncio.create_task(client.count("Patient")) for _ in range(20)]
            await asyncio.sleep(0)
            tasks[0].cancel()  # it asks for the token that the others wait for
            results = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertIsInstance(results[0], asyncio.CancelledError)
            self.assertEqual(results[1:], [1] * 19)
