"""Two worlds that differ in one card that nobody has seen look the same until it is published,
whatever the input. Any reading and command at any time, cards that are named by guessing, the same
card twice in a shoe, restarts in mid-round.
"""

from __future__ import annotations

import random
import re
from typing import Any

import msgspec
import pytest

from common.contract.commands import (
    COMMANDS,
    CardDecide,
    CardsDeal,
    CardsShow,
    ResultCorrect,
    RoundConfirm,
)
from common.contract.events import DataLate
from common.contract.notation import Input, write
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.readings import READINGS, CardDrawn, JournalRestore, Reading, ShufflerVerdict
from controller.games.games import make_game
from controller.tables.table import Table
from tests.controller.confidential.test_confidential import published_by
from tests.support.games.anything import anything
from tests.support.games.decrees import PAIRS
from tests.support.games.monkey import MANNERS, Manners, Monkey, frame

MAX_STEPS = 240
SEEDS = 4
"""Evenings to play: all in the long form, else until one has a card that lies face down."""
NOISE_SHARE = 0.15
"""Share of random inputs among sensible ones."""
# a restore is the first input of a run, and ends the evening
KINDS: tuple[type[Any], ...] = (
    *(*(each for each in READINGS if each is not JournalRestore), *COMMANDS, *COMMANDS),
    *(CardDrawn, CardDecide, CardsShow, CardsShow, CardsDeal, ResultCorrect, ShufflerVerdict) * 3,
)
SHOES = ("blackjack", "trente-et-quarante", "punto-banca", "chemin-de-fer", "baccarat-two-cloths")
CARD_NAME = re.compile(rb'"([A2-9TJQK][cdhs]|X)"')

Settings = dict[str, Any]
VARIANTS: tuple[tuple[str, str, Settings], ...] = (
    ("punto-banca", "ARA02", {"turn": "when_complete"}),
    ("punto-banca", "EUS96", {"third_card": "face_down"}),
    ("punto-banca", "GAL07", {"witness": "compared"}),
    ("punto-banca", "BAL05", {"rounds": "shoe"}),
)
GAMES = [*((*pair, Settings()) for pair in PAIRS if make_game(*pair, {}).face_down), *VARIANTS]


class World:
    """One table, and its public output."""

    def __init__(
        self, game_id: str, decree: str, settings: Settings, saved: bytes | None = None
    ) -> None:
        self._names = game_id, decree, settings
        self.table = self._made("boot", saved)

    def _made(self, boot: str, saved: bytes | None) -> Table:
        game_id, decree, settings = self._names
        game = make_game(game_id, decree, settings)
        return Table(
            "casino",
            "t1",
            game_id,
            decree,
            game,
            boot,
            saved=saved,
            about=About(devices={"shoe": "driver"}),
        )

    @property
    def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.table.retained()["state"] or b"")["shown"]
        return found

    def take(self, given: Input | None) -> tuple[list[bytes], set[str]]:
        """The public output of a step, whether it is sealed, and the cards that it publishes. None:
        the daemon restarts.
        """
        if given is None:
            self.table = self._made("again", self.table.saved())
            seen = [self.take(lost) for lost in self.table.gap(1.0)]
            return [line for lines, _ in seen for line in lines], set()
        try:
            events, sealed = self.table.handle(given, "now", 0)
        except RejectedError as no:
            return [f"refused: {no}".encode()], set()
        proved = (event for event in events if not isinstance(event, DataLate))
        assert not any(getattr(event, "frames", ()) for event in proved), "a frame reveals a card"
        retained = [body for body in self.table.retained().values() if body]
        return [b"sealed" if sealed else b"in clear", *map(write, events), *retained], published_by(
            events
        )


class Evening:
    """A table that is played wildly. ``course``: the table's state before each input, and the
    input; None for a restart.
    """

    def __init__(self, game_id: str, decree: str, settings: Settings, seed: int) -> None:
        self.shoe = game_id in SHOES
        self.pack = MANNERS.get(game_id, Manners()).pack
        self.course: list[tuple[bytes, Input | None]] = []
        self._chance = random.Random(f"{game_id} {decree} {seed}")
        self._monkey = Monkey(f"{game_id} {decree} {seed} worlds", game_id)
        self._drawn: list[str] = []
        world = World(game_id, decree, settings)
        while len(self.course) < MAX_STEPS and len(self._monkey.left) > 2:
            given = None if self._chance.random() < 0.02 else self._next(world.shown)
            if isinstance(given, CardDrawn) and given.card is not None:
                self._drawn.append(given.card)
            self.course.append((world.table.saved(), given))
            world.take(given)

    def _next(self, shown: dict[str, Any]) -> Input:
        if self.shoe and len(self._monkey.left) < 20:
            self._monkey.left += self.pack
        if self._chance.random() < NOISE_SHARE:
            return self._guessed(anything(self._chance.choice(KINDS), self._chance, self.pack))
        try:
            given = self._monkey.next(shown)
        except ValueError:  # it has not learned this input
            return anything(self._chance.choice(COMMANDS), self._chance, self.pack)
        again = self.shoe and self._drawn and self._chance.random() < 0.25
        return (
            twin(given, self._chance.choice(self._drawn[-4:]))
            if again and isinstance(given, CardDrawn) and given.card
            else given
        )

    def _guessed(self, given: Input) -> Input:
        """A guess names one of the cards that were drawn last."""
        if not self._drawn or self._chance.random() < 0.4:
            return given
        card = self._chance.choice(self._drawn[-8:])
        match given:
            case CardDecide():
                return msgspec.structs.replace(given, card=card)
            case CardsShow() | CardsDeal() if given.cards:
                return msgspec.structs.replace(given, cards=(card, *given.cards[1:]))
            case ShufflerVerdict():
                return msgspec.structs.replace(given, missing=(card,))
            case CardDrawn() if given.card is not None:
                return twin(given, self._monkey.left.pop())
        return (
            msgspec.structs.replace(given, device="shoe") if isinstance(given, Reading) else given
        )

    def free(self) -> list[str]:
        """Cards that nothing names: any other could replace them."""
        named = {
            found.decode()
            for _, given in self.course
            if given is not None
            for found in CARD_NAME.findall(write(given))
        }
        return [card for card in self.pack if self.shoe or card not in named]


def twin(given: CardDrawn, card: str) -> CardDrawn:
    """Return the same report with another card."""
    return msgspec.structs.replace(given, card=card, frame=frame(card))


@pytest.mark.parametrize(("game_id", "decree", "settings"), GAMES)
def test_an_unseen_card_cannot_distinguish_two_worlds(
    game_id: str, decree: str, settings: Settings, long: bool
) -> None:
    compared = 0
    for seed in range(SEEDS):
        if seed and compared and not long:
            break
        evening = Evening(game_id, decree, settings, seed)
        chance, free = random.Random(seed), evening.free()
        drawn = [
            step for step, (_, given) in enumerate(evening.course) if isinstance(given, CardDrawn)
        ]
        for step in drawn if long else drawn[::4]:
            saved, given = evening.course[step]
            others = [card for card in free if isinstance(given, CardDrawn) and card != given.card]
            if not isinstance(given, CardDrawn) or given.card not in evening.pack or not others:
                continue
            one, other = (World(game_id, decree, settings, saved) for _ in range(2))
            instead = twin(given, chance.choice(others))
            asked = World(game_id, decree, settings, saved).table
            if asked.handle(given, "now", 0).confidential:
                compared += compare(
                    one, other, given, instead, [each for _, each in evening.course[step + 1 :]]
                )
            else:
                assert instead.card in other.take(instead)[1], (
                    f"in clear, and not published: {given}"
                )
    assert compared, "no card lay face down: the test plays badly"


def compare(
    one: World, other: World, given: CardDrawn, instead: CardDrawn, following: list[Input | None]
) -> int:
    """Compare both step by step, until either card is published. Return the number of steps."""
    for count, (left, right) in enumerate(
        zip([given, *following], [instead, *following], strict=True)
    ):
        (here, told), (there, told_there) = one.take(left), other.take(right)
        if given.card in told or instead.card in told_there:
            return count
        if isinstance(left, RoundConfirm) and (
            here != there or here[0] in (b"sealed", b"in clear")
        ):
            return count  # confirming a round states that its cards are open
        if (
            count
            and left is not None
            and {str(given.card), str(instead.card)}
            & {each.decode() for each in CARD_NAME.findall(write(left))}
        ):
            return count  # a person who names it holds it in his hand
        assert here == there, f"{given.card} or {instead.card}: {left} distinguishes them"
    return 1 + len(following)
