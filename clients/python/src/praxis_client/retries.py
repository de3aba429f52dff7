"""When a request is sent again: which failures, after how long, and until when (docs/integrate/retries.md)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from praxis_client.errors import PraxisError, Refused, TokenRefused, Unreachable


@dataclass(frozen=True)
class Retries:
    """How often and how long a request is repeated.

    ``Retry-After`` is obeyed to the second. Where the service says nothing, pauses double from ``first_pause`` to
    ``longest_pause``, shortened at random by up to a half, so that many clients do not come back together.
    """

    total_seconds: float = 60.0
    """Longest time from the first attempt to the last one. A pause that would end later is not begun: the error is raised."""
    attempts_max: int = 10
    """Attempts at most, the first one included."""
    faults_max: int = 3
    """Attempts at most that are answered 500, 502 or 504."""
    first_pause: float = 0.5
    longest_pause: float = 15.0


never = Retries(attempts_max=1)
"""No repetition at all."""


class Attempts:
    """The attempts of one request."""

    def __init__(self, retries: Retries, clock: Callable[[], float], *, is_repeatable: bool) -> None:
        """Begin. ``is_repeatable``: to send it twice has the effect of sending it once."""
        self._retries = retries
        self._clock = clock
        self._is_repeatable = is_repeatable
        self._began = clock()
        self._paused = 0.0
        self._made = 0
        self._faults = 0

    def pause_after(self, failure: PraxisError) -> float | None:
        """Return the seconds to wait before the next attempt; None if there is none."""
        retries = self._retries
        self._made += 1
        self._faults += _is_fault(failure)
        if not _is_passing(failure, is_repeatable=self._is_repeatable):
            return None
        if self._made >= retries.attempts_max or self._faults >= retries.faults_max:
            return None
        pause = failure.retry_after
        if pause is None:
            longest = min(retries.longest_pause, retries.first_pause * 2 ** (self._made - 1))
            pause = longest * random.uniform(0.5, 1)
        spent = max(self._clock() - self._began, self._paused)
        if spent + pause > retries.total_seconds:
            return None
        self._paused += pause
        return pause


def _is_fault(failure: PraxisError) -> bool:
    return isinstance(failure, (Refused, TokenRefused)) and failure.status in (500, 502, 504)


def _is_passing(failure: PraxisError, *, is_repeatable: bool) -> bool:
    """Whether the same request may succeed later, and is harmless if it was carried out already."""
    if isinstance(failure, Unreachable):
        return is_repeatable or not failure.was_sent
    if not isinstance(failure, (Refused, TokenRefused)):
        return False
    if failure.status in (429, 503):
        return failure.status == 429 or is_repeatable
    if failure.status == 409:
        return failure.retry_after is not None and is_repeatable
    return is_repeatable and _is_fault(failure)
