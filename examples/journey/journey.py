"""A patient's way through a practice, step by step as an application takes it, with the Python client.

    npm start                                    # in one terminal
    pip install …                                # clients/python/README.md
    python3 examples/journey/journey.py          # in another

journey.ts takes the same way in TypeScript. Each step is a function of its own, to be copied.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from praxis_client import Client, ClientCredentials, Credentials, Hold, PasswordGrant, SlotTaken, read_parameter
from praxis_client.r4 import Appointment, ChargeItem, Patient, Slot, Task


def take_journey(client: Client, say: Callable[[str], object]) -> dict[str, str]:
    """Take all steps, tell each in a line, and return the ids of what was made."""
    patient = register(client)
    say(f"registered Patient/{patient}")
    slot, later = find_slots(client, choose_type(client))
    say(f"found {slot['start']} with {slot['schedule']['display']}")
    booked = book(client, patient, client.booking.hold(slot))
    say(f"booked Appointment/{booked['id']}")
    moved = client.booking.reschedule(booked, later)
    say(f"moved to {moved['start']}")
    encounter = visit(client, booked["id"])
    say(f"seen in Encounter/{encounter}")
    charge = add_charge(client, patient, encounter)
    say(f"charged ChargeItem/{charge}")
    document = write_letter(client, patient, encounter)
    say(f"filed DocumentReference/{document}")
    recall = plan_recall(client, patient)
    say(f"to be called back: Task/{recall}")
    return {
        "patient": patient,
        "appointment": booked["id"],
        "encounter": encounter,
        "charge": charge,
        "document": document,
        "recall": recall,
    }


def register(client: Client) -> str:
    """Store a new patient."""
    patient: Patient = {
        "resourceType": "Patient",
        "name": [{"use": "official", "family": "Journey", "given": ["Jo"]}],
        "gender": "female",
        "birthDate": "1980-02-29",
        "telecom": [{"system": "phone", "value": "+1 555 0142"}],
    }
    return client.create(patient)["id"]


def choose_type(client: Client) -> str:
    """Return the first type of visit that the practice offers."""
    expanded = client.get_operation("ValueSet/appointment-type/$expand")
    return str(expanded["expansion"]["contains"][0]["code"])


def find_slots(client: Client, appointment_type: str) -> tuple[Slot, Slot]:
    """Return two free slots of one practitioner, mornings first."""
    slots = client.booking.find(appointment_type, {"time": "08:00-12:00", "others": True, "_count": 100})
    first = next(slots)
    with_whom = first["schedule"]["display"]
    second = next(each for each in slots if each["schedule"]["display"] == with_whom and each["start"] > first["end"])
    return first, second


def book(client: Client, patient: str, hold: Hold) -> Appointment:
    """Book what is held. Who comes too late takes the next slot that is free."""
    more = {"description": "First visit"}
    try:
        return client.booking.book(hold, patient, appointment=more)
    except SlotTaken as taken:
        return client.booking.book(taken.alternatives[0], patient, appointment=more)


def visit(client: Client, appointment: str) -> str:
    """Let the patient come and go: the appointment and its Encounter change together."""
    told = client.post_operation(f"Appointment/{appointment}/$check-in")
    client.post_operation(f"Appointment/{appointment}/$check-out")
    encounter: Any = read_parameter(told, "encounter")
    return str(encounter["id"])


def add_charge(client: Client, patient: str, encounter: str) -> str:
    """Charge a visit. Sent twice, it is refused by its identifier."""
    charge: ChargeItem = {
        "resourceType": "ChargeItem",
        "identifier": [{"system": "https://praxis.health/fhir/sid/transaction", "value": f"journey-{encounter}"}],
        "status": "billable",
        "code": {"coding": [{"system": "http://www.ama-assn.org/go/cpt", "code": "99203"}]},
        "subject": {"reference": f"Patient/{patient}"},
        "context": {"reference": f"Encounter/{encounter}"},
        "quantity": {"value": 1},
    }
    return client.create(charge)["id"]


def write_letter(client: Client, patient: str, encounter: str) -> str:
    """File a letter, and read it again."""
    letter = f"Dear colleague,\nthank you for sending this patient ({encounter}).\n".encode()
    more = {"description": "Letter", "context": {"encounter": [{"reference": f"Encounter/{encounter}"}]}}
    filed = client.documents.file(patient, letter, "text/plain", title="Letter", document=more)
    if client.documents.download(filed) != letter:
        raise ValueError("the file is not what was sent")
    return filed["id"]


def plan_recall(client: Client, patient: str) -> str:
    """Plan a call in a year. It stays ready until somebody takes it up."""
    today = date.today()
    next_year = f"{today.year + 1}-{today:%m}-01"
    recall: Task = {
        "resourceType": "Task",
        "status": "ready",
        "intent": "unknown",
        "code": {"coding": [{"code": "PMRECALL"}]},
        "description": "Yearly check",
        "for": {"reference": f"Patient/{patient}"},
        "restriction": {"period": {"start": next_year, "end": next_year}},
    }
    return client.create(recall)["id"]


def main() -> None:
    """Take the journey by each token flow, with the credentials of the sandbox."""
    sandbox = json.loads(Path(os.environ.get("PRAXIS_DATA_DIR", "data"), "sandbox.json").read_text("utf-8"))
    firm = sandbox["firms"][0]
    base = f"{sandbox['origin']}/{sandbox['environment']}/firm/{firm}/{sandbox['product']}/fhir/v2"
    application = next(each for each in sandbox["applications"] if each["name"] == "Full access")
    key, legacy = application["client"], application["legacy"][firm]
    flows: dict[str, Credentials] = {
        "client credentials": ClientCredentials(key["apiKey"], key["clientId"], key["clientSecret"]),
        "password grant": PasswordGrant(legacy["apiKey"], legacy["username"], legacy["password"]),
    }
    for flow, credentials in flows.items():
        print(f"{flow} at {firm}")
        with Client(base, credentials) as client:
            take_journey(client, lambda line: print(f"  {line}"))


if __name__ == "__main__":
    main()
