"""The croupier of a table with cards: looks at what the table shows, and draws, turns and presses
keys; now and then not as he should.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING, Any

from common.contract.topics import level
from tests.world.cards.tabletop import Tabletop
from tests.world.client import Client

if TYPE_CHECKING:
    from tests.world.world import World

LOOK_SECONDS = (0.5, 2.0)
"""The shortest and the longest pause between two of his looks."""
REPLY_SECONDS = 15.0
"""How long he waits for the answer to a command before he looks again: as the contract wants it, he
does not repeat what may still be on its way.
"""
SYNC_SECONDS = 8.0
"""After this time he no longer waits for the table to show a card that he has drawn."""
COPIED, COPY_SECONDS = 0.2, (0.1, 8.0)
"""How often a copy of a command that turns cards arrives, and how much later."""
IRREGULAR = 0.02
"""How often he does something else than he should."""

Shown = dict[str, Any]


class Croupier:
    """``play``: the next thing that he does in a regular round, for what the table shows."""

    def __init__(
        self,
        world: World,
        client: Client,
        table: str,
        top: Tabletop,
        play: Callable[[Croupier, Shown], None],
        random: Random,
    ) -> None:
        self.table, self.top, self.random = table, top, random
        self.takes: tuple[str, ...] = ()
        """What the table accepts now."""
        self._world, self._client, self._play = world, client, play
        self._topic = f"novamas/v1/palma/{table}"
        self._commands = 0
        self._unanswered: float | None = None
        """When the command was sent that has no answer yet."""
        self._missing_since: float | None = None
        self._look_later()

    def on_reply(self, body: dict[str, Any]) -> None:
        """The daemon has answered a command."""
        if body["id"] == self._commands:
            self._unanswered = None

    def _look_later(self) -> None:
        pause = self.random.uniform(*LOOK_SECONDS)
        self._world.loop.call_later(pause, self._look, context=Context())

    def _look(self) -> None:
        self._look_later()
        retained = self._world.broker.retained.get(f"{self._topic}/state")
        if retained is None or not self._client.online or self._waits():
            return
        state = json.loads(retained.payload)
        shown, self.takes = state["shown"], tuple(state["takes"])
        if state["fault"] is not None:
            return
        if self.may_begin and self.random.random() < IRREGULAR:
            self._act_irregularly(shown)
        elif "session.open" in self.takes:
            self.top.clear()
            self.send("session.open")
        elif shown.get("last_rounds") == 0 and "session.close" in self.takes:
            self.send("session.close")
        elif shown["asks"]:
            self._decide(shown)
        elif shown.get("unresolved") and self.random.random() < 0.5:
            self._settle(shown)
        else:
            self._play(self, shown)

    def _waits(self) -> bool:
        """Whether the answer to his last command may still come."""
        since = self._unanswered
        return since is not None and self._world.loop.now - since < REPLY_SECONDS

    @property
    def may_begin(self) -> bool:
        """Whether he begins rounds: not once all faults are over, when all must become right."""
        return self._world.loop.now < self._world.quiet_at

    # What he does

    def send(self, name: str, **fields: Any) -> None:
        """Send a command, as the head of the table."""
        self._world.note(f"croupier   {self.table} {name} {fields}")
        self.top.pressed(name, fields.get("action"))
        self._commands += 1
        self._unanswered = self._world.loop.now
        body = {
            "by": "M. Lasa",
            "role": "table_head",
            "client": "croupier",
            "id": self._commands,
            **fields,
        }
        self._publish(name, body)
        if name == "cards.turn" and self.random.random() < COPIED:
            delay = self.random.uniform(*COPY_SECONDS)
            self._world.loop.call_later(delay, self._publish, name, body, context=Context())

    def _publish(self, name: str, body: dict[str, Any]) -> None:
        self._client.publish(f"{self._topic}/command/{level(name)}", body)

    def turn(self, shown: Shown, who: str | None = None) -> None:
        """Turn cards face up, and say which: those of the round that lie there."""
        self.top.turn(*([who] if who else []))
        count = len(self.top.of(who)) if who else len(self.top.lying)
        named = {"who": who} if who else {}
        self.send("cards.turn", **named, round=shown["round"], count=count)

    def draw(self, place: str, *, to: str = "", index: int = 0, up: bool = False) -> None:
        """Draw a card for a hand, unless the shoe is empty."""
        if not self.top.shoe.model.left:
            self.send("round.void", reason="misdeal")
            return
        card = self.top.draw(place, to=to, index=index, up=up)
        self._world.note(f"drawn      {self.table} {card!r}")

    def agrees(self, count: int) -> bool:
        """Whether the table shows as many cards as lie there. If it does not for long, the round is
        void.
        """
        lying = len(self.top.lying)
        if lying == count:
            self._missing_since = None
            return True
        now = self._world.loop.now
        if self._missing_since is None:
            self._missing_since = now
        elif now - self._missing_since > SYNC_SECONDS:
            self._missing_since = None
            if "round.void" in self.takes:
                self.send("round.void", reason="misdeal")
            else:
                self.change_shoe()
        return False

    def begin(self, *, new_cards: bool = False) -> None:
        """Begin a round, if he begins any."""
        if self.may_begin:
            self.top.clear()
            if new_cards:
                self.top.shoe.change_cards()
            self.send("bets.open")

    def change_shoe(self) -> None:
        """Take another shoe."""
        self.top.clear()
        self.top.shoe.change_cards()
        self.send("shoe.start", shoe=str(self.top.shoe.model.shoes))

    # What is not regular

    def _decide(self, shown: Shown) -> None:
        """Answer what the table asks."""
        asks = [name for name in shown["asks"] if name in self.takes] or ["round.void"]
        name = self.random.choice(asks)
        lying, who = self.top.lying, shown.get("expected")
        match name:
            case "card.decide":
                action = self.random.choice(("accept", "remove", "remove", "read", "next_round"))
                if action == "read" and len(lying) > count_shown(shown):
                    self.send(name, action=action, card=lying[-1].name)
                elif self.random.random() < 0.1:
                    self.send(name, action="for", who=who)
                else:
                    self.send(name, action=action)
                    if action == "remove":
                        self.top.remove_stray()
            case "round.void":
                self.send(name, reason="misdeal")
            case "shoe.start":
                self.change_shoe()
            case "cards.show" if lying:
                self.show(self.random.choice(lying).place)
            case _:
                self.send(name, **ANSWERS.get(name, {}))

    def show(self, who: str) -> None:
        """Turn a hand, and say which cards it has."""
        self.top.turn(who)
        self.send("cards.show", who=who, cards=[card.name for card in self.top.of(who)])

    def _settle(self, shown: Shown) -> None:
        number = shown["unresolved"][0]
        if self.random.random() < 0.5:
            self.send("round.void", reason="inspector", round=number)
        else:
            self.send("round.confirm", round=number)

    def _act_irregularly(self, shown: Shown) -> None:
        """Draw a card that nobody wants, or press a key that the table accepts."""
        name = self.random.choice(["draw", *self.takes])
        if name == "draw":
            if shown.get("expected") is None and self.top.shoe.model.left > 1:
                self.draw("", to="player", index=1)
        elif name in PRESSED:
            fields = dict(PRESSED[name])
            if name == "result.correct":
                fields["round"] = max(1, shown["round"] - 1)
            self.send(name, **fields)


def count_shown(shown: Shown) -> int:
    """Return how many cards a table shows in all hands."""
    hands = [*(shown.get("hands") or {}).values(), shown.get("dealer") or ()]
    return sum(len(hand["cards"] if isinstance(hand, dict) else hand) for hand in hands)


ANSWERS: dict[str, dict[str, Any]] = {
    "boxes.set": {"boxes": [1, 2]},
    "deck.check": {"cards": 52, "right": True},
    "deal.error": {"error": "exposed", "who": "box:1"},
}
"""By what a table asks: the fields of the answer."""
PRESSED: dict[str, dict[str, Any]] = {
    "round.void": {"reason": "misdeal"},
    "shoe.end": {},
    "bets.open": {},
    "bets.close": {},
    "last_rounds.announce": {},
    "session.close": {},
    "round.confirm": {},
    "card.decide": {"action": "remove"},
    "result.correct": {"winner": "tie"},
    "deal.error": {"error": "exposed", "who": "box:1"},
    "deck.check": {"cards": 51, "right": False},
}
"""What he may press by mistake, with its fields."""
