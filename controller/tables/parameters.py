"""Parameters that the devices at a table state about themselves. Values that make no sense raise
one alert, changed values another.

The value that a device states first is taken as right, so that a change is seen across restarts.
Work on the device that a person records makes the present values right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    DeviceParameterRead,
)
from common.contract.retained import Alert
from common.readings import DeviceParameter


class KnownParameters(msgspec.Struct, frozen=True, omit_defaults=True):
    """The parameters of one device, by name. ``right``: the values accepted as right; ``present``:
    the latest ones; ``expected``: what was expected in place of those that make no sense;
    ``silent``: those for which the device did not answer the last time.
    """

    right: dict[str, str] = {}
    present: dict[str, str] = {}
    expected: dict[str, str] = {}
    silent: tuple[str, ...] = ()


Parameters = Mapping[str, KnownParameters]


def limit_alert(device: str) -> str:
    """Return the id of the alert that a device works with a value that makes no sense."""
    return f"{device}-parameters"


def change_alert(device: str) -> str:
    """Return the id of the alert that a parameter of a device was changed."""
    return f"{device}-parameters-changed"


def on_parameter(
    reading: DeviceParameter, known: Parameters, alerts: Mapping[str, Alert | None]
) -> tuple[KnownParameters, list[AnyEvent]]:
    """Process a stated parameter. Return the new knowledge of the device, and the events."""
    device, name, value = reading.device, reading.parameter, reading.value
    before = known.get(device, KnownParameters())
    silent = tuple(each for each in before.silent if each != name)
    if value is None:
        after = replace(before, silent=(*silent, name))
        unchanged = name in before.silent
    else:
        expected = {key: text for key, text in before.expected.items() if key != name}
        if reading.expected is not None:
            expected[name] = reading.expected
        after = KnownParameters(
            right={name: value} | before.right,
            present={**before.present, name: value},
            expected=expected,
            silent=silent,
        )
        unchanged = after == before
    if unchanged:
        return before, []
    stated = DeviceParameterRead(
        device=device,
        parameter=name,
        value=value,
        was=before.present.get(name),
        expected=reading.expected,
    )
    return after, [stated, *_alerts(device, after, alerts)]


def accept_present(known: Parameters, device: str) -> dict[str, KnownParameters]:
    """Return the knowledge after work on a device: its present values are right."""
    if (before := known.get(device)) is None:
        return dict(known)
    return {**known, device: replace(before, right=before.present)}


def cleared_by_service(device: str, alerts: Mapping[str, Alert | None]) -> Iterable[AnyEvent]:
    """Clear the alert about changed parameters of a device that was worked on."""
    if alerts.get(change_alert(device)) is not None:
        yield AlertCleared(alert=change_alert(device))


def _alerts(
    device: str, known: KnownParameters, alerts: Mapping[str, Alert | None]
) -> Iterable[AnyEvent]:
    """Raise, renew or clear the alerts of a device."""
    wrong = [
        f"{name} = {known.present[name]}, expected {text}" for name, text in known.expected.items()
    ]
    changed = [
        f"{name} = {value}, before {known.right[name]}"
        for name, value in known.present.items()
        if value != known.right[name]
    ]
    found: Any
    for alert, what, found in (
        (limit_alert(device), "device.parameter_wrong", wrong),
        (change_alert(device), "device.parameter_changed", changed),
    ):
        detail, raised = "; ".join(found), alerts.get(alert)
        if not found:
            if raised is not None:
                yield AlertCleared(alert=alert)
        elif raised is None or raised.detail != detail:
            yield AlertRaised(
                alert=alert, what=what, severity="warning", device=device, detail=detail
            )
