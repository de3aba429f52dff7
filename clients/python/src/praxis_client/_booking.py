"""Find, hold, book, move and cancel, as flows (docs/integrate/booking.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from praxis_client._core import Core, instance_path, read_written, select_resources
from praxis_client._flow import Flow
from praxis_client.errors import Alternative
from praxis_client.reading import Query, find_id, read_parameter, read_parameters

Named = str | Mapping[str, Any]
"""A resource as itself, as ``Type/id`` or as id."""
SlotLike = Alternative | Named
"""A slot, or one that a SlotTaken names."""


@dataclass(frozen=True)
class Hold:
    """A slot that this application keeps for five minutes."""

    id: str
    slot: str
    """Reference to the slot."""
    start: str
    end: str
    expires: str
    renewals_left: int
    actors: tuple[str, ...]
    """References to those whose time is held: practitioner, rooms and equipment."""


class BookingFlows:
    """The flows of ``client.booking``."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def find(self, appointment_type: str | Sequence[str], criteria: Query) -> Flow[None]:
        """Emit free slots."""
        pairs = list(criteria.items() if isinstance(criteria, Mapping) else criteria)
        types = [appointment_type] if isinstance(appointment_type, str) else [*appointment_type]
        return self._core.list("Slot/$find", [("appointment-type", types), *pairs], select_resources)

    def hold(self, slot: SlotLike) -> Flow[Hold]:
        """Keep a slot."""
        path = f"{instance_path('Slot', _slot_id(slot))}/$hold"
        return _read_hold((yield from self._core.post_operation(path, None, None)))

    def renew(self, hold: Hold) -> Flow[Hold]:
        """Keep it for five minutes more."""
        return _read_hold((yield from self._core.post_operation("Slot/$renew", _parameters(_named_hold(hold)), None)))

    def release(self, hold: Hold) -> Flow[None]:
        """Give it back."""
        yield from self._core.post_operation("Slot/$release", _parameters(_named_hold(hold)), None)

    def book(
        self,
        place: Hold | SlotLike,
        patient: Named,
        reason: str | None,
        appointment: Mapping[str, Any] | None,
        key: str | None,
    ) -> Flow[Any]:
        """Book a hold or a slot."""
        who = {"actor": {"reference": f"Patient/{find_id(patient, 'Patient')}"}, "status": "accepted"}
        given = dict(appointment or {})
        draft = {**given, "resourceType": "Appointment", "participant": [who, *given.get("participant", [])]}
        if reason is not None:
            draft["reasonCode"] = [{"text": reason}]
        body = _parameters(_place(place), {"name": "appointment", "resource": draft})
        return read_written((yield from self._core.write("POST", "Appointment/$book", body, None, key)))

    def reschedule(self, appointment: Named, place: Hold | SlotLike, key: str | None) -> Flow[Any]:
        """Move an appointment."""
        path = f"{instance_path('Appointment', find_id(appointment, 'Appointment'))}/$reschedule"
        return read_written((yield from self._core.write("POST", path, _parameters(_place(place)), None, key)))

    def cancel(
        self, appointment: Named, reason: str | Mapping[str, Any], comment: str | None, key: str | None
    ) -> Flow[Any]:
        """Call an appointment off."""
        path = f"{instance_path('Appointment', find_id(appointment, 'Appointment'))}/$cancel"
        concept = {"text": reason} if isinstance(reason, str) else dict(reason)
        said = [] if comment is None else [{"name": "comment", "valueString": comment}]
        body = _parameters({"name": "reason", "valueCodeableConcept": concept}, *said)
        return read_written((yield from self._core.write("POST", path, body, None, key)))


def _parameters(*parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"resourceType": "Parameters", "parameter": list(parameters)}


def _named_hold(hold: Hold) -> dict[str, Any]:
    return {"name": "hold", "valueId": hold.id}


def _place(place: Hold | SlotLike) -> dict[str, Any]:
    if isinstance(place, Hold):
        return _named_hold(place)
    return {"name": "slot", "valueString": f"Slot/{_slot_id(place)}"}


def _slot_id(slot: SlotLike) -> str:
    return find_id(slot.slot if isinstance(slot, Alternative) else slot, "Slot")


def _read_hold(parameters: Mapping[str, Any]) -> Hold:
    return Hold(
        id=read_parameter(parameters, "hold"),
        slot=read_parameter(parameters, "slot")["reference"],
        start=read_parameter(parameters, "start"),
        end=read_parameter(parameters, "end"),
        expires=read_parameter(parameters, "expires"),
        renewals_left=read_parameter(parameters, "renewalsLeft"),
        actors=tuple(each["reference"] for each in read_parameters(parameters, "actor")),
    )
