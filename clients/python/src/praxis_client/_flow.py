"""Work without input and output: a flow asks for what it needs, and a driver does it, waiting or awaiting.

All that the client knows is written once, as generators. They yield effects and are sent the results. ``client.Client`` and
``async_client.AsyncClient`` differ in the driver alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from praxis_client._json import decode_json

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """An HTTP request. What it carries is secret or of people, so its ``repr`` shows none of it."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes = field(default=b"", repr=False)
    wait_seconds: float = 0
    """How long the service may hold the request back by agreement. It is added to the timeout."""
    label: str = ""
    """What errors call it: without a query, which may name a patient, and without the URL of a file, which opens it."""

    def with_headers(self, headers: Mapping[str, str]) -> Request:
        """Return the same request with these headers as well."""
        return replace(self, headers={**self.headers, **headers})


@dataclass(frozen=True)
class Answer:
    """An HTTP response that was read to its end. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    def json(self) -> Any:
        """Return the body as JSON; None if it is empty. Raise ValueError if it is something else."""
        return decode_json(self.content) if self.content else None


@dataclass(frozen=True)
class Send:
    """Send a request. The result is its Answer. A driver raises Unreachable if there is none."""

    request: Request


@dataclass(frozen=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True)
class Call:
    """Call a function of the caller. The asynchronous driver awaits what it returns, if that can be awaited."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Alone:
    """Run a flow while no other one has the lock. The result is that of the flow.

    If the lock is taken and ``waits`` is false, the result is None at once.
    """

    lock: Any
    flow: Callable[[], Flow[Any]]
    waits: bool


@dataclass(frozen=True)
class Emit:
    """Hand an item to whoever iterates. The flow goes on when the next one is asked for."""

    item: Any


Effect = Send | Pause | Call | Alone | Emit
Flow = Generator[Effect, Any, T]


class Steps(Generic[T]):
    """A flow, one effect after the other. Drivers perform ``effect`` until ``is_ended``, then there is ``result``."""

    effect: Effect
    result: T

    def __init__(self, flow: Flow[T]) -> None:
        self._flow = flow
        self.is_ended = False
        self._advance(lambda: next(flow))

    def send(self, result: Any) -> None:
        """Give the flow the result of the effect."""
        self._advance(lambda: self._flow.send(result))

    def throw(self, error: BaseException) -> None:
        """Raise an error in the flow, in place of a result."""
        self._advance(lambda: self._flow.throw(error))

    def close(self) -> None:
        """End the flow where it is."""
        self._flow.close()

    def _advance(self, step: Callable[[], Effect]) -> None:
        try:
            self.effect = step()
        except StopIteration as end:
            self.result = end.value
            self.is_ended = True
