"""Booking: find, hold, book, move, cancel, and what happens to who comes too late. Denials first."""

from __future__ import annotations

import unittest
from datetime import date, datetime, timedelta, timezone

from support import Practice, order, patient

from praxis_client import BadRequest, Forbidden, SlotTaken, reference_to


class Denials(unittest.TestCase):
    def test_an_application_without_slots(self) -> None:
        with Practice(entries=["acl/pat_s"]).open() as client, self.assertRaises(Forbidden):
            next(client.booking.find("FOLLOWUP"))


class Booking(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.practice = Practice(hasCalendar=True)
        cls.client = cls.practice.open()
        cls.addClassCleanup(cls.client.close)
        cls.someone = cls.client.create(patient("Booked"))

    def test_found_held_booked_moved_and_cancelled(self) -> None:
        booking = self.client.booking
        slots = [slot for slot, _ in zip(booking.find("FOLLOWUP", {"_count": 5}), range(12), strict=False)]
        self.assertEqual({slot["status"] for slot in slots}, {"free"})
        self.assertEqual([slot["start"] for slot in slots], sorted(slot["start"] for slot in slots))
        hold = booking.hold(slots[0])
        self.assertEqual((hold.slot, hold.start, hold.renewals_left), (reference_to(slots[0]), slots[0]["start"], 3))
        self.assertIn("Practitioner/12", hold.actors)
        self.assertEqual(booking.renew(hold).renewals_left, 2)
        booked = booking.book(hold, self.someone, reason="Knee", appointment={"comment": "Brings the X-rays"})
        self.assertEqual((booked["status"], booked["reasonCode"]), ("booked", [{"text": "Knee"}]))
        self.assertEqual(booked["comment"], "Brings the X-rays")
        self.assertEqual(booked["participant"][0]["actor"]["reference"], reference_to(self.someone))
        moved = booking.reschedule(booked, slots[1])
        self.assertEqual((moved["id"], moved["start"]), (booked["id"], slots[1]["start"]))
        cancelled = booking.cancel(moved, "Has a cold", comment="Calls again")
        self.assertEqual((cancelled["status"], cancelled["comment"]), ("cancelled", "Calls again"))
        self.assertEqual(cancelled["cancelationReason"], {"text": "Has a cold"})

    def test_who_comes_too_late_is_told_what_is_free(self) -> None:
        booking = self.client.booking
        slot = next(booking.find("FOLLOWUP"))
        first = booking.book(slot, reference_to(self.someone))
        with self.practice.open() as another:
            for call in (
                lambda: another.booking.hold(slot),
                lambda: another.booking.book(reference_to(slot), self.someone["id"]),
            ):
                with self.assertRaises(SlotTaken) as caught:
                    call()
                self.assertEqual(caught.exception.fix, "Offer the slots in alternatives.")
                self.assertEqual(len(caught.exception.alternatives), 5)
                for choice in caught.exception.alternatives:
                    self.assertLess(slot["start"], choice.start)
                    self.assertLess(choice.start, choice.end)
            second = another.booking.book(caught.exception.alternatives[0], self.someone)
        self.assertEqual((first["status"], second["status"]), ("booked", "booked"))
        self.assertEqual((first["start"], second["start"]), (slot["start"], caught.exception.alternatives[0].start))

    def test_a_released_slot_is_free_and_a_hold_ends(self) -> None:
        booking = self.client.booking
        slot = next(booking.find("NEW"))
        hold = booking.hold(slot)
        booking.release(hold)
        with self.assertRaises(BadRequest) as caught:
            booking.book(hold, self.someone)
        self.assertEqual(caught.exception.code, "operation-parameter-invalid")
        late = booking.hold(slot)
        order("advance", seconds=301)
        with self.assertRaises(BadRequest):
            booking.renew(late)
        self.assertEqual(booking.book(slot, self.someone)["status"], "booked")

    def test_criteria(self) -> None:
        start = datetime(2026, 12, 7, tzinfo=timezone.utc)
        criteria = {
            "start": start,
            "end": date(2026, 12, 12),
            "practitioner": ["12"],
            "day": ["tue", "thu"],
            "time": "09:00-10:00",
        }
        slots = list(self.client.booking.find(["NEW", "FOLLOWUP"], criteria))
        days = {datetime.fromisoformat(slot["start"]).strftime("%a") for slot in slots}
        self.assertEqual(days, {"Tue", "Thu"})
        first = self.client.booking.find("NEW", {"start": start + timedelta(days=1), "first-available": True})
        self.assertEqual(len(list(first)), 1)
        with self.assertRaises(ValueError):
            next(self.client.booking.find("NEW", {"start": datetime(2026, 12, 7)}))

    def test_a_resource_of_another_type_is_not_sent(self) -> None:
        with self.assertRaises(ValueError):
            self.client.booking.hold(self.someone)
        with self.assertRaises(ValueError):
            self.client.booking.book("Slot/1", "Practitioner/12")
