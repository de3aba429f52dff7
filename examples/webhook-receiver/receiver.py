"""Receives webhooks: verifies them, takes each once, and answers before it works. Python 3.9 or later, nothing else.

    WEBHOOK_SECRET=whsec_… PORT=8081 python3 examples/webhook-receiver/receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Two secrets, separated by a blank, while one replaces the other.
SECRETS = os.environ["WEBHOOK_SECRET"].split()
BODY_BYTES_MAX = 5_000_000
IDS_MAX = 100_000


def is_authentic(headers, body):
    """Whether the message is one of ours, and not older than five minutes. `body` is the bytes as they came."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    for secret in SECRETS:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        for signature in headers.get("webhook-signature", "").split():
            if hmac.compare_digest(signature.encode(), expected.encode()):
                return True
    return False


# Ids of messages that were taken. A receiver with a database keeps them there, in the transaction that stores the message.
taken = {}
lock = threading.Lock()
work = queue.Queue()


def take_once(message_id):
    """Whether the message came for the first time."""
    with lock:
        if message_id in taken:
            return False
        if len(taken) >= IDS_MAX:
            del taken[next(iter(taken))]
        taken[message_id] = True
        return True


def handle():
    """Here the work is done, after the answer."""
    while True:
        message_id, body = work.get()
        print(f"{message_id}: {len(body)} bytes", flush=True)


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
        if not is_authentic(self.headers, body):
            return self.answer(401)
        message_id = self.headers["webhook-id"]
        if take_once(message_id):
            work.put((message_id, body))
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status in (411, 413):
            self.send_header("connection", "close")
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Paths and addresses are nobody's business."""


threading.Thread(target=handle, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8081"))), Receiver)
print(f'listening on {json.dumps({"port": server.server_address[1]})}', flush=True)
server.serve_forever()
