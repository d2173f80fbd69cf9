"""The headers of CloudEvents."""

from __future__ import annotations

import pytest

from subscribers.feed.cloud_events import CloudEventNames, cloud_event_headers, event_id

NAMES = CloudEventNames(
    event_id("palma", "r1", "1f63d146", 10),
    "novamas/v1/palma/r1",
    "round.result",
    "2026-03-20T02:10:15.549646Z",
)


def test_an_event_has_the_names_of_cloud_events() -> None:
    assert cloud_event_headers(NAMES) == {
        "ce-specversion": "1.0",
        "ce-id": "palma/r1/1f63d146/10",
        "ce-source": "novamas/v1/palma/r1",
        "ce-type": "round.result",
        "ce-time": "2026-03-20T02:10:15.549646Z",
    }


@pytest.mark.parametrize("value", ["", "a b", "a\r\nHost: b", "ñ", "a\x00"])
def test_no_name_can_end_a_header(value: str) -> None:
    with pytest.raises(ValueError, match="type: not printable"):
        cloud_event_headers(NAMES._replace(type=value))
