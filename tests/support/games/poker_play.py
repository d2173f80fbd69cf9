"""A table of house poker to play at in tests: inputs by short names, events out; and random scripts
of whole rounds.

The property loop of any card game with boxes can use the second half: :class:`Croupier` shuffles a
deck for every round and gives the inputs of a regular round one by one, or with an error among
them, for the table's shown state.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from common.contract.events import AnyEvent, CardRemoved, Hand, Irregularity, RoundResult
from common.contract.notation import Input
from common.readings import (
    CardDrawn,
    LinkLost,
    LinkUp,
    ShufflerPacket,
    ShufflerState,
    ShufflerVerdict,
    SlotCoin,
)
from controller.games.cards import DECK
from controller.games.house_poker.game import HousePokerGame
from controller.games.house_poker.state import HousePokerState
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import AnyPlay, make_command, of_kind

PAIRS = (
    ("poker-no-draw", "BAL05"),
    ("poker-no-draw", "ARA02"),
    ("poker-no-draw", "EUS96"),
    ("poker-draw-house", "EUS96"),
    ("three-card-poker", "EUS96"),
    ("three-card-poker", "BAL09"),
)
DECIDED = (("poker-no-draw", "EUS96"), ("poker-draw-house", "EUS96"))
"""Where the jackpot accepts one amount alone, decided and displayed."""
COIN_CENTS = 100
"""The stake on the jackpot."""


class Play(AnyPlay[HousePokerGame, HousePokerState]):
    """A table in play."""

    def __init__(self, game: str = "poker-no-draw", decree: str = "BAL05", **settings: Any) -> None:
        own = {"jackpot_stake": COIN_CENTS} if (game, decree) in DECIDED else {}
        super().__init__(HousePokerGame, game, decree, {**own, **settings})

    def packets(self, *sizes: int, **fields: Any) -> list[AnyEvent]:
        """Packets come out of the shuffler."""
        return self.take(
            *(
                ShufflerPacket(at=self.now(), device="shuffler", size=size, **fields)
                for size in sizes
            )
        )

    def shuffler(self, state: Any, **fields: Any) -> list[AnyEvent]:
        return self.take(ShufflerState(at=self.now(), device="shuffler", state=state, **fields))

    def verdict(self, **fields: Any) -> list[AnyEvent]:
        return self.take(ShufflerVerdict(at=self.now(), device="shuffler", **fields))

    def coin(self, box: int, amount: int = COIN_CENTS, **fields: Any) -> list[AnyEvent]:
        return self.take(SlotCoin(at=self.now(), device="slots", box=box, amount=amount, **fields))

    def bets(self, *boxes: int, bets: Iterable[tuple[int, str]] = ()) -> list[AnyEvent]:
        """Open bets, set the boxes and the side bets, close bets."""
        events = [
            *self.send("bets.open", role="croupier"),
            *self.send("boxes.set", role="croupier", boxes=list(boxes or (1, 2))),
        ]
        for box, bet in bets:
            events += self.send(
                "bet.place",
                role="croupier",
                who=f"box:{box}",
                bet=bet,
                amount=COIN_CENTS if bet == "jackpot" else None,
            )
        return [*events, *self.send("bets.close", role="croupier")]

    def act(self, box: int, action: str, **fields: Any) -> list[AnyEvent]:
        return self.send("hand.act", role="croupier", who=f"box:{box}", action=action, **fields)

    def show(self, who: str, cards: str, **fields: Any) -> list[AnyEvent]:
        return self.send("cards.show", role="croupier", who=who, cards=cards.split(), **fields)

    def turn(self, who: str | None = None) -> list[AnyEvent]:
        return self.send("cards.turn", role="croupier", who=who)


def table(game: str = "poker-no-draw", decree: str = "BAL05", **settings: Any) -> Play:
    """A table with an open session."""
    play = Play(game, decree, **settings)
    play.send("session.open", minimum=500, currency="EUR")
    return play


def opened(game: str = "poker-no-draw", decree: str = "BAL05", **settings: Any) -> Play:
    """Bets are open, and box 1 is in play."""
    play = table(game, decree, **settings)
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    return play


def singly(*hands: str) -> str:
    """The cards of these hands in the order in which they come one by one."""
    return " ".join(" ".join(each) for each in zip(*(hand.split() for hand in hands), strict=True))


def dealt(play: Play, *hands: str, bets: Iterable[tuple[int, str]] = ()) -> list[AnyEvent]:
    """Open a round; a reader reports the cards of the boxes 1, 2 ... and, last, of the bank."""
    opened = play.bets(*range(1, len(hands)), bets=bets)
    return [*opened, *play.cards(singly(*hands))]


def go(play: Play, *hands: str, bets: Iterable[tuple[int, str]] = ()) -> list[AnyEvent]:
    """A round with these hands, all of which go, to its result."""
    told = dealt(play, *hands, bets=bets)
    for box in range(1, len(hands)):
        told += play.act(box, "go")
    told += play.turn("dealer")
    if play.state.current is not None:
        told += play.turn()
    return told


def result(events: list[AnyEvent]) -> RoundResult:
    """The one result."""
    [event] = of_kind(events, RoundResult)
    return event


def box(events: list[AnyEvent], number: int = 1) -> Hand:
    """The hand of a box in the one result."""
    hands: tuple[Hand, ...] = outcome_of(result(events)).hands
    return next(hand for hand in hands if hand.who == f"box:{number}")


def bets(hand: Hand) -> dict[str, tuple[str, tuple[int, int] | None]]:
    """The outcome of each bet, and its pay."""
    return {settled.bet: (settled.outcome, settled.pays) for settled in hand.settled}


def stopped(play: Play, what: str) -> None:
    """The round waits for this reason, and the last irregularity states it."""
    [*_, irregular] = of_kind(play.events, Irregularity)
    assert (irregular.what, irregular.asks) == (what, tuple(play.shown["asks"]))
    assert "round.void" in irregular.asks
    assert play.shown["phase"] == "decision"
    assert play.shown["expected"] is None


class Croupier:
    """Deals round after round of a game with boxes and a bank, and gives the next input for the
    table's shown state.

    ``lies``: the true cards by hand. ``source``: a reader reports each card, packets come out of a
    shuffler, or a person reports the deal. ``slips``: how often something goes wrong. A table whose
    retained state has ``phase``, ``expected``, ``asks``, ``undecided`` and ``hands`` can be dealt
    for.
    """

    def __init__(
        self,
        seed: object,
        source: str,
        size: int,
        pack: tuple[str, ...] = DECK,
        slips: float = 0.02,
    ) -> None:
        self.chance = random.Random(str(seed))
        self.source = source
        self.size = size
        self.pack = pack
        self.slips = slips
        self.at = 0.0
        self.shuffle()

    def shuffle(self) -> None:
        """A new round: all cards are in the deck."""
        self.deck = list(self.pack)
        self.chance.shuffle(self.deck)
        self.lies: dict[str, list[str]] = {}

    def next(self, shown: dict[str, Any]) -> Input:
        """The next input: by the rules, or a slip."""
        self.at += 1.0
        if self.chance.random() < self.slips:
            return self.chance.choice(self._slips(shown))
        if asks := shown["asks"]:
            return self._answer(
                asks[0] if self.chance.random() < 0.8 else self.chance.choice(asks), shown
            )
        if shown["expected"]:
            return self._come(shown["expected"])
        return self._call(shown)

    def note(self, events: list[AnyEvent]) -> None:
        """Apply the table's events: a card that it names as removed is no longer with its hand."""
        for event in events:
            if isinstance(event, CardRemoved) and event.card in self.lies.get(event.to or "", ()):
                self.lies[event.to or ""].remove(event.card or "")

    def _command(self, command: str, **fields: Any) -> Input:
        return make_command(command, self.at, **fields)

    def _call(self, shown: dict[str, Any]) -> Input:
        chance, phase = self.chance, shown["phase"]
        if phase == "closed":
            return self._command("session.open", minimum=500)
        if phase == "waiting" and shown["last_rounds"] == 0:
            return self._command("session.close")
        if phase == "waiting":
            self.shuffle()
            return self._command("bets.open")
        if phase == "bets_open" and not shown["hands"]:
            return self._command(
                "boxes.set", boxes=chance.sample(range(1, shown["boxes"] + 1), chance.randint(1, 3))
            )
        if phase == "bets_open":
            return self._command("bets.close") if chance.random() < 0.7 else self._bet(shown)
        if phase == "decisions":
            return self._command(
                "hand.act",
                who=chance.choice(shown["undecided"]),
                action=chance.choice(("go", "go", "pass", "buy")),
            )
        if phase == "discards":
            return self._discard(shown)
        who = "dealer" if phase == "dealer" else chance.choice([*shown["hands"]])
        return self._command("cards.turn", who=who) if chance.random() < 0.7 else self._show(who)

    def _bet(self, shown: dict[str, Any]) -> Input:
        box, bet = (
            self.chance.randint(1, shown["boxes"]),
            self.chance.choice(("insurance", "pair_plus", "jackpot", "ante")),
        )
        if bet == "jackpot":
            return SlotCoin(at=self.at, device="slots", box=box, amount=100)
        return self._command(
            "bet.place", who=f"box:{box}", bet=bet, amount=self.chance.choice((None, 250, 500, 600))
        )

    def _discard(self, shown: dict[str, Any]) -> Input:
        going = [
            who
            for who, hand in shown["hands"].items()
            if hand["decision"] == "go" and hand["discards"] is None
        ]
        return self._command(
            "hand.act",
            who=self.chance.choice(going),
            action="discard",
            count=self.chance.randint(0, 2),
        )

    def _come(self, to: str) -> Input:
        """The next card, or packet, goes to this hand."""
        lack = self.size - len(self.lies.get(to, ()))
        count = max(lack, 1) if self.source == "packets" else 1
        cards = [self.deck.pop() for _ in range(count)]
        self.lies.setdefault(to, []).extend(cards)
        if self.source == "packets":
            return ShufflerPacket(at=self.at, device="shuffler", size=count)
        if self.source == "told":
            return self._command("cards.deal", count=count)
        return self._read(cards[0])

    def _read(self, card: str | None, **fields: Any) -> CardDrawn:
        return CardDrawn(at=self.at, device="shoe", card=card, **fields)

    def _show(self, who: str) -> Input:
        """As many cards as the hand has to have, the last of its cards: the first may have been
        discarded.
        """
        cards = self.lies.get(who, [])[-self.size :]
        self.chance.shuffle(cards)
        return self._command("cards.show", who=who, cards=cards)

    def _answer(self, command: str, shown: dict[str, Any]) -> Input:
        """The answer of the person who was asked."""
        match command:
            case "cards.show":
                return self._show(self.chance.choice(["dealer", *shown["hands"]]))
            case "cards.deal":
                return self._command("cards.deal", count=self.chance.randint(1, 3))
            case "card.decide":
                card = self.deck[0] if self.deck else None
                action = self.chance.choice(("accept", "remove", "read"))
                return self._command(
                    "card.decide", action=action, **({"card": card} if action == "read" else {})
                )
            case "deck.check":
                return self._command("deck.check", cards=len(self.pack))
            case "round.void":
                return self._command("round.void", reason="misdeal")
            case _:
                return self._command(command)

    def _slips(self, shown: dict[str, Any]) -> list[Input]:
        lying = [card for hand in self.lies.values() for card in hand]
        twice = self.chance.choice(lying) if lying else "As"
        who = self.chance.choice(["dealer", *(shown["hands"] or ("box:1",))])
        return [
            self._read(self.deck[0] if self.deck else None),
            self._read(twice),
            self._read("Xx"),
            self._read(None),
            self._read(self.deck[-1] if self.deck else None, exposed=True),
            self._read(None, late=True),
            ShufflerPacket(at=self.at, device="shuffler", size=4),
            ShufflerState(
                at=self.at,
                device="shuffler",
                state=self.chance.choice(("jam", "ready", "ready", "door_open")),
            ),
            ShufflerVerdict(at=self.at, device="shuffler", count=self.chance.choice((51, 52, 52))),
            LinkLost(at=self.at, device="shoe", reason="unplugged"),
            LinkUp(at=self.at, device="shoe"),
            SlotCoin(at=self.at, device="slots", box=1, amount=900),
            self._command("cards.show", who=who, cards=[twice, *self.deck[: self.size - 1]]),
            self._command("cards.show", who=who, cards=[twice], index=self.size),
            self._command("cards.deal", count=2, who=who),
            self._command("cards.turn"),
            self._command("deck.check", cards=52),
            self._command(
                "deal.error",
                error=self.chance.choice(("too_many", "exposed", "order", "defective")),
            ),
            self._command("deal.error", error="exposed", who=who, fault="player"),
            self._command(
                "hand.act",
                who=who,
                action=self.chance.choice(("go", "pass", "buy", "discard")),
                valid=False,
            ),
            self._command("round.confirm"),
            self._command("round.void", reason="inspector"),
            self._command("session.close"),
            self._command("last_rounds.announce"),
            self._command("bets.open", role="technician"),
        ]
