"""Keeps a copy of the patients of a practice in a file: the program that test_changes kills.

    python follower.py BASE API_KEY CLIENT_ID CLIENT_SECRET CURSOR COPY [end]

COPY gets a line for each change, made durable with its page. With ``end`` it ends when the copy is complete.
"""

from __future__ import annotations

import os
import sys

from praxis_client import Client, ClientCredentials, FileCursor


def main() -> None:
    base, api_key, client_id, client_secret, cursor, copy, *rest = sys.argv[1:]
    credentials = ClientCredentials(api_key=api_key, client_id=client_id, client_secret=client_secret)
    wait = None if rest == ["end"] else 1
    with Client(base, credentials) as client, open(copy, "a", encoding="utf-8") as file:
        for changes in client.follow_pages(FileCursor(cursor), ["Patient"], count=7, wait=wait):
            for change in changes:
                version = change.resource["meta"]["versionId"] if change.resource is not None else "deleted"
                file.write(f"{change.id} {version}\n")
                file.flush()
            os.fsync(file.fileno())
            print(len(changes), flush=True)


main()
