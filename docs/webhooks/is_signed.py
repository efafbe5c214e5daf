"""Verifies a webhook by hand, with nothing but the standard library of Python 3.9 or later."""
import base64
import hashlib
import hmac
import time

TOLERANCE_SECONDS = 300


def is_signed(secret, headers, body, now=None):
    """Tells whether `secret` signed exactly these bytes, at most five minutes ago. Names of headers are in lower case."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    try:
        age = (time.time() if now is None else now) - int(timestamp)
    except ValueError:
        return False
    if not message_id or abs(age) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, signature.encode()) for signature in signatures)
