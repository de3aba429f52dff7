"""Small things that every program does with resources: name them, and read Parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

Query = Mapping[str, Any] | Sequence[tuple[str, Any]]
"""Parameters of a search or an operation. A list repeats a parameter: all of its values must match. True is ``true``,
and a date or an aware datetime has the form of FHIR."""

_reference = re.compile(r"([A-Za-z]+)/([A-Za-z0-9\-.]{1,64})")


def reference_to(resource: Mapping[str, Any]) -> str:
    """Return the reference to a resource, such as ``Patient/1``. Raise ValueError for one without id."""
    resource_type, id = resource.get("resourceType"), resource.get("id")
    if not resource_type or not id:
        raise ValueError("only a stored resource, which has an id, can be referred to")
    return f"{resource_type}/{id}"


def read_parameter(parameters: Mapping[str, Any], name: str) -> Any:
    """Return the value of the first parameter of a Parameters resource that has the name; None if there is none."""
    return next(iter(read_parameters(parameters, name)), None)


def read_parameters(parameters: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of all parameters of a Parameters resource that have the name: also resources, and parts as lists."""
    found = [each for each in parameters.get("parameter", []) if each.get("name") == name]
    return [value for each in found for key, value in each.items() if key != "name"]


def encode_query(query: Query) -> str:
    """Return parameters as in a URL or a form."""
    pairs = query.items() if isinstance(query, Mapping) else query
    return urlencode([(name, _format(value)) for name, values in pairs for value in _list_values(values)])


def find_id(named: str | Mapping[str, Any], resource_type: str) -> str:
    """Return the id of a resource that is given as itself, as ``Type/id`` or as id. Raise ValueError for another type."""
    text = named if isinstance(named, str) else reference_to(named)
    match = _reference.fullmatch(text)
    if match is None:
        return text
    if match[1] != resource_type:
        raise ValueError(f"{text} is no {resource_type}")
    return match[2]


def _list_values(values: Any) -> Iterable[Any]:
    if values is None:
        return ()
    return values if isinstance(values, (list, tuple)) else (values,)


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a datetime needs a time zone")
        return value.isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)
