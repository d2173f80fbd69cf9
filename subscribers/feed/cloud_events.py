"""The names that CloudEvents 1.0 gives to what every event has, as headers of HTTP.

Source: github.com/cloudevents/spec, cloudevents/spec.md and bindings/http-protocol-binding.md
(binary content mode), version 1.0.2.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SPEC_VERSION = "1.0"
_HEADER_TEXT = re.compile(r"[!-~]+")
"""A value that needs no escape in a header."""


class CloudEventNames(NamedTuple):
    """``source``: the root of the table's topics; with ``id`` it identifies an event, also when it
    is sent again.
    """

    id: str
    source: str
    type: str
    time: str


def event_id(site: str, table: str, boot: str, seq: int) -> str:
    """Return the id of an event, which never changes: site, table, run of the daemon, number."""
    return f"{site}/{table}/{boot}/{seq}"


def cloud_event_headers(names: CloudEventNames) -> dict[str, str]:
    """Return the headers. Raise ``ValueError`` if a value cannot be in a header: a name that the
    contract does not allow.
    """
    for name, value in zip(names._fields, names, strict=True):
        if not _HEADER_TEXT.fullmatch(value):
            raise ValueError(f"{name}: not printable ASCII without blanks")
    return {
        "ce-specversion": SPEC_VERSION,
        "ce-id": names.id,
        "ce-source": names.source,
        "ce-type": names.type,
        "ce-time": names.time,
    }
