"""A table of any card game, played sensibly most of the time and wildly now and then, with cards that differ from each other."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from controller.games.cards import DECK
from controller.notation import Input, read_input
from devices.readings import CardCut, CardDrawn, LinkGarbage, LinkLost, LinkUp, ShoeFault, ShoeResult, escape

WHO = ("player", "banker", "bank", "cloth:1", "cloth:2", "black", "red", "box:1", "box:2", "dealer", None)
SENSIBLE = (
    *("session.open", "shoe.start", "boxes.set", "bets.open", "bets.close"),
    *("cards.turn", "hand.stand", "hand.draw"),
)
WILD = ("round.void", "round.confirm", "card.decide", "shoe.end", "session.close", "last_rounds.announce", "hand.double")
FIELDS: dict[str, dict[str, Any]] = {
    "shoe.start": {"shoe": "S1"},
    "boxes.set": {"boxes": [1, 2]},
    "round.void": {"reason": "inspector"},
}


class Monkey:
    """Gives the next input for what the table shows. ``left``: the cards in the shoe, each different from all others."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self.left = list(DECK)
        self._chance.shuffle(self.left)
        self._unread: str | None = None
        self._at = 0.0

    def next(self, shown: dict[str, Any]) -> Input:
        self._at += 1.0
        luck = self._chance.random()
        if luck < 0.06:
            return self._chance.choice(self._troubles())
        if luck < 0.10:
            return self._say(self._chance.choice(WILD))
        if asks := shown.get("asks"):
            return self._say(self._chance.choice(list(asks)))
        if shown.get("expected") and luck < 0.85:
            return self._draw()
        return self._draw() if luck > 0.98 else self._say(self._chance.choice(SENSIBLE))

    def _draw(self) -> CardDrawn:
        card: str | None = self.left.pop()
        if self._chance.random() < 0.04:
            self._unread, card = card, None
        exposed = self._chance.random() < 0.03
        return CardDrawn(at=self._at, device="shoe", frame=frame(card or "??"), card=card, exposed=exposed)

    def _say(self, name: str) -> Input:
        fields = FIELDS.get(name, {})
        if name.startswith(("hand.", "cards.")):
            fields = {"who": self._chance.choice(WHO)}
        elif name == "card.decide":
            fields = self._decision()
        line = {"at": self._at, "type": name, "by": "M. Lasa", "role": "table_head", **fields}
        return read_input(msgspec.json.encode(line))

    def _decision(self) -> dict[str, Any]:
        match self._chance.choice(("read", "read", "accept", "remove", "next_round", "for")):
            case "read":
                return {"action": "read", "card": self._unread or self.left.pop()}
            case "for":
                return {"action": "for", "who": self._chance.choice(WHO)}
            case action:
                return {"action": action}

    def _troubles(self) -> list[Input]:
        head: dict[str, Any] = {"at": self._at, "device": "shoe"}
        return [
            CardCut(**head),
            ShoeResult(**head, frame=frame("G"), winner="banker"),
            ShoeFault(**head, frame=frame("E"), fault="unread", active=True),
            LinkGarbage(**head, frame=frame(self.left[-1]), bytes=3),
            LinkLost(**head, reason="unplugged"),
            LinkUp(**head),
        ]


def frame(card: str) -> str:
    """What the simulated shoe says on its wire."""
    return escape(f"CARD {card}\r\n".encode())
