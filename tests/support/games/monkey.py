"""A table of any card game, played sensibly most of the time and wildly now and then, with unique
cards.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

import msgspec

from common.contract.commands import DealError
from common.contract.notation import Input, read_input
from common.readings import (
    CardCut,
    CardDrawn,
    LinkGarbage,
    LinkLost,
    LinkUp,
    ShoeFault,
    ShoeResult,
    escape,
)
from controller.games.cards import DECK
from controller.games.decks import deck

WHO = (
    "player",
    "banker",
    "bank",
    "cloth:1",
    "cloth:2",
    "black",
    "red",
    "box:1",
    "box:2",
    "dealer",
    None,
)
SENSIBLE = (
    *("session.open", "shoe.start", "boxes.set", "bets.open", "bets.close"),
    *("cards.turn", "hand.stand", "hand.draw"),
)
WILD = (
    "round.void", "round.confirm", "card.decide", "shoe.end", "session.close",
    "last_rounds.announce", "hand.double", "result.correct", "deal.error",
)  # fmt: skip
FIELDS: dict[str, Any] = {
    "shoe.start": {"shoe": "S1"},
    "boxes.set": {"boxes": [1, 2]},
    "round.void": {"reason": "inspector"},
    "result.correct": {"round": 1, "winner": "seat:2"},
    "deal.error": {"error": "exposed", "who": "seat:1"},
}
"""By command; one of several possibilities is taken by chance."""
ERRORS = next(
    get_args(field.type) for field in msgspec.structs.fields(DealError) if field.name == "error"
)
ACTS = tuple({"action": action} for action in ("bet", "call", "fold", "muck"))


class Manners(NamedTuple):
    """How one family of games is played: the holders of cards, the sensible commands in general or
    in a phase, and their fields.
    """

    who: tuple[str | None, ...] = WHO
    sensible: tuple[str, ...] = SENSIBLE
    phases: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    fields: dict[str, Any] = FIELDS
    pack: tuple[str, ...] = DECK
    acts: tuple[dict[str, Any], ...] = ACTS
    low: int = 0
    """Cards of a hand that is shown which make its low one."""


CIRCLE = Manners(
    who=("seat:1", "seat:2", "seat:3", "seat:4", "board", None),
    sensible=(
        "session.open",
        "boxes.set",
        "button.set",
        "bets.open",
        "betting.close",
        "betting.close",
        "cards.turn",
    ),
    fields=FIELDS
    | {
        "boxes.set": {"boxes": [1, 2, 3, 4]},
        "button.set": {"seat": 2},
        "round.confirm": {"winner": "seat:2"},
        "deal.error": tuple(
            {"error": error, "who": "seat:1", **more}
            for error in ERRORS
            for more in ({"seen": True}, {"count": 2}, {"index": 2, "fault": "player"})
        ),
        "deck.check": {"cards": 52},
    },
)
HOUSE = Manners(
    who=("box:1", "box:2", "dealer", None),
    sensible=("hand.act", "cards.turn", "deck.check"),
    phases={
        "closed": ("session.open",),
        "waiting": ("bets.open",),
        "bets_open": ("boxes.set", "bets.close"),
        "dealer": ("cards.turn",),
        "showdown": ("cards.turn",),
    },
    fields=FIELDS
    | {"cards.deal": {"count": 1}, "deal.error": {"error": "exposed"}, "deck.check": {"cards": 52}},
    acts=tuple({"action": action} for action in ("go", "go", "pass", "buy")),
)
DRAW = HOUSE._replace(
    who=("box:1", "dealer", None),
    fields=HOUSE.fields | {"boxes.set": {"boxes": [1]}},
    acts=tuple(
        {"who": "box:1", **act} for act in ({"action": "go"}, {"action": "discard", "count": 0})
    ),
)
STUD = CIRCLE._replace(acts=(*ACTS, {"action": "go"}, {"action": "pass"}))
COVERED = CIRCLE._replace(
    who=(*CIRCLE.who, "discards"),
    pack=deck("deck_32"),
    acts=(
        *ACTS,
        {"action": "open"},
        *({"action": "discard", "count": count} for count in (0, 0, 1, 2)),
    ),
)
MANNERS: dict[str, Manners] = dict.fromkeys(
    ("texas-holdem", "omaha", "omaha-five", "omaha-hi-lo", "holdem-double"), CIRCLE
) | {
    "synthetic-poker": CIRCLE._replace(pack=deck("deck_28")),
    "five-card-stud": STUD._replace(pack=deck("deck_32")),
    "seven-card-stud": STUD,
    "circle-draw": COVERED,
    **dict.fromkeys(("poker-no-draw", "three-card-poker"), HOUSE),
    "poker-draw-house": DRAW,
}
MANNERS |= {
    "trijoker": Manners(
        who=("box:1", "box:2", "common:1", "common:2", None),
        sensible=(
            "session.open",
            "boxes.set",
            "bets.open",
            "bets.close",
            *["cards.turn"] * 3,
            "hand.act",
        ),
        fields=FIELDS
        | {
            "deal.error": {"error": "exposed", "who": "box:1", "index": 1},
            "deck.check": {"cards": 52},
        },
        acts=({"action": "go"}, {"action": "withdraw"}),
    ),
    "texas-house": Manners(
        who=("box:1", "box:2", "dealer", "board", None),
        sensible=(
            "session.open",
            "boxes.set",
            "bets.open",
            "bets.close",
            "cards.turn",
            *["hand.act"] * 3,
        ),
        fields=FIELDS
        | {
            "deal.error": {"error": "exposed", "who": "box:1", "index": 1},
            "deck.check": {"cards": 52},
        },
        acts=({"action": "go"}, {"action": "go"}, {"action": "pass"}),
    ),
    "pai-gow": Manners(
        who=("box:1", "dealer"),
        sensible=(
            "session.open",
            "boxes.set",
            "bets.open",
            "bets.close",
            "dice.tell",
            "hand.act",
            "hand.act",
        ),
        fields=FIELDS
        | {
            "boxes.set": {"boxes": [1]},
            "dice.tell": {"values": [1, 2, 3]},
            "deck.check": {"cards": 39},
        },
        pack=deck("deck_53"),
        acts=({"action": "set"},),
        low=2,
    ),
}
"""Game -> its manners, where they are not those of the games with a shoe and a bank."""


class Monkey:
    """Gives the next input for what the table shows. ``left``: the cards in the shoe, each
    different from all others.
    """

    def __init__(self, seed: str, game: str = "") -> None:
        self._chance = random.Random(seed)
        self._manners = MANNERS.get(game, Manners())
        self.left = list(self._manners.pack)
        self._chance.shuffle(self.left)
        self._drawn: list[str] = []
        self._unread: str | None = None
        self._at = 0.0

    def next(self, shown: dict[str, Any]) -> Input:
        self._at += 1.0
        luck = self._chance.random()
        if luck < 0.06:
            return self._chance.choice(self._troubles())
        if luck < 0.10:
            return self._command(self._chance.choice(WILD))
        if asks := shown.get("asks"):
            return self._command(self._chance.choice(list(asks)))
        if shown.get("expected") and luck < 0.85:
            return self._draw()
        sensible = self._manners.phases.get(shown.get("phase", ""), self._manners.sensible)
        return self._draw() if luck > 0.98 else self._command(self._chance.choice(sensible))

    def _draw(self) -> CardDrawn:
        card: str | None = self.left.pop()
        heard = frame(
            str(card)
        )  # also where the reader cannot name it: anyone who knows the codes can
        self._drawn.append(str(card))
        if self._chance.random() < 0.04:
            self._unread, card = card, None
        luck = self._chance.random()
        how: dict[str, Any] = {
            "exposed": luck < 0.03,
            "unsure": 0.03 <= luck < 0.04,
            "late": 0.04 <= luck < 0.05,
        }
        return CardDrawn(at=self._at, device="shoe", frame=heard, card=card, **how)

    def _command(self, name: str) -> Input:
        fields = self._manners.fields.get(name, {})
        if isinstance(fields, tuple):
            fields = self._chance.choice(fields)
        if name == "hand.act":
            fields = {"who": self._who(), **self._chance.choice(self._manners.acts)}
        elif name == "cards.show" and self._manners.low:
            fields = {
                "who": self._who(),
                "cards": [],
                "low": self._chance.sample(
                    self._drawn[-7 * self._manners.low :], self._manners.low
                ),
            }
        elif name == "cards.show":
            fields = {"who": self._who(), "cards": [self.left.pop()]}
        elif name.startswith(("hand.", "cards.")) and name not in self._manners.fields:
            fields = {"who": self._chance.choice(self._manners.who)}
        elif name == "card.decide":
            fields = self._decision()
        line = {"at": self._at, "type": name, "by": "M. Lasa", "role": "table_head", **fields}
        return read_input(msgspec.json.encode(line))

    def _who(self) -> str:
        return self._chance.choice([who for who in self._manners.who if who is not None])

    def _decision(self) -> dict[str, Any]:
        match self._chance.choice(("read", "read", "accept", "remove", "next_round", "for")):
            case "read":
                return {"action": "read", "card": self._unread or self.left.pop()}
            case "for":
                return {"action": "for", "who": self._chance.choice(self._manners.who)}
            case action:
                return {"action": action}

    def _troubles(self) -> list[Input]:
        head: dict[str, Any] = {"at": self._at, "device": "shoe"}
        return [
            CardCut(**head),
            ShoeResult(**head, frame=frame("G"), winner="banker"),
            ShoeFault(**head, frame=frame("E"), fault="unread", active=True, detail=self.left[-1]),
            LinkGarbage(**head, frame=frame(self.left[-1]), bytes=3),
            LinkLost(**head, reason="unplugged"),
            LinkUp(**head),
        ]


def frame(card: str) -> str:
    """The simulated shoe's frame of a card."""
    return escape(f"CARD {card}\r\n".encode())
