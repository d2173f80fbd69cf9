"""Irregular rounds are played by touching the console only, and each ends in the journal as the
script says: what a round must come to is known here before it is played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Literal

import msgspec
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.chaos.fingers import fill
from tests.support.chaos.archive import events_of
from tests.support.chaos.report import tell
from tests.support.daemon.play import until_open, until_up
from tests.support.waiting import until
from tests.support.web.floor import Floor
from tests.support.web.pit import confirm, sign_in
from tests.web.conftest import browser

__all__ = ["browser"]  # the fixture

What = Literal[
    "plain",
    "null by the wheel",
    "null by a person",
    "number corrected",
    "wheel lost",
    "card not read",
    "card read twice",
    "misdeal",
    "scanner lost, void",
    "winner corrected",
]
WHEEL: tuple[What, ...] = (
    "null by the wheel",
    "number corrected",
    "null by a person",
    "wheel lost",
    "plain",
)
CARDS: tuple[What, ...] = (
    "card not read",
    "card read twice",
    "misdeal",
    "scanner lost, void",
    "winner corrected",
    "plain",
)
MISDEALT: tuple[What, ...] = ("misdeal", "scanner lost, void")
NULL = ("ball_out", "foreign_object", "bad_launch", "inspector")
REASONS = {"null by the wheel": "ball_with_rotor", "wheel lost": "inspector"}
PACE = 2.0
"""Seconds between two lines of the wheel: by its pace the daemon knows what is live again. A real
one has half a second; on a starved machine it may be silent for longer.
"""
COUPS = 12
"""Coups of one shoe: 6 decks are enough for them."""
RANKS, SUITS = "A23456789TJQK", "shdc"
Outcome = tuple[str, str]


class Round(msgspec.Struct, frozen=True):
    """One round as the script has it."""

    table: Literal["r1", "b1"]
    what: What
    number: int = 0
    other: int = 0
    """A second number: what it is corrected to, or a place among the cards."""
    reason: str = ""
    cards: tuple[str, ...] = ()
    burn: tuple[str, ...] = ()
    """A new shoe begins with these."""
    outcome: Outcome = ("", "")


def script(seed: int, count: int) -> list[Round]:
    """Rounds of both tables in turn; the first ones have every kind."""
    random = Random(seed)
    made: list[Round] = []
    shoe: Shoe | None = None
    for index in range(count):
        place = index // 2
        kinds = CARDS if index % 2 else WHEEL
        what = kinds[place] if place < len(kinds) else random.choice(kinds)
        if index % 2 == 0:
            made.append(_spin(random, what))
            continue
        burn: tuple[str, ...] = ()
        if shoe is None or place % COUPS == 0:
            shoe = Shoe(random)
            burn = shoe.burn()
        made.append(_coup(random, what, shoe, burn))
    return made


def _spin(random: Random, what: What) -> Round:
    number, other = random.sample(range(37), 2)
    reason = REASONS.get(what) or random.choice(NULL)
    outcome = {
        "plain": ("result", str(number)),
        "number corrected": ("result", str(other)),
    }.get(what, ("void", reason))
    return Round("r1", what, number=number, other=other, reason=reason, outcome=outcome)


class Shoe:
    """Six decks; no card is followed by one like it, which could be the same read twice. ``last``:
    the latest that the scanner reads.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._cards = [rank + suit for rank in RANKS for suit in SUITS] * 6
        self.last = ""

    def draw(self, ranks: str = RANKS) -> str:
        """A card of one of these ranks."""
        fit = [card for card in self._cards if card != self.last and card[0] in ranks]
        self.last = self._random.choice(fit)
        self._cards.remove(self.last)
        return self.last

    def burn(self) -> tuple[str, ...]:
        """A two, so that two cards follow it."""
        return self.draw("2"), self.draw(), self.draw()


def points(cards: list[str]) -> int:
    """The points of a hand of punto y banca."""
    return (
        sum({"A": 1}.get(card[0], 0 if card[0] in "TJQK" else int(card[0], 36)) for card in cards)
        % 10
    )


BANK_DRAWS = {3: "012345679", 4: "234567", 5: "4567", 6: "67"}
"""The banker's points -> the values of the player's third card at which the banker draws."""


def deal(shoe: Shoe) -> tuple[tuple[str, ...], str]:
    """The cards of a coup as they are drawn, and who wins, by the table of the game."""
    drawn = [shoe.draw() for _ in range(4)]
    player, banker = drawn[0::2], drawn[1::2]
    if max(points(player), points(banker)) < 8:
        third = shoe.draw() if points(player) < 6 else None
        if third is not None:
            player, drawn = [*player, third], [*drawn, third]
        had = points(banker)
        draws = (
            had < 6 if third is None else had < 3 or str(points([third])) in BANK_DRAWS.get(had, "")
        )
        if draws:
            last = shoe.draw()
            banker, drawn = [*banker, last], [*drawn, last]
    ours, theirs = points(player), points(banker)
    winner = "tie" if ours == theirs else "player" if ours > theirs else "banker"
    return tuple(drawn), winner


def _coup(random: Random, what: What, shoe: Shoe, burn: tuple[str, ...]) -> Round:
    cards, winner = deal(shoe)
    place = random.randrange(1, 4)
    if what in MISDEALT:
        shoe.last = cards[place - 1]  # the others stay in the script
    other = random.choice([each for each in ("player", "banker", "tie") if each != winner])
    outcome = {
        "misdeal": ("void", "misdeal"),
        "scanner lost, void": ("void", "misdeal"),
        "winner corrected": ("result", other),
    }.get(what, ("result", winner))
    return Round("b1", what, other=place, reason=other, cards=cards, burn=burn, outcome=outcome)


class Play:
    """A floor, and two people at two screens."""

    def __init__(self, folder: Path, ending: ExitStack, browser: Browser) -> None:
        self.floor = Floor(folder, ending, cards=True, idle=86_400.0, longest=86_400.0, period=PACE)
        until_open(self.floor.subscriber, self.floor.daemon, "b1", "shoe")
        until_up(self.floor.subscriber, self.floor.daemon, "novamas-sim/v1/palma/r1")
        size: Any = {"width": 1280, "height": 900}
        self.page, self.second = (
            ending.enter_context(browser.new_context(viewport=size)).new_page() for _ in range(2)
        )
        sign_in(self.page, self.floor.web.address, "m-lasa")
        sign_in(self.second, self.floor.web.address, "t-vidal")
        self._chosen = ""
        self._spins = 0
        self._shoes = 0
        self.rounds = {"r1": 0, "b1": 0}
        for table in ("r1", "b1"):
            self.command(table, "session.open")
            self.give()
            self.said(table, "session.opened")

    def said(self, table: str, kind: str, count: int = 1) -> None:
        """Wait until the table has published the event since this round began."""

        def enough() -> bool:
            events = self.floor.subscriber.events(kind)
            return len([event for event in events if event["table"] == table]) >= count

        until(f"{kind} of {table}", enough, self.floor.subscriber.transcript)

    # What fingers do

    def command(self, table: str, name: str) -> Locator:
        """Touch the table, then the command."""
        if self._chosen != table:
            self.page.locator(f".tile[data-table={table}]").click()
            self._chosen = table
        self.page.locator(f".panel [data-command='{name}']").click()
        return self.page.locator("dialog[open]")

    def give(self, who: str | None = None) -> None:
        confirm(self.page, who)
        expect(self.page.locator("dialog[open]")).to_have_count(0)

    def answer(self, table: str, name: str, kind: str = "main", text: str = "") -> None:
        """Touch an answer to what waits at the table."""
        item = self.page.locator(f".item[data-table={table}]", has_text=text)
        item.locator(f"button.{kind}[data-command='{name}']").first.click()

    def correct(self, table: str, field: str, value: str) -> None:
        """Correct the last result; the second person says the same."""
        dialog = self.command(table, "result.correct")
        fill(dialog.locator("[data-field=round]"), self.rounds[table])
        fill(dialog.locator(f"[data-field={field}]"), value)
        self.give("m-lasa")
        self.second.locator(f".item.second[data-table={table}] button.main").click()
        confirm(self.second, "t-vidal")
        self.said(table, "result.corrected")
        expect(self.second.locator("dialog[open]")).to_have_count(0)

    # Rounds played

    def play(self, given: Round) -> None:
        """One round, to its end."""
        subscriber = self.floor.subscriber.messages
        del subscriber[: len(subscriber)]
        self.rounds[given.table] += 1
        if given.table == "r1":
            self._spin(given)
        else:
            self._coup(given)
        items = self.page.locator(".item")
        until(
            "no alert or question is left",
            lambda: items.count() == 0,
            lambda: f"{given}\n{items.all_inner_texts()}\n{self.floor.subscriber.transcript()}",
        )

    def _wheel(self, state: int, number: str = "", warning: str = "0") -> None:
        self.floor.wheel.show(state, self._spins % 1000, number, warning, direction=self._spins % 2)

    def _spin(self, given: Round) -> None:
        self._spins += 1
        self._wheel(2)
        self.said("r1", "round.opened")
        if given.what == "null by the wheel":
            self._wheel(3, warning="2")
            self.answer("r1", "round.void")
            self.give("m-lasa")
            self.said("r1", "round.void")
            return
        self._wheel(3)
        if given.what == "null by a person":
            dialog = self.command("r1", "round.void")
            dialog.locator(f"[data-field=reason] [data-value={given.reason}]").click()
            self.give("m-lasa")
            self.said("r1", "round.void")
            return
        self._wheel(4)
        self.said("r1", "bets.closed")
        if given.what == "wheel lost":
            self._lose_wheel()
            return
        self._wheel(5, f"{given.number:>2}")
        self.said("r1", "round.result")
        if given.what == "number corrected":
            self.correct("r1", "number", str(given.other))

    def _lose_wheel(self) -> None:
        """The wheel is unplugged while the ball falls and is back after its end: the number is
        unknown.
        """
        wheel = self.floor.wheel
        wheel.unplug()
        self.said("r1", "alert.raised")
        usual, wheel.PERIOD = wheel.PERIOD, PACE
        wheel.plug()
        self._wheel(6)
        self.said("r1", "round.unresolved")
        wheel.PERIOD = usual
        self.answer("r1", "round.void", text="result unresolved")
        self.give("m-lasa")
        self.said("r1", "round.void")

    def _coup(self, given: Round) -> None:
        if given.burn:
            self._shoe(given.burn)
        cards, place = given.cards, given.other
        if given.what == "plain" or given.what == "winner corrected":
            self.floor.deal(*cards)
        else:
            self.floor.deal(*cards[:place])
            self.said("b1", "card.dealt", place)
            if given.what in MISDEALT:
                self._misdeal(given.what == "misdeal")
                return
            self._odd_card(given)
        self.said("b1", "round.result")
        if given.what == "winner corrected":
            self.correct("b1", "winner", given.reason)

    def _odd_card(self, given: Round) -> None:
        cards, place = given.cards, given.other
        if given.what == "card read twice":
            self.floor.deal(cards[place - 1])
            self.answer("b1", "card.decide", text="card to be looked at")
            self.give()
            self.said("b1", "card.removed")
            self.floor.deal(*cards[place:])
            return
        self.floor.scanner.say(b"NOREAD\r\n")
        self.answer("b1", "card.decide", "soft", "card not read")
        dialog = self.page.locator("dialog[open]")
        dialog.locator("[data-field=action] [data-value=read]").click()
        rank, suit = cards[place][0], cards[place][1]
        dialog.locator(f"[data-field=card] [data-rank='{rank}']").first.click()
        dialog.locator(f"[data-field=card] [data-suit={suit}]").click()
        self.give()
        if place + 1 < len(cards):
            self.floor.deal(*cards[place + 1 :])
        else:  # the scanner has read nothing since: its alert stays until the next card
            self.answer("b1", "alert.acknowledge")
            self.give()

    def _misdeal(self, told: bool) -> None:
        """A person says it, or the scanner is lost amid the coup."""
        if told:
            dialog = self.command("b1", "round.void")
            dialog.locator("[data-field=reason] [data-value=misdeal]").click()
        else:
            self.floor.scanner.unplug()
            self.answer("b1", "round.void")
        self.give("m-lasa")
        self.said("b1", "round.void")
        if not told:
            self.floor.scanner.plug()
            self.said("b1", "alert.raised", 2)  # it is connected, and has read nothing yet
            self.answer("b1", "alert.acknowledge")
            self.give()

    def _shoe(self, burn: tuple[str, ...]) -> None:
        self._shoes += 1
        if self._shoes > 1:
            self.command("b1", "shoe.end")
            self.give()
            self.said("b1", "shoe.ended")
        dialog = self.command("b1", "shoe.start")
        dialog.locator("[data-field=shoe] input").fill(f"S{self._shoes}")
        self.give()
        self.said("b1", "shoe.started")
        self.floor.deal(*burn)
        self.said("b1", "cards.burned")
        subscriber = self.floor.subscriber.messages
        del subscriber[: len(subscriber)]


def expected(rounds: list[Round]) -> dict[tuple[str, int], Outcome]:
    """What each round of each table must have come to."""
    found: dict[tuple[str, int], Outcome] = {}
    numbers: Counter[str] = Counter()
    for round_ in rounds:
        numbers[round_.table] += 1
        found[round_.table, numbers[round_.table]] = round_.outcome
    return found


def came_to(events: list[dict[str, Any]]) -> dict[tuple[str, int], Outcome]:
    """The outcomes in the journal."""
    found: dict[tuple[str, int], Outcome] = {}
    for event in events:
        place = str(event["table"]), int(event.get("round") or 0)
        if event["type"] in ("round.result", "result.corrected"):
            outcome = event["outcome"]
            found[place] = ("result", str(outcome.get("number", outcome.get("winner"))))
        elif event["type"] in ("round.void", "round.unresolved"):
            found[place] = (event["type"].partition(".")[2], event.get("reason", ""))
    return found


@pytest.fixture
def play(programs: None, tmp_path: Path, browser: Browser) -> Iterator[Play]:
    with ExitStack() as ending:
        yield Play(tmp_path, ending, browser)


def test_every_round_ends_as_scripted(play: Play, seed: int, long: bool) -> None:
    rounds = script(seed, 300 if long else 12)
    tell(f"seed {seed}: {len(rounds)} rounds: {dict(Counter(round_.what for round_ in rounds))}")
    for index, each in enumerate(rounds):
        if long and index % 25 == 0:
            tell(f"{index:>4} {each}")
        play.play(each)
    assert play.floor.daemon.stop() == 0
    events = events_of(play.floor.folder / "journal.sqlite3")
    wanted = expected(rounds)
    assert came_to(events) == wanted
    given = [event for event in events if event["type"] in ("round.void", "result.corrected")]
    assert all(each["signed_by"] for each in given)
    tell(f"{len(wanted)} rounds in the journal as scripted, {len(given)} decisions signed")
