"""Where a follower of changes keeps its place, so that it goes on after a restart."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol


class CursorStore(Protocol):
    """Keeps one place in the feed of changes: a text that follow gives. Write your own beside the copy, in its database.

    Functions of a store that AsyncClient uses may be coroutines.
    """

    def load(self) -> str | Awaitable[str | None] | None:
        """Return the place; None at the beginning."""

    def save(self, place: str) -> Awaitable[None] | None:
        """Replace the place. Return when it is durable."""


class MemoryCursor:
    """Keeps the place as long as the program runs."""

    def __init__(self) -> None:
        self._place: str | None = None

    def load(self) -> str | None:
        """Return the place; None at the beginning."""
        return self._place

    def save(self, place: str) -> None:
        """Replace the place."""
        self._place = place

    def clear(self) -> None:
        """Forget the place, to begin again."""
        self._place = None


class FileCursor:
    """Keeps the place in a file, which is replaced as a whole: a program that is killed finds the old place or the new one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def load(self) -> str | None:
        """Return the place; None at the beginning."""
        try:
            return self._path.read_text("utf-8").strip() or None
        except FileNotFoundError:
            return None

    def save(self, place: str) -> None:
        """Replace the place. It is durable when this returns."""
        partial = self._path.with_name(f"{self._path.name}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{place}\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, self._path)
        self._sync_directory()

    def clear(self) -> None:
        """Forget the place, to begin again."""
        self._path.unlink(missing_ok=True)

    def _sync_directory(self) -> None:
        """Make the new name durable, where directories can be opened: not on Windows."""
        if os.name != "posix":
            return
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
