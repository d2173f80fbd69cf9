"""The course of a coup of punto y banca: two cards to each hand in turn, then third cards by the
table of the decree. No card is revealed before it is face up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import CardDecide, CardsTurn
from common.contract.events import BaccaratOutcome, HandDecided
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, ShoeResult
from controller.games import shoe, stakes
from controller.games.baccarat import SIDES, WINNERS, Side, is_natural, next_card, points
from controller.games.coups import commands
from controller.games.coups.state import ROUND_DECISIONS
from controller.games.coups.turn import CoupTurn, Made
from controller.games.dealt.arrivals import follow
from controller.games.dealt.cards import Table, dealt, up
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.guards import FieldCheck, Row, has_round, is_open
from controller.games.moves import readings_of
from controller.games.punto_banca import burn
from controller.games.punto_banca.coup import (
    all_up,
    dealt_again,
    hands_of,
    marks_of,
    next_place,
    winner_of,
)
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import (
    MAX_WAITING_CARDS,
    PuntoBancaEntry,
    PuntoBancaRound,
    PuntoBancaState,
)
from controller.games.roles import AT_THE_TABLE
from controller.games.session import confirmer
from controller.games.stakes import Bounds, bounds
from controller.games.talla import read_card
from controller.rulebooks.punto_banca import PuntoBanca


class PuntoBancaTurn(CoupTurn[PuntoBanca, PuntoBancaSettings, PuntoBancaState]):
    """One step of a table of punto y banca."""

    round_type = PuntoBancaRound
    entry_type = PuntoBancaEntry
    max_held = MAX_WAITING_CARDS
    winners = tuple(WINNERS)

    def offered(self) -> Mapping[str, Bounds]:
        """The hands, and the tie, which is limited to a part of the table's maximum."""
        table = bounds(self.state.minimum, self.book.limits, self.settings.highest.get("hands"))
        most = (
            table.most * Fraction(*self.book.tie_limit)
            if table.most is not None and self.book.tie_limit
            else table.most
        )
        return {
            **dict.fromkeys(SIDES, table),
            "tie": Bounds(table.least, self.settings.highest.get("tie", most)),
        }

    def require_highest(self, minimum: int) -> None:
        """The highest bets are multiples of the minimum that the decree has."""
        law = self.book.laws.get("bet_limit")
        stakes.require_lawful(self.settings.highest, bands(self.book), minimum, law)

    def stage(self) -> Phase:
        """Before the first round of a shoe, cards are burned."""
        return Phase.BURNING if self.state.burn is not None else super().stage()

    # Where cards go

    @property
    def on_table(self) -> Table:
        """The cards of the round in progress."""
        return self.state.current.cards if self.state.current is not None else ()

    def belongs(self) -> Side | None:
        """The hand that the third-card table says, also after a silence: the shoe itself may know
        its place.
        """
        return next_place(self.on_table, self.book.third)

    def next_place(self) -> str | None:
        """The burn, while cards are burned; else the announced place of the next card."""
        if self.state.burn is not None:
            return "burn" if self.state.stop is None else None
        return super().next_place()

    def divert(self, held: Held) -> bool:
        """A burn card, a card of no round; and one before which a silence may have hidden another,
        which it cannot where the shoe itself counts the places.
        """
        if self.state.burn is not None:
            burn.on_card(self, held)
            return True
        if super().divert(held):
            return True
        coup, drawn = self.state.current, held.given
        if coup is None or not coup.gap:
            return False
        to = self.belongs()
        if to is not None and (drawn.to, drawn.index) == (to, len(dealt(coup.cards, to)) + 1):
            self.change_current(gap=False)
            return False
        self.unresolved(coup, "silence")
        self.expect()
        return True

    def found(self, drawn: CardDrawn) -> bool:
        """Whether the shoe reports this as the first card of a round."""
        if self.by_shoe and (drawn.to, drawn.index) == ("player", 1):
            self.change(out_of_sync=False, unseen=False)
            return True
        return False

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """The trouble of the card, also if the shoe places it elsewhere or it came face up where it
        must be face down.
        """
        drawn, now = held.given, self.state.shoe
        over = now is not None and now.over and held.trouble is None and not drawn.unsure
        if why := ("shoe_over", None) if over else super().objection(held):
            return why
        to = self.belongs()
        if to is None:
            natural = any(is_natural(up(self.on_table, side)) for side in SIDES)
            return "card_after_end" if natural else "card_before_turn", None
        index = len(dealt(self.on_table, to)) + 1
        if drawn.to not in (None, to) or drawn.index not in (None, index):
            named = " ".join(str(part) for part in (drawn.to, drawn.index) if part is not None)
            return "card_misplaced", f"{to} {index} expected, the shoe says {named}"
        return ("card_exposed", None) if drawn.exposed and not self.faces_up(to) else None

    def faces_up(self, to: str) -> bool:  # noqa: ARG002 - it depends on the card, not on the hand
        """Whether the next card of the round is dealt face up."""
        third = len(self.on_table) >= 4
        how = self.settings.third_card if third else self.settings.dealt
        return how == "face_up" or (third and self.settings.turn == "when_complete")

    def turn_cards(self, sides: Sequence[Side]) -> None:
        """Turn the cards of these hands face up."""
        for side in sides:
            self.put(
                tuple(replace(card, up=True) if card.to == side else card for card in self.on_table)
            )

    # Gaps

    def is_complete(self) -> bool:
        """Whether all cards of the round in progress have come and are face up."""
        return self.complete_outcome() is not None

    def open_gap(self, coup: PuntoBancaRound) -> None:
        """Record that a card of the round may be hidden after those that have come."""
        super().open_gap(coup)
        self.change_current(before_gap=coup.before_gap if coup.gap else len(coup.cards))

    def miss(self) -> None:
        """Record that a silence may have hidden cards, of the burn too."""
        if self.state.burn is not None:
            burn.miss(self, self.state.burn)
        self.lose_place()

    def late(self, held: Held) -> None:
        """Count a late card during the burn; else as at every table of coups."""
        burning, now = self.state.burn, self.state.shoe
        if burning is None or now is None:
            super().late(held)
        else:
            self.change(shoe=shoe.lose_count(now), burn=replace(burning, gap=True))

    # What follows by itself

    def complete_outcome(self) -> Made | None:
        """The outcome of the round in progress once all its cards have come face up, else None."""
        return self.whole(self.on_table) if all_up(self.on_table) else None

    def advance(self) -> None:
        """Turn the first four cards if the table is set so; then announce the decisions that follow
        from the cards, and the result.
        """
        if self.settings.turn == "when_complete" and len(self.on_table) == 4:
            self.turn_cards(SIDES)
        coup, outcome = self.state.current, self.complete_outcome()
        if coup is None or len(coup.cards) < 4 or not all_up(coup.cards):
            return
        if coup.gap and coup.before_gap == len(coup.cards) and outcome is not None:
            self.change_current(gap=False)
        self._decide(coup)
        self._conclude(outcome)

    def _decide(self, coup: PuntoBancaRound) -> None:
        """Announce, once for each hand, the decision that the rules require."""
        player, banker = (up(coup.cards, side) for side in SIDES)
        if is_natural(player) or is_natural(banker):
            for side in SIDES:
                if is_natural(up(coup.cards, side)):
                    self._decided(coup, side, "natural")
            return
        to = next_card(self.book.third, player, banker)
        if len(player) == 2:
            self._decided(coup, "player", "draw" if to == "player" else "stand")
        if to != "player" and len(banker) == 2:
            self._decided(coup, "banker", "draw" if to == "banker" else "stand")

    def _decided(
        self, coup: PuntoBancaRound, side: Side, decision: Literal["draw", "stand", "natural"]
    ) -> None:
        now = self.state.current
        if now is None or side in now.told:
            return
        self.change_current(told=(*now.told, side))
        words = self.call({"draw": f"{side}_draws", "stand": f"{side}_stands"}.get(decision, ""))
        total = points(up(coup.cards, side))
        filled = (
            {language: _filled(text, total) for language, text in words.items()} if words else None
        )
        self.emit(HandDecided(round=coup.round, who=side, decision=decision, announcement=filled))

    def _conclude(self, outcome: Made | None) -> None:
        """Publish the result once all cards are face up, unless a card is still to come, a person
        must decide, or the witnesses differ.
        """
        coup = self.state.current
        assert coup is not None
        verdict = coup.verdict
        if verdict is not None and (outcome is None or disagree(verdict, outcome[0], outcome[2])):
            detail = f"the shoe says {verdict.winner or 'nothing'}"
            detail += ", a card is missing" if outcome is None else ""
            self.irregular("witnesses_disagree", asks=ROUND_DECISIONS, detail=detail)
            self.unresolved(coup, "witnesses_disagree")
        elif outcome is not None and coup.gap:
            self.unresolved(coup, "silence")
        elif (
            outcome is not None
            and not self.state.held
            and (verdict is not None or self.settings.witness == "compared")
        ):
            self.result(coup, outcome, coup.confirmed_by)

    # What wins

    def judged(self, cards: Sequence[str]) -> Made | None:
        """The outcome of these cards in order; None unless they are exactly one whole coup."""
        hands = dealt_again(self.book.third, cards)
        if hands is None:
            return None
        return winner_of(*hands), hands_of(*hands), marks_of(*hands, self.settings)

    def stated_marks(self, won: str) -> tuple[str, ...]:
        """The marks of a result given by a person without cards."""
        return ("tie",) if won == "tie" else ()

    def candidate(self, coup: PuntoBancaRound, late: Table) -> str | None:  # noqa: ARG002
        """The winner if all cards of the round are face up, else None."""
        outcome = self.complete_outcome()
        return None if outcome is None else outcome[0]

    def ended(self, coup: PuntoBancaRound) -> bool:
        """Whether the shoe has given its verdict."""
        return coup.verdict is not None

    def evidence(self, round_: DealtRound | DealtEntry) -> tuple[int, ...]:
        """The readings behind a round, and the shoe's verdict on it; oldest first."""
        verdict = round_.verdict if isinstance(round_, PuntoBancaRound) else None
        earlier = super().evidence(round_)
        return earlier if verdict is None else (*earlier, *readings_of(verdict))

    def noted(self, entry: PuntoBancaEntry) -> PuntoBancaEntry:
        """The result, with whether the verdict was compared."""
        current = self.state.current
        compared = (
            current is not None and current.round == entry.round and current.verdict is not None
        )
        return replace(entry, compared=compared)

    def outcome_of(self, entry: PuntoBancaEntry) -> BaccaratOutcome:
        """The outcome of a round that has a result."""
        return entry.outcome

    # Decisions

    def decide_unread(self, command: CardDecide) -> bool:
        """Read the first unread card on the table, or of the named hand; or decide about the
        burn.
        """
        state = self.state
        unread = [
            at
            for side in SIDES
            for at, card in enumerate(self.on_table)
            if card.card is None and card.to == side and command.who in (None, side)
        ]
        if command.action == "read" and unread and state.shoe is not None:
            card, at = read_card(command), unread[0]
            counted, trouble = shoe.read(state.shoe, card)
            self.change(shoe=counted)
            cards = self.on_table
            self.put((*cards[:at], replace(cards[at], card=card), *cards[at + 1 :]))
            self.change_current(confirmed_by=confirmer(command))
            if trouble is not None:
                self.irregular(trouble)
            self.settle()
            return True
        if state.held or state.stop is None:
            return False
        if state.burn is not None:
            burn.decide(self, command, state.burn)
            return True
        if state.current is not None and state.current.unread:
            raise RejectedError("card_not_read_in_round")
        return False

    def decide_held(self, command: CardDecide, held: Held) -> None:
        """Place the held card, read it, remove it, or keep it for the next round."""
        match command.action:
            case "accept" | "for":
                self._accept(command, held)
            case "read":
                self._read(command, held)
            case "exposed":
                if not held.given.exposed:
                    raise RejectedError("card_not_face_up")
                other = command.card not in (None, held.given.card)
                (self._read if other else self._accept)(command, held)
            case "remove":
                self.change(held=self.state.held[1:])
                why = held.trouble or ("exposed" if held.given.exposed else "decided")
                commands.remove(self, command, why, None)
            case "next_round":
                self._keep(command, held)
            case _:
                raise RejectedError("action_not_allowed", action=command.action, actions=ACTIONS)

    def _accept(self, command: CardDecide, held: Held) -> None:
        """Place the card where the order requires; face up out of turn only if a person states
        so.
        """
        now, rest = self.state.shoe, self.state.held[1:]
        if command.action == "for" and command.who is None:
            raise RejectedError("who_one_of", players=SIDES)
        commands.of_the_game(held)
        if self.state.burn is not None:
            self.change(held=rest)
            burn.burn_card(self, replace(held, trouble=None))
            return
        if now is not None and now.over:
            raise RejectedError("shoe_over_remove_card")
        if self.state.current is None and not self.by_shoe:
            raise RejectedError("no_round_keep_card")
        to = self.belongs()
        if to is None:
            whole = len(self.on_table) >= 4 and "card.decide" in self.state.asks
            raise RejectedError("no_card_now_turn" if whole else "no_card_now")
        if command.who not in (None, to):
            raise RejectedError("next_card_to", who=to)
        self.change(held=rest)
        self.ready()
        self.change_current(confirmed_by=confirmer(command), gap=False)
        self.place(held.given, to, seen=command.action == "exposed")

    def _read(self, command: CardDecide, held: Held) -> None:
        """Place the held card with the value read by the person."""
        read = commands.read(self, command, held)
        self.change(held=(read, *self.state.held[1:]))
        self._accept(command, read)

    def _keep(self, command: CardDecide, held: Held) -> None:
        """Keep the card as the first of the next round. If cards are being burned, the burn ended
        before it.
        """
        now, drawn = self.state.shoe, held.given
        if now is not None and (now.over or now.cut_at is not None):
            raise RejectedError("next_round_none")
        commands.of_the_game(held)
        self.change(held=self.state.held[1:])
        if self.state.burn is not None:
            burn.finish(self, anyway=True)
        first_card = Held(
            given=CardDrawn(
                at=drawn.at,
                device=drawn.device,
                frame=drawn.frame,
                reading=drawn.reading,
                card=drawn.card,
            ),
        )
        if self.state.current is None and self.by_shoe:
            follow(self, first_card)
        else:
            self.change(carried=(*self.state.carried, first_card))
        commands.record_confirmer(self, command)

    # The shoe

    def new_shoe(self) -> None:
        """Begin to burn cards."""
        burn.begin(self)

    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe, and its burn."""
        self.change(burn=None)
        super().clear_shoe(left)


ACTIONS = ("accept", "for", "read", "remove", "next_round", "exposed")
"""What ``card.decide`` may do with a held card."""


def disagree(verdict: ShoeResult, won: str, marks: tuple[str, ...]) -> bool:
    """True if the shoe's verdict differs from the table's, as far as it goes."""
    pairs = {mark.removeprefix("pair_") for mark in marks if mark.startswith("pair_")}
    return verdict.winner not in (None, won) or (bool(verdict.pairs) and {*verdict.pairs} != pairs)


def turn_cards(turn: PuntoBancaTurn, command: CardsTurn) -> None:
    """Turn the cards of a hand face up."""
    turn.turn_cards(_sides(command))
    turn.settle()


def _sides(command: CardsTurn) -> list[Side]:
    return [side for side in SIDES if command.who in (None, side)]


def of_a_hand(turn: PuntoBancaTurn, command: CardsTurn) -> None:  # noqa: ARG001 - any table
    """Reject a hand that there is not."""
    if not _sides(command):
        raise RejectedError("who_one_of", players=SIDES)


def first_four(turn: PuntoBancaTurn) -> RejectedError | None:
    """The first four cards lie on the table."""
    count = len(turn.on_table)
    return RejectedError("first_four_cards", count=count) if count < 4 else None


def not_turned(turn: PuntoBancaTurn, command: CardsTurn) -> None:
    """Reject a hand whose cards are all face up."""
    sides = _sides(command)
    if all(card.up for card in turn.on_table if card.to in sides):
        raise RejectedError("turned_already")


def any_face_down(turn: PuntoBancaTurn) -> bool:
    """A card on the table is face down."""
    return not all_up(turn.on_table)


CARDS_TURN = Row(
    AT_THE_TABLE,
    (is_open, has_round, FieldCheck(of_a_hand), first_four, FieldCheck(not_turned, any_face_down)),
    turn_cards,
)


def _filled(call: str, total: int) -> str:
    """The call with the points in place of the decree's dots."""
    before, dots, after = call.partition("...")
    return f"{before}{' ' if before[-1:].isalpha() else ''}{total}{after}" if dots else call


def bands(book: PuntoBanca) -> dict[str, stakes.Band]:
    """What may be the highest bet on a hand, and on the tie."""
    of_hands = stakes.Band(book.limits, span=book.limits_are == "range")
    part = Fraction(*book.tie_limit) if book.tie_limit else 1
    return {
        "hands": of_hands,
        "tie": of_hands._replace(multiples=tuple(limit * part for limit in book.limits)),
    }
