"""JSON as FHIR has it: decimals keep their digits (https://hl7.org/fhir/R4/json.html#primitive)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_number = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class ExactFloat(float):
    """A number with the digits of its text: ``ExactFloat("1.10")`` is written as 1.10.

    Decimals of answers are such numbers, so 1.10 mg stays 1.10 mg when a resource is read, changed and stored.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> ExactFloat:
        """Return the number of a text. Raise ValueError if that is no number of JSON."""
        if _number.fullmatch(text) is None:
            raise ValueError(f"{text!r} is no number of JSON")
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # the text, from which a copy is made
        return (self.text,)


def decode_json(content: bytes) -> Any:
    """Return the value of a JSON text. Raise ValueError if it is something else."""
    return json.loads(content, parse_float=ExactFloat)


def encode_json(value: Any) -> bytes:
    """Return the JSON text of a value. A ``decimal.Decimal`` is written with its digits."""
    return _encode(value).encode()


def _encode(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(name)}:{_encode(each)}" for name, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_encode, value)) + "]"
    if isinstance(value, ExactFloat):
        return value.text
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, allow_nan=False)
