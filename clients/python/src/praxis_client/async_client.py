"""The client for asyncio. ``client`` has the same that blocks; what both do stands in the flows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import httpx

from praxis_client._booking import BookingFlows, Hold, Named, SlotLike
from praxis_client._core import Core, check_base, instance_path, select_page, select_resources, type_name
from praxis_client._documents import DocumentFlows
from praxis_client._drivers import AsyncDriver, Limits, connection_limits
from praxis_client._tokens import TokenKeeper
from praxis_client.bundles import Answers, Bundle
from praxis_client.changes import Change
from praxis_client.credentials import Credentials
from praxis_client.cursors import CursorStore, MemoryCursor
from praxis_client.pages import Page
from praxis_client.reading import Query
from praxis_client.retries import Retries

if TYPE_CHECKING:
    from praxis_client.r4 import Appointment, Attachment, DocumentReference, Slot

Json = dict[str, Any]
R = TypeVar("R", bound=Mapping[str, Any])


class AsyncClient:
    """Calls the FHIR API of one practice. Tasks may share a client; they then share its token and its connections.

    A resource type is a name such as ``"Patient"``, or a class of ``praxis_client.r4`` such as ``Patient``: then the results have
    that type.
    """

    def __init__(
        self,
        base: str,
        credentials: Credentials,
        *,
        retries: Retries = Retries(),  # noqa: B008
        timeout: float = 30.0,
        answer_seconds_max: float = 300.0,
        answer_bytes_max: int = 128 * 1024 * 1024,
        http: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Make a client. Nothing is sent before the first call.

        ``base`` is the FHIR base URL of the practice, ``https://host/{environment}/firm/{firm}/{product}/fhir/v2``. ``timeout`` is
        that of connecting, and of each wait for bytes, in seconds. An answer may have ``answer_bytes_max`` bytes and take
        ``answer_seconds_max`` in all. ``http`` brings proxies, certificates or hooks of your own; it is yours to close. Tests give
        ``clock`` and ``sleep``. Raise ValueError if ``base`` is no such URL.
        """
        checked = check_base(base)
        self._owns_http = http is None
        limits = Limits(timeout, answer_seconds_max, answer_bytes_max)
        self._driver = AsyncDriver(http or httpx.AsyncClient(limits=connection_limits), limits, sleep)
        tokens = TokenKeeper(credentials, checked, self._driver.make_lock(), clock, retries)
        self._use(Core(checked, tokens, clock, retries))

    def _use(self, core: Core) -> None:
        self._core = core
        self.booking = AsyncBooking(self._driver, BookingFlows(core))
        """Slots and appointments."""
        self.documents = AsyncDocuments(self._driver, DocumentFlows(core))
        """Files."""

    @property
    def base(self) -> str:
        """Return the FHIR base URL."""
        return self._core.base

    def at(self, base: str) -> AsyncClient:
        """Return a client for another practice that shares token and connections with this one.

        Raise ValueError if the base URL is of another service, or if the credentials are those of one practice.
        """
        other = AsyncClient.__new__(AsyncClient)
        other._owns_http = False
        other._driver = self._driver
        other._use(self._core.move(base))
        return other

    async def close(self) -> None:
        """Close the connections. A client that came from ``at``, or was given ``http``, leaves them open."""
        if self._owns_http:
            await self._driver.http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @overload
    async def read(self, type: type[R], id: str, *, version: str | None = None) -> R: ...
    @overload
    async def read(self, type: str, id: str, *, version: str | None = None) -> Json: ...
    async def read(self, type: Any, id: str, *, version: str | None = None) -> Any:
        """Return a resource, or one version of it. Raise NotFound, or Gone if it is deleted."""
        return await self._driver.run(self._core.read(type_name(type), id, version))

    @overload
    def search(self, type: type[R], query: Query = ()) -> AsyncIterator[R]: ...
    @overload
    def search(self, type: str, query: Query = ()) -> AsyncIterator[Json]: ...
    def search(self, type: Any, query: Query = ()) -> AsyncIterator[Any]:
        """Yield the matches of a search, page by page. The search goes by POST, so that no log of URLs has its parameters."""
        return self._driver.iterate(self._core.search(type_name(type), query, select_resources))

    @overload
    def search_pages(self, type: type[R], query: Query = ()) -> AsyncIterator[Page[R]]: ...
    @overload
    def search_pages(self, type: str, query: Query = ()) -> AsyncIterator[Page[Json]]: ...
    def search_pages(self, type: Any, query: Query = ()) -> AsyncIterator[Page[Any]]:
        """Yield the pages of a search: with what was included, and the total."""
        return self._driver.iterate(self._core.search(type_name(type), query, select_page))

    async def count(self, type: str | type[Any], query: Query = ()) -> int:
        """Return how many resources match."""
        return await self._driver.run(self._core.count(type_name(type), query))

    @overload
    def history(self, type: type[R], id: str) -> AsyncIterator[R]: ...
    @overload
    def history(self, type: str, id: str) -> AsyncIterator[Json]: ...
    def history(self, type: Any, id: str) -> AsyncIterator[Any]:
        """Yield the versions of a resource, newest first. A deletion has no resource, and is left out."""
        path = f"{instance_path(type_name(type), id)}/_history"
        return self._driver.iterate(self._core.list(path, (), select_resources))

    def list(self, path: str, query: Query = ()) -> AsyncIterator[Json]:
        """Yield the resources of any paged answer to a GET, such as ``Patient/1/$everything``."""
        return self._driver.iterate(self._core.list(path, query, select_resources))

    @overload
    async def create(self, resource: Json, *, if_none_exist: Query | None = None, key: str | None = None) -> Json: ...
    @overload
    async def create(self, resource: R, *, if_none_exist: Query | None = None, key: str | None = None) -> R: ...
    async def create(self, resource: Any, *, if_none_exist: Query | None = None, key: str | None = None) -> Any:
        """Store a new resource and return it as stored, once, whatever is repeated.

        ``if_none_exist`` is a search: if one resource matches, nothing is stored. ``key`` is an Idempotency-Key that you keep
        yourself, to repeat the call after a restart. Raise AwaitingReview if the practice decides first.
        """
        return await self._driver.run(self._core.create(resource, if_none_exist, key))

    @overload
    async def replace(self, resource: Json, *, version: str | None = None, key: str | None = None) -> Json: ...
    @overload
    async def replace(self, resource: R, *, version: str | None = None, key: str | None = None) -> R: ...
    async def replace(self, resource: Any, *, version: str | None = None, key: str | None = None) -> Any:
        """PUT a resource and return it as stored. With ``version`` raise PreconditionFailed if that is not the current one."""
        return await self._driver.run(self._core.replace(resource, version, key))

    @overload
    async def update(self, type: type[R], id: str, change: Callable[[R], R | None]) -> R: ...
    @overload
    async def update(self, type: str, id: str, change: Callable[[Json], Mapping[str, Any] | None]) -> Json: ...
    async def update(self, type: Any, id: str, change: Callable[[Any], Any]) -> Any:
        """Read a resource, change it and store it, without losing what others change meanwhile. Return it as stored.

        ``change`` gets a copy, and changes it or returns another one. What differs is sent as a PATCH with If-Match, so no right to
        the other elements is needed. If another change came first, ``change`` is called again with the newer version, five times at
        most; then PreconditionFailed is raised. If it changes nothing, nothing is stored.
        """
        return await self._driver.run(self._core.update(type_name(type), id, change))

    @overload
    async def patch(
        self,
        type: type[R],
        id: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: str | None = None,
        key: str | None = None,
    ) -> R: ...
    @overload
    async def patch(
        self,
        type: str,
        id: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: str | None = None,
        key: str | None = None,
    ) -> Json: ...
    async def patch(
        self,
        type: Any,
        id: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: str | None = None,
        key: str | None = None,
    ) -> Any:
        """Change some elements by JSON Patch (RFC 6902) and return the resource. It needs no right to the other elements."""
        return await self._driver.run(self._core.patch(type_name(type), id, operations, version, key))

    async def delete(
        self, type: str | type[Any], id: str, *, version: str | None = None, key: str | None = None
    ) -> None:
        """Delete a resource."""
        await self._driver.run(self._core.delete(type_name(type), id, version, key))

    async def send(self, bundle: Bundle, *, key: str | None = None) -> Answers:
        """Send a Batch or a Transaction and return the answers to its entries. Raise Refused if a transaction fails."""
        return await self._driver.run(self._core.send(bundle, key))

    async def find_outcome(self, key: str) -> Json:
        """Return what became of the write with this Idempotency-Key: ``outcome`` is ``done`` or ``none``."""
        return await self._driver.run(self._core.find_outcome(key))

    async def get_operation(self, path: str, query: Query = ()) -> Any:
        """GET an operation that changes nothing, such as ``$effective-access``, and return its answer."""
        return await self._driver.run(self._core.get_operation(path, query))

    async def post_operation(
        self, path: str, parameters: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Any:
        """POST an operation, such as ``Appointment/1/$check-in``, and return its answer. It has one effect, whatever is repeated."""
        return await self._driver.run(self._core.post_operation(path, parameters, key))

    def follow(
        self,
        cursor: CursorStore | None = None,
        types: Sequence[str | type[Any]] = (),
        *,
        since: str | None = None,
        count: int | None = None,
        wait: int | None = 30,
    ) -> AsyncIterator[Change]:
        """Yield all resources, then their changes, oldest first, without an end.

        With ``wait=None`` it ends when everything up to now was told. The place is saved in ``cursor`` when the changes of a page
        are worked off and the next one is asked for. A program that is killed before gets that page again. ``since`` is an instant
        to begin at. Raise FeedEnded if the rights have changed: delete the copy, clear the cursor and begin again.
        """
        return self._driver.iterate(self._follow(cursor, types, since, count, wait, lambda changes: changes))

    def follow_pages(
        self,
        cursor: CursorStore | None = None,
        types: Sequence[str | type[Any]] = (),
        *,
        since: str | None = None,
        count: int | None = None,
        wait: int | None = 30,
    ) -> AsyncIterator[Sequence[Change]]:
        """Yield the same page by page, to store each in one transaction. With ``wait`` a page without changes comes, too."""
        return self._driver.iterate(self._follow(cursor, types, since, count, wait, lambda changes: (changes,)))

    def _follow(
        self,
        cursor: CursorStore | None,
        types: Sequence[str | type[Any]],
        since: str | None,
        count: int | None,
        wait: int | None,
        select: Callable[[Sequence[Change]], Sequence[Any]],
    ) -> Any:
        names = [type_name(each) for each in types]
        return self._core.follow(MemoryCursor() if cursor is None else cursor, names, since, count, wait, select)


class AsyncBooking:
    """Finds, holds and books slots, moves and cancels appointments. A slot or an appointment is given as itself or as reference."""

    def __init__(self, driver: AsyncDriver, flows: BookingFlows) -> None:
        self._driver = driver
        self._flows = flows

    def find(self, appointment_type: str | Sequence[str], criteria: Query = ()) -> AsyncIterator[Slot]:
        """Yield free slots of a type of visit, earliest first. ``criteria`` are the parameters of ``Slot/$find``."""
        return self._driver.iterate(self._flows.find(appointment_type, criteria))

    async def hold(self, slot: SlotLike) -> Hold:
        """Keep a slot for five minutes. Raise SlotTaken, which names others that are free."""
        return await self._driver.run(self._flows.hold(slot))

    async def renew(self, hold: Hold) -> Hold:
        """Keep it for five minutes from now on. ``renewals_left`` says how often that is possible."""
        return await self._driver.run(self._flows.renew(hold))

    async def release(self, hold: Hold) -> None:
        """Give a slot back that nobody will book."""
        await self._driver.run(self._flows.release(hold))

    async def book(
        self,
        place: Hold | SlotLike,
        patient: Named,
        *,
        reason: str | None = None,
        appointment: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Appointment:
        """Book a hold or a slot for a patient, and return the Appointment.

        ``appointment`` has further elements and participants. Raise SlotTaken, which names others that are free.
        """
        return cast("Appointment", await self._driver.run(self._flows.book(place, patient, reason, appointment, key)))

    async def reschedule(self, appointment: Named, place: Hold | SlotLike, *, key: str | None = None) -> Appointment:
        """Move an appointment to a hold or a slot, and return it. Raise SlotTaken: then it stays as it is."""
        return cast("Appointment", await self._driver.run(self._flows.reschedule(appointment, place, key)))

    async def cancel(
        self,
        appointment: Named,
        reason: str | Mapping[str, Any],
        *,
        comment: str | None = None,
        key: str | None = None,
    ) -> Appointment:
        """Call an appointment off and return it. ``reason`` is a text, or a CodeableConcept with a code of the practice."""
        return cast("Appointment", await self._driver.run(self._flows.cancel(appointment, reason, comment, key)))


class AsyncDocuments:
    """Uploads and downloads files."""

    def __init__(self, driver: AsyncDriver, flows: DocumentFlows) -> None:
        self._driver = driver
        self._flows = flows

    async def upload(self, content: bytes, content_type: str, *, title: str | None = None) -> Attachment:
        """Store a file and return the Attachment by which a resource names it, within a day."""
        return cast("Attachment", await self._driver.run(self._flows.upload(content, content_type, title)))

    async def file(
        self,
        patient: Named,
        content: bytes,
        content_type: str,
        *,
        title: str | None = None,
        document: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> DocumentReference:
        """Upload a file and return the new DocumentReference of it. ``document`` has further elements of that.

        Raise Conflict with the code ``duplicate`` if the patient has the same file already.
        """
        made = await self._driver.run(self._flows.file(patient, content, content_type, title, document, key))
        return cast("DocumentReference", made)

    async def download(self, document: Named, *, index: int = 0) -> bytes:
        """Return the file of a DocumentReference; ``index`` is that of its ``content``. Raise ContentDamaged if it differs."""
        return await self._driver.run(self._flows.download(document, index))
