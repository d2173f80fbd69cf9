"""The course of a round: where the next card belongs, and the moves that follow from each input:
cards go to their hands, decisions are compared with the cards, the result is published.

Nothing about a card is published before it is face up: a decision against the rules is found when
the hand is turned, and is then corrected by the decree's rule.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.readings import CardDrawn
from controller.games import shoe, talla
from controller.games.chemin.hands import (
    NATURAL,
    any_third,
    awaited,
    bank_bound_by,
    bank_duty,
    bank_plays,
    is_face_up,
    is_open,
    next_dealt,
    next_place,
    next_to_act,
    opening,
    thirds,
    worth,
    wrong_word,
)
from controller.games.chemin.state import BANK_EARLY, EARLY_CARD, HARMLESS_TROUBLES, WRONG_POINT
from controller.games.chemin.turn import CheminMoves
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import Held


class CheminTurn(CheminMoves):
    """One step of a table of chemin de fer, or of two cloths."""

    # Phases

    def stage(self) -> Phase:
        """The phase, regardless of any stop."""
        state, coup = self.state, self.state.current
        if not state.open:
            return Phase.CLOSED
        if state.shoe is None:
            return Phase.NO_SHOE
        if coup is None:
            return Phase.SHOE_OVER if state.shoe.over else Phase.WAITING
        if not coup.closed:
            return Phase.BETS_OPEN
        if next_dealt(self.book, coup) is not None:
            return Phase.DEALING
        return Phase.SHOWING if self.shows() else Phase.WORDS

    def to_act(self) -> str | None:
        """The hand to act; None while something stops the table."""
        coup = self.state.current
        return next_to_act(self.book, coup) if coup is not None and self.stop is None else None

    def bank_stood(self) -> bool:
        """Whether the bank has decided not to draw, and may still ask for a card because the point
        that it announced was wrong.
        """
        coup, bank = self.current, self.book.bank
        has_stood = coup.words.get(bank) == "stand" and not thirds(coup, bank)
        return has_stood and bank_plays(self.book, coup) and WRONG_POINT in self.book.errors

    def shows(self) -> bool:
        """Whether only the turning of all cards is left."""
        state, coup = self.state, self.state.current
        if coup is None or not coup.closed or self.stop is not None or state.held or coup.lying:
            return False
        if next_dealt(self.book, coup) is not None:
            return False
        ended = next_to_act(self.book, coup) is None and awaited(self.book, coup) is None
        return ended or "loses" in coup.fates.values()

    # Arrivals

    def belongs(self) -> str | None:
        """The hand that gets the next card; the bank is last."""
        coup = self.state.current
        if coup is None or not coup.closed:
            return None
        bank = self.book.bank if self.to_act() == self.book.bank else None
        return next_place(self.book, coup) or bank

    def arrived(self, drawn: CardDrawn) -> Held | None:
        """Count a card that left the shoe, wherever it goes. None where the table takes none."""
        state = self.state
        if not state.open:
            return super().arrived(drawn)
        if state.shoe is None:
            talla.missing(self, drawn)
            return None
        counted, trouble = shoe.draw(state.shoe, drawn.card)
        self.change(shoe=counted)
        other = "card_unsure" if drawn.unsure else "shoe_over" if state.shoe.over else None
        return Held(given=drawn, trouble=trouble or other)

    @property
    def holds(self) -> bool:
        """A card waits behind whatever stops the table."""
        return self.stop is not None

    def divert(self, held: Held) -> bool:
        """A third card that leaves the shoe face up is discarded; the next one takes its place."""
        coup = self.state.current
        if held.trouble is not None or not held.given.exposed or self.belongs() is None:
            return False
        if coup is None or next_dealt(self.book, coup) is not None:
            return False
        self.expose(held.given)
        return True

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """The card's own trouble; or that the phase accepts no card, if the site asks the inspector
        then; or that it came face up.
        """
        early = PHASES[self.stage()].card
        if early is not None:
            early = early if self.settings.early_card == "ask" else None
        elif held.given.exposed:
            early = "card_exposed"
        why = held.trouble or early
        return None if why is None else (why, None)

    def ready(self) -> None:
        """Record that the bank draws, if it is the one to act when a card comes."""
        if self.to_act() == self.book.bank:
            self.decide(self.book.bank, "draw")

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:
        """Make the card, and all later ones, wait for a person."""
        self.change(held=(*self.state.held, replace(held, trouble=what)))
        self.irregular(what, asks=self.asks(), detail=detail)

    def wait(self, held: Held) -> None:
        """Make the card wait behind others, or for a hand that asks for it."""
        if why := self.objection(held):
            self.hold(held, *why)
            return
        self.change(held=(*self.state.held, held))
        if early := PHASES[self.stage()].card:
            self.irregular(early)

    def expose(self, drawn: CardDrawn) -> None:
        """Discard a card that came face up."""
        self.irregular("card_exposed")
        self.discard(drawn, "card_exposed", up=True)

    def late(self, held: Held) -> None:  # noqa: ARG002 - its place is unknown
        """Ask a person where a card went that is known only after a silence."""
        self.lose_place()

    def lose_place(self) -> None:
        """Stop counting the shoe, and ask a person whether cards of the round were missed."""
        if self.state.shoe is not None:
            self.change(shoe=shoe.lose_count(self.state.shoe))
            self.miss()

    def miss(self) -> None:
        """Ask a person whether cards of the round were missed."""
        coup = self.state.current
        if coup is not None and coup.closed and coup.question is None:
            self.ask("silence")

    # What follows by itself

    def follow_up(self) -> None:
        """Make the moves that follow from an input."""
        self.settle()

    def advance(self) -> None:
        """Proceed as far as the rules leave no choice."""
        moves = (self._naturals, self._words, self._pairs, self._unclaimed, self._finish)
        while (coup := self.state.current) is not None and coup.closed and coup.question is None:
            before = self.state
            self._deal()
            for move in moves:
                if self.state.current is not None and self.stop is None:
                    move()
            if self.state == before:
                break

    def _deal(self) -> None:
        """Deal cards taken from a hand, then waiting ones, while a place is due."""
        while (to := next_place(self.book, self.current)) is not None:
            lying, held = self.current.lying, self.state.held
            if lying and next_dealt(self.book, self.current) is None:
                self.move(lying[0], to)
            elif held and held[0].trouble in HARMLESS_TROUBLES:
                self.place(self.pop_held(0).given, to)
            else:
                return

    def _bank_early(self) -> None:
        """Report, once, that the bank showed its cards before all hands had decided and without
        being obliged to. If that ends the round, the players may withdraw their bets first.
        """
        coup, bank = self.current, self.book.bank
        obliged = coup.owed or coup.bank_fault or bank in coup.fates
        silent = any(who not in coup.words and who not in coup.fates for who in self.book.hands)
        if silent and not obliged and is_open(coup, bank):
            ends = is_face_up(self.book, coup) and self._is_natural(bank)
            self.once(BANK_EARLY, lambda: (self.ask if ends else self.irregular)(BANK_EARLY))

    def _naturals(self) -> None:
        """Record naturals: eight or nine with two cards that are face up."""
        book, bank = self.book, self.book.bank
        if next_dealt(book, self.current) is not None:
            return
        for who in book.hands:
            if who not in self.current.words and self._is_natural(who):
                self.decide(who, "natural")
        self._bank_early()
        coup = self.current
        if coup.question is not None:
            return
        if coup.words.get(bank) == "natural" or thirds(coup, bank) or not self._is_natural(bank):
            return
        if any_third(coup):  # giving a card forfeits the natural
            if bank not in coup.words:
                self.once(f"natural_forgotten {bank}", self._bank_forgot)
                self.decide(bank, "stand")
            return
        self.decide(bank, "natural")

    def _is_natural(self, who: str) -> bool:
        coup = self.current
        points = opening(self.book, coup, who)
        return who not in coup.fates and is_open(coup, who) and points >= NATURAL

    def _bank_forgot(self) -> None:
        self.irregular("natural_forgotten", detail=self.book.bank)

    def exempt(self) -> bool:
        """Whether a player alone against the whole bank is exempt from the rules of drawing."""
        free = self.book.banco == "always" or self.settings.banco == "free"
        return self.current.banco and free and "ruled" not in self.current.said

    def _words(self) -> None:
        """Compare the hands' decisions with their cards once these are face up."""
        for who in self.book.hands:
            coup = self.current
            if not is_open(coup, who) or who not in coup.words:
                continue
            what = wrong_word(self.book, coup, who, exempt=self.exempt())
            if what is None or f"{what} {who}" in coup.said:
                continue
            self.change_current(said=(*coup.said, f"{what} {who}"))
            if "restored" in self.book.errors:
                self._put_right(who, what)
            else:
                self._wrong(who, what)
            if self.current.question is not None:
                return

    def _wrong(self, who: str, what: str) -> None:
        """Chemin de fer: the banker grants or denies the card, unless a player alone against the
        bank bears the error.
        """
        coup = self.current
        drew = coup.words[who] == "draw"
        bears = what == "player_word" and coup.banco and not self.baccarat(who)
        natural = coup.words.get(self.book.bank) == "natural" or (
            what == "natural_forgotten" and not drew
        )
        if bears or natural:
            self.irregular(what, detail=who)
        else:
            self.ask(what, detail=who)

    def baccarat(self, who: str) -> bool:
        """Whether a hand with zero has decided not to draw, which the law does not allow."""
        return opening(self.book, self.current, who) == 0 and self.current.words.get(who) == "stand"

    def _put_right(self, who: str, what: str) -> None:
        """Two cloths: correct the decision, deal third cards where they belong, and let the banker
        decide again.
        """
        if what == "natural_forgotten":
            self.irregular(what, self.book.laws[self.law_of_word(who, what)], detail=who)
            if self.current.words[who] == "stand":
                return
        self.restore(who, "stand" if self.current.words[who] == "draw" else "draw")

    def law_of_word(self, who: str, key: str) -> str:
        """Two cloths: the name of the law of a wrong decision. One law covers the second cloth."""
        return key if who == self.book.hands[0] else "second_cloth"

    def restore(self, who: str, right: str) -> None:
        """Replace the hand's decision by the right one. Third cards of earlier hands stay; this
        hand's and all later ones are dealt again, also those that a person had placed.
        """
        law = self.law_of_word(who, "restored" if right == "draw" else "restored_drew")
        self.irregular("restored", self.book.laws[law], detail=f"{who} {right}")
        if self.current.words.get(self.book.bank) != "natural":
            self.withdraw_word(self.book.bank)
            self.change_current(restored=True, restored_by=law)
            self.free(but=self.book.everyone[: self.book.everyone.index(who)])
        self.decide(who, "draw" if right == "draw" else "stand")
        self._deal()

    def _pairs(self) -> None:
        """Resolve two third cards that are now face up: a hand keeps the one that makes more, the
        bank the one that makes less.
        """
        for who in self.book.everyone:
            pairs = self.current.pairs
            if who not in pairs or not is_open(self.current, who):
                continue
            self.change_current(pairs={hand: two for hand, two in pairs.items() if hand != who})
            self._keep_one(who, pairs[who])
            if self.state.current is not None and self.current.question is not None:
                return

    def _keep_one(self, who: str, both: tuple[int, ...]) -> None:
        """Remove the other card. If a person left the wrong one, ask a person."""
        coup = self.current
        makes = {at: (opening(self.book, coup, who) + worth([coup.cards[at]])) % 10 for at in both}
        own = [at for at in both if coup.cards[at].to == who]
        if not own:
            return
        right = (min if who == self.book.bank else max)(both, key=makes.__getitem__)
        if len(own) > 1:
            for at in own:
                if at != right:
                    self.remove(at, "two_third_cards")
        elif makes[own[0]] != makes[right]:
            self.ask("two_third_cards", detail=who)

    def _unclaimed(self) -> None:
        """Treat third cards that no hand asked for."""
        coup, held = self.current, self.state.held
        if not held and not coup.lying:
            return
        who, false_card = self.to_act(), "false_card" in coup.said
        if who == self.book.bank and not coup.lying:
            self.decide(who, "draw")
        elif who == self.book.bank:  # the banker may take the card that was dealt before
            self.change_current(question="bank_choice")
            what, law = self._surplus()
            self.irregular(what, self.book.laws[law], asks=self.asks(), detail=who)
        elif who is not None:
            self._before_the_word()
        elif coup.restored_by or false_card:
            self._clear(*self._surplus())
        elif any(waiting.trouble == EARLY_CARD for waiting in held):  # no hand may have it
            self._clear("fifth_card", "fifth_card")
        else:
            self.doubt(0, "card_surplus")

    def _before_the_word(self) -> None:
        """Report cards that came before the hand decided."""
        if self.current.restored:
            return
        for at, held in enumerate(self.state.held):
            if held.trouble == EARLY_CARD:
                continue
            if "fifth_card" not in self.book.errors:
                self.doubt(at, "irregular_deal")
                return
            self.doubt(at, EARLY_CARD)

    def doubt(self, at: int, what: str) -> None:
        """Report the trouble of a waiting card."""
        self.replace_held(at, replace(self.state.held[at], trouble=what))
        self.irregular(what, asks=self.asks())

    def _surplus(self) -> tuple[str, str]:
        """The reason to remove a third card that no hand asked for, and the name of its law."""
        by = self.current.restored_by
        return ("restored", by) if by else ("false_card", "false_card")

    def _clear(self, why: str, law: str) -> None:
        """Remove the cards that no hand may have."""
        for at in self.current.lying:
            self.remove(at, why, law)
        while self.state.held:
            self.discard(self.pop_held(0).given, why, law=law)

    def _finish(self) -> None:
        """Once all cards are face up, check the bank's decision against its duty and publish the
        result.
        """
        book, coup = self.book, self.current
        if not self.shows() or not is_face_up(book, coup):
            return
        word = coup.words.get(book.bank)
        lost = "loses" in coup.fates.values()
        if not lost and bank_plays(book, coup) and word in ("draw", "stand"):
            duty = bank_duty(book, coup, table=self.settings.banker == "table")
            if self.drew_on_natural():
                self.once(f"natural_forgotten {book.bank}", self._bank_forgot)
            wrong = (duty, word) in (("T", "stand"), ("P", "draw"))
            if wrong and "bank_word" not in self.current.said:
                self.change_current(said=(*self.current.said, "bank_word"))
                self.ask("bank_word", book.laws[bank_bound_by(book, coup)], detail=word)
                return
        self.result()

    def drew_on_natural(self) -> bool:
        """Whether the bank drew to an eight or nine."""
        coup, bank = self.current, self.book.bank
        return coup.words.get(bank) == "draw" and opening(self.book, coup, bank) >= NATURAL
