"""Driver of self-built coin slots at a table's boxes, which count coins and chips: see
``docs/engineer/board.md``.

The board counts all coins since it was started, so a lost report of a coin is detected. Its box is
unknown, so the coin is reported as ``coins_missed`` and never invented.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from common.readings import AnyReading, SlotCoin
from devices.board.codec import BoardCodec, BoardMessage, Options
from devices.codec import Driver


class SlotBoard(BoardCodec):
    """The slots of one table. See :class:`devices.codec.Codec`."""

    kind = "slot"
    accepts_late = frozenset({"coin", "coins"})
    words: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "coin": re.compile(r"(?P<coins>\d{1,9}),(?P<box>[1-9]\d?),(?P<amount>[1-9]\d{0,8})"),
        "coins": re.compile(r"(?P<coins>\d{1,9}),(?P<health>[a-z][a-z_]{0,15})"),
    }
    """``coins``: number of coins inserted since the board was started."""

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._coins: int | None = None
        self._health: str | None = None

    def on_restart(self) -> None:
        """See :class:`devices.board.codec.BoardCodec`: the board counts from 0 again."""
        self._coins = None
        self._health = None

    def on_message(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Handle ``coin``, an inserted coin, and ``coins``, sent every second: their total and the
        health of the slots.
        """
        fields = message.fields
        coins, is_coin = int(fields["coins"]), message.word == "coin"
        if self._coins is not None and coins - is_coin > self._coins:
            self.report(
                "coins_missed", str(coins - is_coin - self._coins), message.now, out, message.frame
            )
        self._coins = coins
        if is_coin:
            box, amount = int(fields["box"]), int(fields["amount"])
            out.append(
                SlotCoin(
                    at=message.now,
                    device=self._device,
                    frame=message.frame,
                    box=box,
                    amount=amount,
                    late=message.late,
                )
            )
        elif self._health != fields["health"]:
            self._health = fields["health"]
            self.report("health", fields["health"], message.now, out, message.frame)


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
