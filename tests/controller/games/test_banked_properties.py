"""Rounds of each game with errors of devices and people: no card out of nowhere, and
every round has its outcome.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardTurned,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.notation import read_event, write
from common.contract.refusals import RejectedError
from common.readings import (
    CardCut,
    CardDrawn,
    DiceRead,
    LinkGap,
    LinkLost,
    LinkUp,
    ShoeReset,
    ShufflerPacket,
    ShufflerState,
    ShufflerVerdict,
)
from controller.games.dealt import cards as on_table
from controller.games.decks import deck
from tests.conftest import cases
from tests.support.games.banked_play import PAIRS, Play
from tests.support.games.corrections import Standing, there_and_back
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

ROUNDS = cases(80, 1000)
MAX_STEPS_PER_ROUND = 120
"""Maximum inputs of a round; then a person declares it null."""


class Evening:
    """Plays round after round, as croupier, devices and the person in charge, who make mistakes."""

    def __init__(self, game: str, decree: str) -> None:
        self.id = game
        self.chance = random.Random(f"{game} {decree}")
        self.play = Play(game, decree)
        self.play.open(1, 2)
        self.named: set[str] = set()
        """Cards that a device or a person has named in the current round."""

    @property
    def state(self) -> Any:
        return self.play.state

    def send(self, command: str, **fields: Any) -> bool:
        """Send a person's command; return True if it was followed. A refused one changes
        nothing.
        """
        if command != "deck.check":
            self.named |= {*fields.get("cards", ()), *filter(None, [fields.get("card")])}
        before = self.state
        try:
            self.play.send(command, **fields)
        except RejectedError:
            assert self.state is before
            return False
        return True

    def lucky(self, odds: float) -> bool:
        return self.chance.random() < odds

    # Cards

    def unused(self) -> list[str]:
        deal = self.state.current
        there = {each.card for each in deal.cards} if deal else set()
        cards = [card for card in deck(self.play.game.book.deck) if card not in there]
        self.chance.shuffle(cards)
        return cards

    def hand_of(self, who: str) -> list[str]:
        """The cards that a person finds in a hand: those that were read, any where none was; now
        and then something else.
        """
        rest = iter(self.unused())
        cards = [each.card or next(rest) for each in on_table.hand(self.state.current.cards, who)]
        if cards and self.lucky(0.03):
            cards[0] = self.chance.choice(deck(self.play.game.book.deck))
        return cards

    # One round

    def round(self) -> None:
        self.named = set()
        self.send("deck.check", cards=len(deck(self.play.game.book.deck)))
        self.send("boxes.set", boxes=self.chance.sample(range(1, 7), self.chance.randint(1, 3)))
        if self.id == "pai-gow":
            self.send("button.set")
        self.noise()
        while not self.send("bets.open"):
            if self.id == "pai-gow":
                self.send("boxes.set", boxes=[1, 2, 3, 4, 5, 6])
            self.decide()
        number = self.state.round
        for _ in range(MAX_STEPS_PER_ROUND):
            if self.state.current is None:
                break
            if self.lucky(0.06):
                self.noise()
            elif self.play.game.turn(self.state).asks():
                self.decide()
            else:
                self.go_on()
        if self.state.current is not None:
            assert self.send("round.void", reason="inspector")
        assert self.state.entry(number) is not None

    def go_on(self) -> None:
        """Send the regular next input, in one of several ways."""
        deal = self.state.current
        if not deal.closed:
            if self.lucky(0.4):
                self.send("bet.place", who=f"box:{deal.boxes[0]}", bet="txb")
            self.send("bets.close")
        elif deal.due:
            self.deal()
        elif self.id == "pai-gow":
            self.pai_gow()
        elif self.id == "trijoker":
            common = f"common:{deal.turned + 1}"
            if self.lucky(0.5) and self.send(
                "hand.act", who=f"box:{self.chance.choice(deal.boxes)}", action="withdraw"
            ):
                return
            self.send("cards.turn", who=common) or self.send(
                "cards.show", who=common, cards=self.hand_of(common)
            )
        else:
            who = self.chance.choice([f"box:{box}" for box in deal.boxes])
            self.send("hand.act", who=who, action=self.chance.choice(("go", "go", "pass")))

    def pai_gow(self) -> None:
        deal = self.state.current
        if not deal.dice:
            values = tuple(self.chance.randint(1, 6) for _ in range(3))
            self.play.take(DiceRead(at=1.0, device="dice", values=values))
        elif not deal.left:
            self.send("deck.check", cards=53 - len(deal.cards))
        else:
            self.send("hand.act", who=f"box:{self.chance.choice(deal.boxes)}", action="set")

    def deal(self) -> None:
        due = self.state.current.due
        size = due.count(due[0]) if self.id == "pai-gow" else 1
        match (
            "read"
            if due[0] == "board" and self.lucky(0.9)
            else self.chance.choice(("read", "read", "read", "packet", "hand"))
        ):
            case "read":
                for card in self.unused()[:size]:
                    self.draw(None if self.lucky(0.05) else card)
            case "packet":
                self.play.take(ShufflerPacket(at=1.0, device="shuffler", size=size))
            case _:
                self.send("cards.deal", count=size)

    def draw(self, card: str | None, **fields: Any) -> None:
        self.named |= {card} if card else set()
        self.play.take(CardDrawn(at=1.0, device="shoe", card=card, **fields))

    def decide(self) -> None:
        """The person in charge makes one of the decisions that are due; now and then one that does
        not help.
        """
        asks = self.play.game.turn(self.state).asks()
        match self.chance.choice(asks) if asks else "deck.check":
            case "card.decide":
                action = self.chance.choice(("accept", "remove", "read", "exposed"))
                self.send(
                    "card.decide",
                    action=action,
                    card=self.unused()[0] if action == "read" else None,
                )
            case "cards.show":
                self.show()
            case "deck.check":
                over = (
                    len(self.state.current.cards)
                    if self.state.current and self.id == "pai-gow"
                    else 0
                )
                self.send(
                    "deck.check", cards=len(deck(self.play.game.book.deck)) - over - self.lucky(0.1)
                )
            case "dice.tell":
                self.send("dice.tell", values=[1, 2, 3])
            case "round.void":
                if self.lucky(0.3):
                    self.send("round.void", reason="misdeal")
            case command:
                self.send(command)

    def show(self) -> None:
        turn = self.play.game.turn(self.state)
        who = self.state.about or self.chance.choice(turn.banked.missing(turn))
        cards = self.hand_of(who)
        low = self.chance.sample(cards, 2) if self.id == "pai-gow" else []
        self.send("cards.show", who=who, cards=cards, low=low)

    def noise(self) -> None:
        """Something that must not happen."""
        card = self.chance.choice(deck(self.play.game.book.deck))
        number = self.chance.randint(0, 19)
        if number in range(5, 11):
            self.noise_of_devices(number)
        elif number in range(11, 18):
            self.noise_of_persons(number, card)
        else:
            self.noise_of_cards(number, card)

    def noise_of_cards(self, number: int, card: str) -> None:
        read = (
            [each.card for each in self.state.current.cards if each.card]
            if self.state.current
            else []
        )
        match number:
            case 0:
                self.draw(card)
            case 18 if read:
                self.draw(self.chance.choice(read))
            case 19 if self.state.current and self.state.current.due:
                self.draw(self.unused()[0], exposed=True)
            case 1:
                self.draw(card, exposed=True)
            case 2:
                self.draw("Zz")
            case 3:
                self.draw(card, unsure=True)
            case 4:
                self.draw(card, late=True)
            case _:
                self.turn()

    def noise_of_devices(self, number: int) -> None:
        head: dict[str, Any] = {"at": 1.0, "device": "shoe"}
        match number:
            case 5:
                self.play.take(LinkLost(**head, reason="unplugged"), LinkUp(**head))
            case 6:
                self.play.take(LinkGap(**head, lost=1), ShoeReset(**head), CardCut(**head))
            case 7:
                self.play.take(ShufflerPacket(**head, size=self.chance.randint(1, 9), to="box:1"))
            case 8:
                self.play.take(ShufflerVerdict(**head, count=52, set_right=self.lucky(0.5)))
            case 9:
                self.play.take(
                    ShufflerState(**head, state="jam"), ShufflerState(**head, state="ready")
                )
            case _:
                self.play.take(
                    DiceRead(**head, values=(1, 2, self.chance.randint(1, 7)), late=self.lucky(0.5))
                )

    def noise_of_persons(self, number: int, card: str) -> None:
        match number:
            case 11 | 12:
                errors = ("too_many", "order", "exposed", "touched", "missing_card", "premature")
                who = self.chance.choice(("box:1", "box:2", "dealer", "common:1", "common:2", None))
                self.send(
                    "deal.error",
                    error=self.chance.choice(errors),
                    who=who,
                    index=1,
                    recoverable=self.lucky(0.5),
                )
            case 13:
                self.send("cards.show", who="box:1", cards=[card], index=1)
            case 14:
                self.send("cards.deal", who="box:1", cards=[card])
            case 15:
                self.send("round.confirm")
            case 16:
                action = self.chance.choice(("go", "pass", "withdraw", "set"))
                self.send("hand.act", who="box:2", action=action, valid=self.lucky(0.3))
            case _:
                self.turn()

    def turn(self) -> None:
        self.send("cards.turn", who=self.chance.choice(("dealer", "box:1", "common:2", "board")))


def published_cards(events: list[AnyEvent]) -> set[str]:
    return {
        event.card
        for event in of_kind(events, CardDealt) + of_kind(events, CardTurned)
        if event.card
    }


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_rounds_with_errors(game: str, decree: str) -> None:
    evening = Evening(game, decree)
    play = evening.play
    chance, results, corrected = random.Random(f"{game} {decree}"), 0, 0
    for number in range(1, ROUNDS + 1):
        play.events.clear()
        evening.round()
        play.again()
        outcomes = [
            event
            for event in play.events
            if isinstance(event, RoundResult | RoundVoid | RoundUnresolved)
        ]
        assert [event.round for event in outcomes] == [number]
        assert published_cards(play.events) <= evening.named, "a card that has not been named"
        standing = Standing()
        standing.see([event for event in play.events if event.round == number])
        assert {award.box for award in +standing.awards} == winners(standing, "txb") or isinstance(
            outcomes[0], RoundUnresolved
        )
        for result in of_kind(play.events, RoundResult):
            results += 1
            corrected += there_and_back(
                play, chance, standing, number, deck(play.game.book.deck), lows=game == "pai-gow"
            )
            cards = [card for hand in outcome_of(result).hands for card in hand.cards]
            assert len(set(cards)) == len(cards), "a card is there twice"
            assert set(cards) <= published_cards(play.events)
            assert all(read_event(write(event)) == event for event in play.events)
    assert results > ROUNDS / 3
    assert corrected > results * 0.9


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_a_table_continues_from_its_saved_state_at_any_step(game: str, decree: str) -> None:
    evening = Evening(game, decree)
    evening.play.game.step = checked = _Checked(evening.play.game)  # type: ignore[method-assign]
    for _ in range(40):
        evening.round()
    assert checked.steps > 500


def winners(standing: Standing, bet: str) -> set[str]:
    """The winners of this bet."""
    return {
        hand.who
        for hand in standing.hands
        for each in hand.settled
        if (each.bet, each.outcome) == (bet, "win")
    }


class _Checked:
    """Steps each input twice, the second time from the state as it is read back after saving."""

    def __init__(self, game: Any) -> None:
        self._step = game.step
        self._type = game.state_type
        self.steps = 0

    def __call__(self, state: Any, received: Any) -> Any:
        self.steps += 1
        again = msgspec.json.decode(msgspec.json.encode(state), type=self._type)
        assert again == state
        outcome = self._step(state, received)
        assert self._step(again, received) == outcome
        return outcome
