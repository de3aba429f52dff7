"""What a type checker accepts and refuses. mypy reads this, and nothing runs it: an ignore that is not needed is an error, too."""

from __future__ import annotations

from typing import Any

from praxis_client import AsyncClient, Client, Transaction
from praxis_client.r4 import Appointment, Encounter, Patient, Slot


def check_reads(client: Client) -> str:
    """A class gives its type, a name a plain dict."""
    patient: Patient = client.read(Patient, "1")
    plain: dict[str, Any] = client.read("Patient", "1")
    for found in client.search(Patient, {"family": "smith"}):
        found["famly"]  # type: ignore[typeddict-item]
    for page in client.search_pages(Encounter):
        kind = page.resources[0]["class"]
        kind["code"].upper()
        kind.upper()  # type: ignore[attr-defined]
    patient["birthdate"]  # type: ignore[typeddict-item]
    wrong: Appointment = client.read(Patient, "1")  # type: ignore[assignment]
    return patient["name"][0]["family"] + str(plain["anything"]) + str(wrong)


def check_writes(client: Client) -> None:
    """What is written has elements of R4, and comes back with its type."""
    draft: Patient = {"resourceType": "Patient", "name": [{"family": "Example"}]}
    misspelt: Patient = {"resourceType": "Patient", "nam": []}  # type: ignore[typeddict-unknown-key]
    stored: Patient = client.create(draft)
    plain: dict[str, Any] = client.create({"resourceType": "Patient", "name": [{"family": "Example"}]})

    def change(patient: Patient) -> None:
        patient["active"] = True
        patient["active"] = "yes"  # type: ignore[typeddict-item]

    client.update(Patient, stored["id"], change)
    client.update(Encounter, plain["id"], change)  # type: ignore[arg-type]
    Transaction().create(misspelt)


def check_booking(client: Client) -> Appointment:
    """Slots and appointments have their types."""
    slot: Slot = next(client.booking.find("FOLLOWUP"))
    client.booking.find()  # type: ignore[call-arg]
    return client.booking.book(slot, "Patient/1", reason="Knee")


async def check_async(client: AsyncClient) -> str:
    """The same for asyncio."""
    async for patient in client.search(Patient):
        return (await client.read(Patient, patient["id"]))["gender"]
    return (await client.booking.book("Slot/1", "Patient/1"))["status"]
