"""Client of Praxis, a FHIR R4 service for medical practices.

>>> from praxis_client import Client, ClientCredentials
>>> client = Client(base, ClientCredentials(api_key, client_id, client_secret))
>>> for patient in client.search("Patient", {"family": "smith"}): ...

``AsyncClient`` has the same for asyncio. The module ``r4`` has types of all resources.
"""

from praxis_client._booking import Hold
from praxis_client._json import ExactFloat
from praxis_client._version import version as __version__
from praxis_client.async_client import AsyncBooking, AsyncClient, AsyncDocuments
from praxis_client.bundles import Answers, Batch, Bundle, Entry, EntryAnswer, Transaction
from praxis_client.changes import Change
from praxis_client.client import Booking, Client, Documents
from praxis_client.credentials import ClientAssertion, ClientCredentials, Credentials, PasswordGrant
from praxis_client.cursors import CursorStore, FileCursor, MemoryCursor
from praxis_client.errors import (
    Alternative,
    AnswerTooLarge,
    AwaitingReview,
    BadRequest,
    Conflict,
    ContentDamaged,
    FeedEnded,
    Forbidden,
    Gone,
    NotFound,
    PraxisError,
    PreconditionFailed,
    RateLimited,
    Refused,
    ServerError,
    SlotTaken,
    TokenRefused,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    Unprocessable,
    Unreachable,
)
from praxis_client.pages import Page
from praxis_client.reading import read_parameter, read_parameters, reference_to
from praxis_client.retries import Retries

__all__ = [
    "Alternative",
    "AnswerTooLarge",
    "Answers",
    "AsyncBooking",
    "AsyncClient",
    "AsyncDocuments",
    "AwaitingReview",
    "BadRequest",
    "Batch",
    "Booking",
    "Bundle",
    "Change",
    "Client",
    "ClientAssertion",
    "ClientCredentials",
    "Conflict",
    "ContentDamaged",
    "Credentials",
    "CursorStore",
    "Documents",
    "Entry",
    "EntryAnswer",
    "ExactFloat",
    "FeedEnded",
    "FileCursor",
    "Forbidden",
    "Gone",
    "Hold",
    "MemoryCursor",
    "NotFound",
    "Page",
    "PasswordGrant",
    "PraxisError",
    "PreconditionFailed",
    "RateLimited",
    "Refused",
    "Retries",
    "ServerError",
    "SlotTaken",
    "TokenRefused",
    "TooLarge",
    "Transaction",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "Unprocessable",
    "Unreachable",
    "__version__",
    "read_parameter",
    "read_parameters",
    "reference_to",
]
