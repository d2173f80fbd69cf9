"""Random evenings of circle poker with errors, at one table."""

from __future__ import annotations

import random
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardRemoved,
    CardTurned,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.notation import read_event, write
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, LinkGap, LinkLost, LinkUp, ShufflerVerdict
from controller.games.circle.showdown import cards_of
from controller.games.circle.state import CircleState
from controller.games.circle.streets import pack
from tests.conftest import cases
from tests.support.games.circle_play import Play, table
from tests.support.games.corrections import Standing, there_and_back
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

ROUNDS, MAX_ROUNDS = cases(100, 1000), 1000
"""More than the first number only as long as a wanted irregularity is missing."""
ERRORS = (
    *(
        "too_many",
        "too_few",
        "order",
        "exposed",
        "exposed_in_cut",
        "exposed_in_deck",
        "wrong_hand",
        "missing_card",
    ),
    *("foreign_card", "defective", "premature", "skipped", "touched", "absent"),
)
ACTIONS = (
    "check",
    "bet",
    "call",
    "call",
    "call",
    "raise",
    "fold",
    "all_in",
    "muck",
    "out",
    "in",
    "discard",
)
MAX_STEPS_PER_ROUND = 400
"""A round of more steps hangs."""


class Evening:
    """Rounds at one table. ``truth``: the true cards of each place; ``given``: cards that were
    reported to the table in this round.
    """

    def __init__(self, decree: str, game: str, seed: int) -> None:
        self.chance = random.Random(f"{decree} {game} {seed}")
        self.play = table(decree, game, seats=(1, 2, 4, 5, 7))
        self.pack = pack(self.play.game.book, 5)
        self.given: set[str] = set()
        self.told: set[str] = set()
        self.corrected = 0

    def round(self) -> None:
        """One round, from its antes to its outcome."""
        self.given, self.told = set(), set()
        self.deck = list(self.pack)
        self.chance.shuffle(self.deck)
        self.how = self.chance.choice(("read", "read", "packets", "hand"))
        self.wild = self.chance.random() < 0.5
        self.send("deck.check", cards=len(self.pack))
        while self.play.state.doubts:
            self.send("card.decide", action="accept")
        for name in self.play.state.resting:
            self.send("hand.act", who=f"seat:{name}", action="in")
        self.send("bets.open")
        for _ in range(MAX_STEPS_PER_ROUND):
            if self.play.state.current is None:
                break
            if self.wild and self.chance.random() < 0.08:
                self.disturb()
            else:
                self.go_on()
        else:
            self.send("round.void", reason="inspector")
            raise AssertionError(f"the round hangs: {self.play.asks}")

    def correct(self) -> None:
        """A person corrects the result of the last round, and corrects it back."""
        last = next(
            event
            for event in reversed(self.play.events)
            if isinstance(event, RoundOpened | RoundResult)
        )
        standing = Standing()
        standing.see([last])
        self.corrected += there_and_back(
            self.play, random.Random(last.round), standing, last.round, self.pack
        )

    def go_on(self) -> None:
        """The next inputs of the persons and devices at the table."""
        hand = self.play.current
        troubles = self.play.state.doubts
        if self.play.state.held:
            action = self.chance.choice(("accept", *["exposed"] * 4, "remove"))
            self.send(
                "card.decide",
                action=action,
                card=self.next() if self.chance.random() < 0.1 else None,
            )
        elif troubles:
            if troubles[0].asks == ("deal.error", "round.void"):
                self.send("deal.error", error="touched", who=self.chance.choice(hand.live).who)
            elif "deal.error" in troubles[0].asks:
                self.send("deal.error", error=troubles[0].what.removeprefix("deal_"), valid=False)
            else:
                self.send("card.decide", action=self.chance.choice(("accept", "accept", "remove")))
            if self.chance.random() < 0.2:
                self.send("round.void", reason="misdeal")
        elif hand.open:
            self.send(
                "hand.act",
                who=self.chance.choice(hand.seats).who,
                action=self.chance.choice(ACTIONS),
            )
            if self.chance.random() < 0.4:
                self.send("betting.close")
        elif hand.showdown or hand.unread_up:
            self.show()
        elif not hand.due:
            self.send("bets.close")
        elif hand.due[0].turn:
            self.send("cards.turn", who="board")
            self.send("cards.show", who="board", cards=[self.next()])
        else:
            self.deal()

    def next(self) -> str:
        """The next card of the pack; if it is empty, any card."""
        return self.deck.pop() if self.deck else self.chance.choice(self.pack)

    def deal(self) -> None:
        """Deal the next card or cards."""
        place = self.play.current.due[0]
        if self.how == "read":
            self.drawn(self.next() if self.chance.random() < 0.95 else None)
        elif self.how == "packets" and not place.up:
            run = sum(each.to == place.to for each in self.play.current.due)
            self.play.packet(min(run, 2) if place.to != "burn" else 1)
        elif place.to == "burn":
            self.send("cards.burn")
        elif place.up:
            run = sum(each.to == place.to and each.up for each in self.play.current.due)
            self.send("cards.deal", who=place.to, cards=[self.next() for _ in range(run)])
        else:
            self.send("cards.deal", count=self.chance.randint(1, 2))

    def show(self) -> None:
        """A player shows the cards that the reader read, or any cards that are unseen so far."""
        hand = self.play.current
        if hand.unread_up:
            who = hand.unread_up[0].to
            self.send(
                "cards.show",
                who=who,
                cards=[self.next() for each in hand.unread_up if each.to == who],
            )
            return
        covered = next(
            (row for row in hand.boards if len(cards_of(hand, row)) < len(hand.cards_of(row))), None
        )
        if covered is not None:
            self.send("round.void", reason="inspector")
            return
        seat = self.chance.choice(hand.live)
        own = hand.cards_of(seat.who)
        if self.chance.random() < 0.1:
            self.send("hand.act", who=seat.who, action="muck")
        elif all(each.card is not None for each in own):
            self.send("cards.turn", who=seat.who)
        else:
            self.send("cards.show", who=seat.who, cards=[each.card or self.next() for each in own])

    def disturb(self) -> None:
        """Send something that must not happen."""
        hand, at = self.play.current, self.play.now()
        match self.chance.randrange(9):
            case 0:
                error = self.chance.choice(ERRORS)
                who = self.chance.choice(("seat:1", "seat:3", "seat:4", "board", None))
                self.send(
                    "deal.error",
                    error=error,
                    who=who,
                    count=self.chance.randint(1, 2),
                    seen=self.chance.random() < 0.5,
                )
            case 1:
                self.drawn(self.chance.choice(self.pack))  # it may be there already
            case 2:
                self.drawn(self.chance.choice(("2c", "Xx", "7h")))
            case 3:
                self.drawn(self.next(), exposed=True)
            case 4:
                self.see(
                    self.play.take(
                        LinkLost(at=at, reason="unplugged"), LinkUp(at=at), LinkGap(at=at, lost=1)
                    )
                )
            case 5:
                self.play.packet(self.chance.randint(1, 5))
            case 6:
                cards, index = self.chance.sample(self.pack, 2), self.chance.choice((None, 1, 2))
                self.send("cards.show", who=self.chance.choice(hand.seats).who, cards=cards)
                self.send(
                    "cards.show", who="board", cards=cards[: self.chance.randint(1, 2)], index=index
                )
            case 7:
                self.send(
                    "round.void", reason=self.chance.choice(("misdeal", "inspector", "ball_out"))
                )
            case _:
                self.see(
                    self.play.take(
                        ShufflerVerdict(at=at, count=51, count_right=False, missing=(self.pack[0],))
                    )
                )
                self.send("deck.check", cards=len(self.pack))

    def drawn(self, card: str | None, exposed: bool = False) -> None:
        if card is not None:
            self.given.add(card)
        self.see(
            self.play.take(
                CardDrawn(
                    at=self.play.now(), device="shoe", card=card, frame=f"<{card}>", exposed=exposed
                )
            )
        )

    def send(self, name: str, **fields: Any) -> None:
        """A command; it may be refused, and then nothing has changed."""
        cards = fields.get("cards")
        if isinstance(cards, list):
            self.given |= {*cards}
        if fields.get("card") is not None:
            self.given.add(fields["card"])
        before = self.play.state
        try:
            self.see(self.play.send(name, **fields))
        except RejectedError:
            assert self.play.state is before

    def see(self, events: list[AnyEvent]) -> None:
        """No card appears out of nowhere, and no result has one twice. Now and then the state is
        saved and restored.
        """
        if self.chance.random() < 0.005:
            self.play.again()
        for event in events:
            if isinstance(event, CardDealt | CardTurned | CardRemoved) and event.card is not None:
                assert event.card in self.given
                assert event.card in self.pack
                self.told.add(event.card)
            if isinstance(event, RoundResult) and isinstance(outcome_of(event).hands, tuple):
                hands = {hand.who: hand.cards for hand in outcome_of(event).hands}
                cards = [card for own in hands.values() for card in own]
                assert len({*cards}) == len(cards)
                assert {*cards} <= self.told
                assert event.frames == ()


def rounds_with_errors(evening: Evening, wanted: AbstractSet[str] = frozenset()) -> None:
    """Each has its outcome, and some results are corrected and corrected back. ``wanted``:
    irregularities that must occur in these rounds.
    """
    played = 0
    for number in range(MAX_ROUNDS):
        if number >= ROUNDS and number % 50 == 0 and wanted <= irregular(evening.play):
            break
        evening.round()
        played += 1
        if number % 5 == 0:
            evening.correct()
        if number % 50 == 0:
            evening.play.again()
            check_words(evening.play)
    check_rounds(evening.play)
    assert {RoundResult, RoundVoid} <= {type(event) for event in evening.play.events}
    assert len(of_kind(evening.play.events, RoundOpened)) == played >= ROUNDS
    assert wanted <= irregular(evening.play)


def irregular(play: Play) -> set[str]:
    """The published irregularities."""
    return {event.what for event in of_kind(play.events, Irregularity)}


def check_words(play: Play) -> None:
    """Output can be read back, and so can the state, which has no covered cards."""
    for event in play.events[-200:]:
        assert read_event(write(event)) == event
    assert msgspec.json.decode(msgspec.json.encode(play.state), type=CircleState) == play.state
    view = play.game.view(play.state)
    msgspec.json.encode([view.shown, view.history()])


def check_rounds(play: Play) -> None:
    """Rounds come in their order, and each has one outcome."""
    opened = [event.round for event in play.events if isinstance(event, RoundOpened)]
    ended = [
        event.round
        for event in play.events
        if isinstance(event, RoundResult | RoundVoid | RoundUnresolved)
    ]
    assert opened == ended == list(range(1, len(opened) + 1))
