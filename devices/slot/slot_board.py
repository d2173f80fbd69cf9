"""Driver of the slots of a table's boxes, which count coins and chips, built by the house: see
``docs/board.md``.

The board counts all coins since it was started, so that one whose report was lost is known to be
missing. Which it was, nobody knows: it is told as ``coins_missed`` and never made up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from devices.board.codec import Board, Heard, Options
from devices.codec import Driver
from devices.readings import AnyReading, SlotCoin


class SlotBoard(Board):
    """The slots of one table. See :class:`devices.codec.Codec`."""

    kind = "slot"
    always = frozenset({"coin", "coins"})
    words: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "coin": re.compile(r"(?P<coins>\d{1,9}),(?P<box>[1-9]\d?),(?P<amount>[1-9]\d{0,8})"),
        "coins": re.compile(r"(?P<coins>\d{1,9}),(?P<health>[a-z][a-z_]{0,15})"),
    }
    """``coins``: how many have gone in since the board was started."""

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._coins: int | None = None
        self._health: str | None = None

    def forget(self) -> None:
        """It was started anew, and counts anew."""
        self._coins = None
        self._health = None

    def take(self, heard: Heard, out: list[AnyReading]) -> None:
        """``coin``: one went in; ``coins``, each second: how many have, and whether the slots are
        well.
        """
        fields = heard.fields
        coins, one = int(fields["coins"]), heard.word == "coin"
        if self._coins is not None and coins - one > self._coins:
            self.tell("coins_missed", str(coins - one - self._coins), heard.now, out, heard.frame)
        self._coins = coins
        if one:
            box, amount = int(fields["box"]), int(fields["amount"])
            out.append(
                SlotCoin(
                    at=heard.now,
                    device=self._device,
                    frame=heard.frame,
                    box=box,
                    amount=amount,
                    late=heard.late,
                )
            )
        elif self._health != fields["health"]:
            self._health = fields["health"]
            self.tell("health", fields["health"], heard.now, out, heard.frame)


def _make(device: str, options: msgspec.Struct) -> SlotBoard:
    assert isinstance(options, Options)
    return SlotBoard(device, options)


DRIVER = Driver(
    name="slot-board",
    kind="slot",
    title="Coin slots with a sensor board",
    evidence="documented",
    line="baud=115200",
    options=Options,
    commands=(),
    make=_make,
)
