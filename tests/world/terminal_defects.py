"""Defects of the terminal display, for the checker of screens to find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from subscribers.display.picture import table_picture
from subscribers.feed import floor
from subscribers.feed.tables import ConnectionChange
from subscribers.terminal import display
from tests.world.defects import will_is_not_looked_at


def lost_broker_is_not_shown(patch: pytest.MonkeyPatch) -> None:
    """A table stays as it was when the connection is lost, and nobody counts the seconds."""
    on_message = floor.Floor.on_message

    def calm(own: floor.Floor, simulated: bool, message: Any) -> None:
        if not isinstance(message, ConnectionChange) or message.up:
            on_message(own, simulated, message)

    patch.setattr(floor.Floor, "on_message", calm)
    patch.setattr(floor.Floor, "check_silence", lambda _: None)


def picture_is_made_once(patch: pytest.MonkeyPatch) -> None:
    """The picture of a table is the first one."""
    first: dict[str, Any] = {}
    make = table_picture

    def once(known: Any, *more: Any) -> Any:
        picture = make(known, *more)
        return first.setdefault(picture.table, picture) if picture.current else picture

    patch.setattr(display, "table_picture", once)


DEFECTS: Mapping[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    will_is_not_looked_at: ("daemon killed", "machine suspended", "broker cut off"),
    lost_broker_is_not_shown: ("broker cut off",),
    picture_is_made_once: ("daemon killed",),
}
"""Each defect, and the faults that show it."""
