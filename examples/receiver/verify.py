"""Verifies messages that are signed as Standard Webhooks says: https://www.standardwebhooks.com. Python 3.9 or later alone."""

import base64
import hashlib
import hmac
import re
import time


def is_authentic(headers, body, secrets):
    """Whether one of the secrets signed the message, and lately. `body` is the bytes as they came."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        for signature in headers.get("webhook-signature", "").split():
            if hmac.compare_digest(signature.encode(), expected.encode()):
                return True
    return False
