"""The keys that sign webhooks: ``whsec_`` and 24 to 64 random bytes in base64, as Standard Webhooks
1.0 defines a symmetric key. A file has one key a line, at most two: while a key is changed, each
request is signed with both.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
"""

from __future__ import annotations

import base64
import binascii

from common import randomness
from common.errors import NovamasError

KEY_PREFIX = "whsec_"
KEY_BYTES = 32
"""Random bytes of a new key."""
MIN_KEY_BYTES = 24
MAX_KEY_BYTES = 64
MAX_KEYS = 2
"""Keys that are valid at the same time."""


class WebhookKeyError(NovamasError, ValueError):
    """A file has no valid keys. The message says why and what to do, and quotes no key."""


def make_webhook_key() -> str:
    """Return a new key as its line of the file."""
    return KEY_PREFIX + base64.b64encode(randomness.token_bytes(KEY_BYTES)).decode()


def parse_webhook_keys(text: str) -> tuple[bytes, ...]:
    """Return the keys in the text of a file. Raises :class:`WebhookKeyError`."""
    lines = [stripped for line in text.splitlines() if (stripped := line.strip())]
    if not 1 <= len(lines) <= MAX_KEYS:
        raise WebhookKeyError(
            f"has {len(lines)} keys; write one a line, at most {MAX_KEYS}, the newest first"
        )
    return tuple(_parse(number, line) for number, line in enumerate(lines, 1))


def _parse(number: int, line: str) -> bytes:
    try:
        if not line.startswith(KEY_PREFIX):
            raise ValueError
        key = base64.b64decode(line.removeprefix(KEY_PREFIX), validate=True)
    except (ValueError, binascii.Error):
        problem = f"is not {KEY_PREFIX} followed by base64"
    else:
        if MIN_KEY_BYTES <= len(key) <= MAX_KEY_BYTES:
            return key
        problem = f"has {len(key)} bytes, expected {MIN_KEY_BYTES} to {MAX_KEY_BYTES}"
    raise WebhookKeyError(f"key {number} {problem}; `novamas webhooks secret FILE` makes a key")
