"""A linked table of the world, and the croupier who plays it: from what its retained state shows he
decides the next command, and gives it over the broker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.support.chaos.linked_daemon import STAKE, Play
from tests.support.chaos.linked_floor import GAMES
from tests.support.chaos.poker_script import BOXES, DEALER, Script, script
from tests.world.carrousel.acceptor import Acceptor

STEP_SECONDS = 1.0
"""Time between two commands."""
PAUSE_STEPS = 60
"""The longest pause between two rounds."""
PATIENCE_STEPS = 30
"""After so many steps of a round without a change, the head of the table declares it void."""
TABLE = """
[[table]]
id = "{name}"
game = "{game}"
decree = "{decree}"
jackpot = "{jackpot}"
{settings}
[[table.device]]
id = "slots"
driver = "slot-board"
link = "tcp://{name}:1"
"""

Command = tuple[str, dict[str, Any]]


class Croupier:
    """Plays one table, as its script says. ``acceptor``: where coins fall; without one he reports
    each. ``ends``: whether no new round is to begin.
    """

    def __init__(
        self,
        name: str,
        decree: str,
        play: Play,
        acceptor: Acceptor | None,
        send: Callable[[str, str, dict[str, Any]], None],
        ends: Callable[[], bool],
    ) -> None:
        self.name, self.decree = name, decree
        self.state: dict[str, Any] | None = None
        """The table's retained state."""
        self._play, self._ends = play, ends
        self._acceptor, self._send = acceptor, send
        self._random = Random(f"{play.seed} {name}")
        self._pause = 0
        """Steps until the next round."""
        self._round = (0, 0)
        self._coins: Iterator[tuple[str, int]] = iter(())
        self._script: Script | None = None
        self._seen: tuple[object, int] = (None, 0)

    def section(self) -> str:
        """The configuration of the table."""
        game, _, settings = GAMES[self.decree]
        return TABLE.format(
            name=self.name,
            game=game,
            decree=self.decree,
            jackpot=self.decree.lower(),
            settings=settings,
        )

    def on_state(self, body: bytes) -> None:
        """Handle the table's retained state."""
        self.state = json.loads(body) if body else None

    @property
    def idle(self) -> bool:
        """Whether no round is in progress, nor waits for a decision."""
        if self.state is None:
            return False
        shown = self.state["shown"]
        return shown["phase"] in {"waiting", "closed"} and not shown["unresolved"]

    def step(self) -> None:
        """Give what is to be given now."""
        if self.state is None:
            return
        shown = self.state["shown"]
        for name, fields in self._next(shown):
            self._send(self.name, name, fields)

    def _next(self, shown: dict[str, Any]) -> list[Command]:
        phase = shown["phase"]
        if phase == "closed":
            return [] if self._ends() else [("session-open", {"minimum": 500, "currency": "EUR"})]
        if shown["unresolved"]:
            return [_void(shown["unresolved"][0])]
        if phase == "waiting":
            return self._open(shown)
        self._begin(shown)
        assert self._script is not None
        if self._is_stuck(shown):
            return [_void(shown["round"])]
        return self._in_round(phase, shown, self._script)

    def _open(self, shown: dict[str, Any]) -> list[Command]:
        """Open the next round after a pause, if there is to be one."""
        standing = shown.get("jackpot_standing") or {}
        self._pause -= 1
        if self._pause > 0 or self._ends() or not standing.get("in_play"):
            return []
        self._pause = self._random.randrange(PAUSE_STEPS)
        return [("bets-open", {})]

    def _begin(self, shown: dict[str, Any]) -> None:
        """Know the script of this round."""
        number = shown["session"], shown["round"]
        if number == self._round:
            return
        self._round = number
        self._script = script(
            self._play.seed,
            self.name,
            self.decree,
            *number,
            hits=self._play.hits,
            coins=self._play.coins[self.decree],
        )
        self._coins = _coins(self._script, Random(f"{self._play.seed} {self.name} {number}"))

    def _is_stuck(self, shown: dict[str, Any]) -> bool:
        """Whether nothing has changed for a long time, as when a deal was stopped."""
        now = json.dumps(shown, sort_keys=True)
        self._seen = (now, self._seen[1] + 1 if now == self._seen[0] else 0)
        return self._seen[1] > PATIENCE_STEPS

    def _in_round(self, phase: str, shown: dict[str, Any], dealt: Script) -> list[Command]:
        hands = shown["hands"]
        if phase == "bets_open":
            if not hands:
                return [("boxes-set", {"boxes": list(range(1, BOXES + 1))})]
            return self._fall(next(self._coins, None))
        if phase == "dealing":
            lying = sum(len(hand["cards"]) for hand in hands.values()) + len(shown["dealer"])
            return [("cards-deal", {"count": 5 * (len(hands) + 1) - lying})]
        if phase == "decisions":
            if dealt.void:
                return [_void(shown["round"])]
            return [("hand-act", {"who": who, "action": "go"}) for who in shown["undecided"]]
        if phase == "discards":
            return [
                ("hand-act", {"who": who, "action": "discard", "count": int(who in dealt.first)})
                for who, hand in hands.items()
                if hand["decision"] == "go" and hand["discards"] is None
            ]
        if phase == "drawing" or (phase == "dealer" and shown["expected"] == DEALER):
            return [("cards-deal", {"count": 1})]
        if phase == "dealer":
            return [("cards-show", {"who": DEALER, "cards": _bank(shown["dealer"], dealt)})]
        if phase == "showdown":
            return self._show(shown, dealt)
        return [_void(shown["round"])]

    def _fall(self, coin: tuple[str, int] | None) -> list[Command]:
        """Let a coin fall. A report of the croupier states how much its box has staked in all."""
        if coin is None:
            return [("bets-close", {})]
        box, staked = coin
        if self._acceptor is None:
            return [("bet-place", {"who": box, "bet": "jackpot", "amount": staked})]
        self._acceptor.insert(int(box.removeprefix("box:")), STAKE)
        return []

    def _show(self, shown: dict[str, Any], dealt: Script) -> list[Command]:
        """Show the next hand. If one was reported wrongly, the head of the table corrects it at
        once after the last.
        """
        down = [
            who
            for who, hand in shown["hands"].items()
            if not hand["cards"] or any(card is None for card in hand["cards"])
        ]
        if not down:
            return [_void(shown["round"])]
        shows: list[Command] = [("cards-show", {"who": down[0], "cards": dealt.hands[down[0]]})]
        right = {box: cards for box, cards in dealt.right.items() if box in shown["hands"]}
        if len(down) == 1 and right:
            shows.append(("result-correct", {"round": shown["round"], "hands": right}))
        return shows


def _bank(shown: list[str | None], dealt: Script) -> list[str]:
    """The cards of the bank: as dealt, or those that are known with others for those discarded."""
    if all(card is None for card in shown):
        return dealt.hands[DEALER]
    drawn = iter(dealt.rest)
    return [next(drawn) if card is None else card for card in shown]


def _coins(dealt: Script, chance: Random) -> Iterator[tuple[str, int]]:
    """The coins of a round: the box of each, and what is staked there with it."""
    falls = [box for box, count in dealt.coins.items() for _ in range(count)]
    chance.shuffle(falls)
    staked = dict.fromkeys(dealt.coins, 0)
    for box in falls:
        staked[box] += STAKE
        yield box, staked[box]


def _void(number: int) -> Command:
    return "round-void", {"reason": "inspector", "round": number}
