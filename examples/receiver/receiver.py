"""Receives the notifications of Subscriptions: verifies them, takes each event once and in order, and answers when it is stored.
Python 3.9 or later, nothing else.

    SECRETS=secrets.txt EVENTS=events.ndjson PORT=8081 python3 examples/receiver/receiver.py

SECRETS has a secret a line: while one replaces the other, both. EVENTS gets a line for each event, with its number. What was told
before is known from there, so store both together where your records are.
"""

import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import is_authentic

SECRETS = os.environ.get("SECRETS", "secrets.txt")
EVENTS = os.environ.get("EVENTS", "events.ndjson")
BODY_BYTES_MAX = 8 * 1024 * 1024

# Number of the last event of each subscription; ids of messages that have no numbers.
last = {}
taken = set()
lock = threading.Lock()


def note(line):
    if "number" in line:
        last[line["subscription"]] = line["number"]
    else:
        taken.add(line["message"])


def read_stored():
    """What was stored before this process began. A line that was not written to its end was not answered either: it comes again."""
    if not os.path.exists(EVENTS):
        return
    with open(EVENTS, "rb+") as file:
        text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        file.truncate(len(whole))
    for line in whole.splitlines():
        note(json.loads(line))


def store(lines):
    """Stores the lines, all or nothing, before the answer."""
    if not lines:
        return
    with open(EVENTS, "a", encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())
    for line in lines:
        note(line)


def read_events(entries):
    """The events of a notification by a topic, in their order; a handshake and a heartbeat have none."""
    parameters = entries[0]["resource"]["parameter"]
    subscription = next(each["valueReference"]["reference"] for each in parameters if each["name"] == "subscription")
    told = [each["part"] for each in parameters if each["name"] == "notification-event"]
    for at, parts in enumerate(told):
        number = next(int(each["valueString"]) for each in parts if each["name"] == "event-number")
        line = {"subscription": subscription, "number": number}
        if at + 1 < len(entries):
            entry = entries[at + 1]
            line.update(method=entry["request"]["method"], url=entry["fullUrl"], resource=entry.get("resource"))
        yield line


def read_new(method, url, message, body):
    """What is new in a message."""
    resource = json.loads(body) if body else None
    if method == "POST" and resource and resource["resourceType"] == "Bundle":
        events = [each for each in read_events(resource["entry"]) if each["number"] > last.get(each["subscription"], 0)]
        before = last.get(events[0]["subscription"]) if events else None
        # Ask $events for them, then this message again: answer 500 until they are stored.
        if before is not None and events[0]["number"] > before + 1:
            print(f"missing from {before + 1} to {events[0]['number'] - 1}", flush=True)
        return events
    return [] if message in taken else [{"message": message, "method": method, "url": url, "resource": resource}]


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 15

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not re.fullmatch(r"[0-9]{1,12}", length):
            return self.answer(411)
        if int(length) > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(int(length))
        with open(SECRETS, encoding="utf-8") as file:
            secrets = file.read().split()
        if not is_authentic(self.headers, body, secrets):
            return self.answer(401)
        message = self.headers["webhook-id"]
        try:
            with lock:
                lines = read_new(self.command, self.path, message, body)
                store(lines)
        except (OSError, ValueError, KeyError):
            return self.answer(500)
        print(f"{message}: {len(lines)} new", flush=True)
        return self.answer(204)

    do_PUT = do_POST

    def answer(self, status):
        self.send_response(status)
        if status in (411, 413):
            self.send_header("connection", "close")
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Paths and addresses are nobody's business."""


read_stored()
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8081"))), Receiver)
print(f'listening on {json.dumps({"port": server.server_address[1]})}', flush=True)
server.serve_forever()
