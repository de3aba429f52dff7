"""The two drivers: what flows ask for, done with httpx, blocking or on the event loop of asyncio."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from praxis_client._flow import Alone, Answer, Call, Effect, Emit, Flow, Pause, Request, Send, Steps
from praxis_client.errors import AnswerTooLarge, Unreachable

T = TypeVar("T")

connection_limits = httpx.Limits(max_connections=32, max_keepalive_connections=32)
"""As many requests as the service works on for one application at once. Further ones wait here in place of there."""

_not_sent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


@dataclass(frozen=True)
class Limits:
    """How long an answer may take, in seconds, and how long it may be, in bytes."""

    timeout: float
    """Of connecting, and of each wait for bytes."""
    answer_seconds: float
    """From sending a request to the last byte of its answer."""
    answer_bytes: int
    """After decompression."""


class Driver:
    """Does what flows ask for, and blocks meanwhile. Threads may share one."""

    def __init__(self, http: httpx.Client, limits: Limits, sleep: Callable[[float], object]) -> None:
        self.http = http
        self._limits = limits
        self._sleep = sleep

    @staticmethod
    def make_lock() -> threading.Lock:
        """Return a lock for the effect Alone."""
        return threading.Lock()

    def run(self, flow: Flow[T]) -> T:
        """Run a flow to its end and return its result."""
        steps = Steps(flow)
        while not steps.is_ended:
            self._take(steps)
        return steps.result

    def iterate(self, flow: Flow[None]) -> Iterator[Any]:
        """Yield what a flow emits."""
        steps = Steps(flow)
        try:
            while not steps.is_ended:
                if isinstance(steps.effect, Emit):
                    yield steps.effect.item
                    steps.send(None)
                else:
                    self._take(steps)
        finally:
            steps.close()

    def _take(self, steps: Steps[Any]) -> None:
        try:
            result = self._perform(steps.effect)
        except BaseException as error:
            steps.throw(error)
        else:
            steps.send(result)

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return self._send(effect.request)
        if isinstance(effect, Pause):
            return self._sleep(effect.seconds)
        if isinstance(effect, Call):
            return effect.function(*effect.arguments)
        if isinstance(effect, Alone):
            if not effect.lock.acquire(blocking=effect.waits):
                return None
            try:
                return self.run(effect.flow())
            finally:
                effect.lock.release()
        raise TypeError("a flow that emits is iterated, not run")

    def _send(self, request: Request) -> Answer:
        body = _Body(request, self._limits)
        try:
            with self.http.stream(**_arguments(request, self._limits.timeout)) as response:
                for chunk in response.iter_bytes():
                    body.add(chunk)
        except httpx.RequestError as error:
            raise _unreachable(request, error) from error
        return body.finish(response)


class AsyncDriver:
    """Does what flows ask for on the event loop that runs. Tasks of one loop may share one."""

    def __init__(self, http: httpx.AsyncClient, limits: Limits, sleep: Callable[[float], Awaitable[object]]) -> None:
        self.http = http
        self._limits = limits
        self._sleep = sleep

    @staticmethod
    def make_lock() -> asyncio.Lock:
        """Return a lock for the effect Alone."""
        return asyncio.Lock()

    async def run(self, flow: Flow[T]) -> T:
        """Run a flow to its end and return its result."""
        steps = Steps(flow)
        while not steps.is_ended:
            await self._take(steps)
        return steps.result

    async def iterate(self, flow: Flow[None]) -> AsyncIterator[Any]:
        """Yield what a flow emits."""
        steps = Steps(flow)
        try:
            while not steps.is_ended:
                if isinstance(steps.effect, Emit):
                    yield steps.effect.item
                    steps.send(None)
                else:
                    await self._take(steps)
        finally:
            steps.close()

    async def _take(self, steps: Steps[Any]) -> None:
        try:
            result = await self._perform(steps.effect)
        except BaseException as error:
            steps.throw(error)
        else:
            steps.send(result)

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return await self._send(effect.request)
        if isinstance(effect, Pause):
            return await self._sleep(effect.seconds)
        if isinstance(effect, Call):
            result = effect.function(*effect.arguments)
            return await result if inspect.isawaitable(result) else result
        if isinstance(effect, Alone):
            if effect.lock.locked() and not effect.waits:
                return None
            async with effect.lock:
                return await self.run(effect.flow())
        raise TypeError("a flow that emits is iterated, not run")

    async def _send(self, request: Request) -> Answer:
        body = _Body(request, self._limits)
        try:
            async with self.http.stream(**_arguments(request, self._limits.timeout)) as response:
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
        except httpx.RequestError as error:
            raise _unreachable(request, error) from error
        return body.finish(response)


def _arguments(request: Request, timeout: float) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "content": request.content or None,
        "timeout": httpx.Timeout(timeout, read=timeout + request.wait_seconds),
        "follow_redirects": False,
    }


class _Body:
    """The body of an answer while it arrives, within limits of size and time."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self._limits = limits
        self._label = request.label
        self._content = bytearray()
        self._ends_at = time.monotonic() + limits.answer_seconds + request.wait_seconds

    def add(self, chunk: bytes) -> None:
        """Take the next bytes. Raise AnswerTooLarge or Unreachable beyond a limit."""
        self._content += chunk
        if len(self._content) > self._limits.answer_bytes:
            raise AnswerTooLarge(f"{self._label}: the answer has more than {self._limits.answer_bytes} bytes")
        if time.monotonic() > self._ends_at:
            raise Unreachable(f"{self._label}: the answer takes too long", was_sent=True)

    def finish(self, response: httpx.Response) -> Answer:
        """Return the whole answer."""
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers, bytes(self._content))


def _unreachable(request: Request, error: httpx.RequestError) -> Unreachable:
    return Unreachable(f"{request.label}: {type(error).__name__}", was_sent=not isinstance(error, _not_sent))
