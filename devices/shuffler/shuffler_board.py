"""Driver of a self-built shuffler with a sensor board: see ``docs/engineer/board.md``.

It reports its state, its verdict on the cards in it, and that a packet came out. Whether the count
is right and whether the set is right are two separate facts. **No report has a field that could
reveal cards in order**: a negative verdict names missing or extra cards, only a few, and only in
the order of a new deck. A report that names cards in any other way is dropped, never shown, and
reported as ``cards_refused``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, get_args

import msgspec

from common.readings import (
    AnyReading,
    ShufflerPacket,
    ShufflerState,
    ShufflerStateName,
    ShufflerVerdict,
)
from devices.board.codec import BoardCodec, BoardMessage, Options
from devices.board.report import Report
from devices.codec import Driver

STATES: dict[str, ShufflerStateName] = {name: name for name in get_args(ShufflerStateName)}
"""The board's word -> the state."""
VERDICTS: dict[str, bool | None] = {"1": True, "0": False, "-": None}
NEW_DECK = (*(rank + suit for suit in "cdhs" for rank in "A23456789TJQK"), "X")
"""The order in which cards must be named."""
MAX_NAMED_CARDS = 8
"""Maximum number of cards named as missing, and of cards named as extra."""

_CARD = "(?:[A2-9TJQK][cdhs]|X)"
_CARDS = rf"-|{_CARD}(?:\+{_CARD}){{0,{MAX_NAMED_CARDS - 1}}}"
_RECIPIENT = r"(?:box|seat|board|common):[1-9]\d?|dealer|board|burn"
_CARD_TEXT = re.compile(
    r"(?<![a-z])(?:10|[A2-9TJQKa2-9tjqk])[CDHScdhs](?![a-z])|[\u2660-\u2667]|(?<![a-z])X(?![a-z])"
)


class ShufflerBoard(BoardCodec):
    """One shuffler. See :class:`devices.codec.Codec`."""

    kind = "shuffler"
    accepts_late = frozenset({"verdict", "packet"})
    shows_garbage = False
    words: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "state": re.compile(
            rf"(?P<state>{'|'.join(STATES)}),(?P<packets>\d{{1,5}})(?:,(?P<detail>[a-z][a-z_]{{0,31}}))?"
        ),
        "verdict": re.compile(
            rf"(?P<decks>\d{{1,2}}|-),(?P<count>\d{{1,4}}|-),(?P<count_right>[01-]),(?P<set_right>[01-]),"
            rf"(?P<missing>{_CARDS}),(?P<extra>{_CARDS})"
        ),
        "packet": re.compile(
            rf"(?P<packets>\d{{1,5}}),(?P<size>[1-9]\d{{0,2}})(?:,(?P<to>{_RECIPIENT}))?"
        ),
    }
    """``packets``: number of packets dealt since the board was started."""

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._state: tuple[str, str | None, bool] | None = None
        self._packets: int | None = None

    def on_restart(self) -> None:
        """See :class:`devices.board.codec.BoardCodec`."""
        self._state = None
        self._packets = None

    def parse_fields(self, report: Report) -> re.Match[str] | None:
        """Return the fields of a report; None also if it names cards other than in a valid
        verdict.
        """
        fields = super().parse_fields(report)
        if fields is None or report.word != "verdict":
            return None if _CARD_TEXT.search(report.fields) else fields
        named = [_cards(fields[name]) for name in ("missing", "extra")]
        wrong = "0" in (fields["count_right"], fields["set_right"])
        return (
            fields
            if all(_as_in_a_new_deck(cards) for cards in named) and (wrong or not any(named))
            else None
        )

    def on_malformed(self, report: Report, now: float, out: list[AnyReading]) -> None:
        """Report a malformed message, or one that names cards, without any of its content."""
        super().on_malformed(report, now, out)
        if _CARD_TEXT.search(report.fields):
            self.report("cards_refused", report.word, now, out)

    def on_message(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Handle ``state``, which is repeated every second, and ``verdict`` and ``packet``, sent
        once.
        """
        fields = message.fields
        if message.word == "verdict":
            out.append(
                ShufflerVerdict(
                    at=message.now,
                    device=self._device,
                    frame=message.frame,
                    decks=_number(fields["decks"]),
                    count=_number(fields["count"]),
                    count_right=VERDICTS[fields["count_right"]],
                    set_right=VERDICTS[fields["set_right"]],
                    missing=_cards(fields["missing"]),
                    extra=_cards(fields["extra"]),
                    late=message.late,
                )
            )
            return
        packets = int(fields["packets"])
        self._report_missed_packets(packets - (message.word == "packet"), message, out)
        self._packets = packets
        if message.word == "packet":
            out.append(
                ShufflerPacket(
                    at=message.now,
                    device=self._device,
                    frame=message.frame,
                    size=int(fields["size"]),
                    to=fields["to"],
                    index=packets,
                    late=message.late,
                )
            )
        elif self._state != (fields["state"], fields["detail"], message.late):
            self._state = fields["state"], fields["detail"], message.late
            out.append(
                ShufflerState(
                    at=message.now,
                    device=self._device,
                    frame=message.frame,
                    state=STATES[fields["state"]],
                    detail=fields["detail"],
                    late=message.late,
                )
            )

    def _report_missed_packets(
        self, before: int, message: BoardMessage, out: list[AnyReading]
    ) -> None:
        """Report packets that came out without a report."""
        if self._packets is not None and before > self._packets:
            self.report(
                "packets_missed", str(before - self._packets), message.now, out, message.frame
            )


def _cards(named: str) -> tuple[str, ...]:
    return () if named == "-" else tuple(named.split("+"))


def _as_in_a_new_deck(cards: tuple[str, ...]) -> bool:
    places = [NEW_DECK.index(card) for card in cards]
    return places == sorted(places)


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def _make(device: str, options: msgspec.Struct) -> ShufflerBoard:
    assert isinstance(options, Options)
    return ShufflerBoard(device, options)


DRIVER = Driver(
    name="shuffler-board",
    kind="shuffler",
    title="Shuffler with a sensor board",
    evidence="documented",
    line="baud=115200",
    options=Options,
    commands=(),
    make=_make,
)
