"""One step of a table of punto y banca: the moves that readings and commands consist of. Each move
changes the state and emits its event together, so that the two cannot diverge. No card is revealed
before it is face up.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from controller.contract.commands import Command, VoidReason
from controller.contract.events import (
    CardDealt,
    CardExpected,
    CardTurned,
    Frame,
    HandDecided,
    RoundResult,
    RoundUnresolved,
)
from controller.games import shoe
from controller.games.baccarat import SIDES, Side, Winner, is_natural, next_card, points
from controller.games.moves import frame_of
from controller.games.punto_banca.coup import (
    all_known,
    announced,
    count,
    hands_of,
    is_complete,
    marks_of,
    next_place,
    winner_of,
)
from controller.games.punto_banca.coups import CoupTurn
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import (
    QUEUE,
    PuntoBancaCard,
    PuntoBancaCoup,
    PuntoBancaEntry,
    PuntoBancaState,
)
from controller.games.stakes import Bounds, bounds
from controller.rulebooks.law import Law
from controller.rulebooks.punto_banca import PuntoBanca
from devices.readings import CardDrawn, ShoeResult

DECIDE = ("card.decide",)
OUTCOMES = ("round.confirm", "round.void")

Why = Literal["silence", "witnesses_disagree", "undecided"]


class PuntoBancaTurn(CoupTurn[PuntoBanca, PuntoBancaSettings, PuntoBancaState]):
    """One step of a table of punto y banca."""

    coup = PuntoBancaCoup
    outcome = PuntoBancaEntry
    queue = QUEUE

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

    # The course of a round

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """No more bets; the cards may come. A silence of the device that has not ended may hide one
        of them from now on.
        """
        coup = self.state.current
        assert coup is not None
        self.shut(
            by, unobserved=unobserved, gap=self.state.silent or (coup.gap and count(coup) > 0)
        )

    def dealt_face_up(self, coup: PuntoBancaCoup) -> bool:
        """Whether the next card of the round is dealt face up."""
        third = count(coup) >= 4
        how = self.settings.third_card if third else self.settings.dealt
        return how == "face_up" or (third and self.settings.turn == "when_complete")

    def place(self, given: CardDrawn, to: Side, *, seen: bool = False) -> None:
        """Deal the card to a hand. ``seen``: it is face up out of turn, on a person's word, never a
        device's.
        """
        coup = self.state.current
        assert coup is not None
        when_complete = self.settings.turn == "when_complete"
        card = PuntoBancaCard(
            card=given.card, up=self.dealt_face_up(coup) or seen, frame=frame_of(given)
        )
        self.change(current=coup.with_cards(to, (*coup.cards(to), card)))
        index = len(coup.cards(to)) + 1
        self.say(
            CardDealt(round=coup.round, to=to, index=index, card=card.card if card.up else None)
        )
        if card.card is None:
            self.irregular("card_unread", asks=self.state.asks, detail=f"{to} {index}")
        coup = self.state.current
        if coup is not None and when_complete and count(coup) == 4:
            self.turn_cards(SIDES)
        self.settle()

    def turn_cards(self, sides: tuple[Side, ...]) -> None:
        """Turn the cards of these hands face up."""
        for side in sides:
            coup = self.state.current
            assert coup is not None
            for index, card in enumerate(coup.cards(side), 1):
                if not card.up and card.card is not None:
                    self.say(CardTurned(round=coup.round, to=side, index=index, card=card.card))
            shown = tuple(replace(card, up=True) for card in coup.cards(side))
            self.change(current=coup.with_cards(side, shown))

    def settle(self) -> None:
        """Announce what the rules make of the cards face up: a hand's decision, the result, where
        the next card belongs.
        """
        coup = self.state.current
        if coup is not None and count(coup) >= 4 and all_known(coup):
            if coup.gap and coup.before_gap == count(coup) and is_complete(coup, self.book.third):
                self.change_current(gap=False)
            self._decide(coup)
            self._conclude()
        self.expect()

    def expect(self) -> None:
        """Announce where the next card belongs, if that changed."""
        state, to = self.state, None
        if state.open and state.burn is not None and not state.asks:
            to = "burn"
        elif (
            state.current is not None and state.current.closed and not (state.queue or state.reset)
        ):
            to = next_place(state.current, self.book.third)
        if to != state.expected:
            self.change(expected=to)
            self.say(CardExpected(round=state.current.round if state.current else 0, to=to))

    def _decide(self, coup: PuntoBancaCoup) -> None:
        """Announce what the rules leave no choice about, once for each hand."""
        cards = {side: announced(coup, side) for side in SIDES}
        if any(is_natural(own) for own in cards.values()):
            for side in SIDES:
                if is_natural(cards[side]):
                    self._decided(coup, side, "natural")
            return
        to = next_card(self.book.third, cards["player"], cards["banker"])
        if len(cards["player"]) == 2:
            self._decided(coup, "player", "draw" if to == "player" else "stand")
        if to != "player" and len(cards["banker"]) == 2:
            self._decided(coup, "banker", "draw" if to == "banker" else "stand")

    def _decided(
        self, coup: PuntoBancaCoup, side: Side, decision: Literal["draw", "stand", "natural"]
    ) -> None:
        now = self.state.current
        if now is None or side in now.told:
            return
        self.change_current(told=(*now.told, side))
        call = {"draw": f"{side}_draws", "stand": f"{side}_stands"}.get(decision, "")
        words = self.book.announcements.get(call)
        total = points(announced(coup, side))
        filled = (
            {language: _filled(text, total) for language, text in words.items()} if words else None
        )
        self.say(HandDecided(round=coup.round, who=side, decision=decision, announcement=filled))

    # Its outcome: a result, void, or unresolved

    def _conclude(self) -> None:
        """All cards are face up: publish the result, unless a card is still to come, a person must
        decide, or the witnesses differ.
        """
        coup = self.state.current
        assert coup is not None
        complete = is_complete(coup, self.book.third)
        if coup.verdict is not None and (not complete or self.disagrees(coup.verdict, coup)):
            detail = f"the shoe says {coup.verdict.winner or 'nothing'}"
            self.irregular(
                "witnesses_disagree",
                asks=OUTCOMES,
                detail=detail if complete else f"{detail}, a card is missing",
            )
            self.unresolved(coup, "witnesses_disagree")
        elif complete and coup.gap:
            self.unresolved(coup, "silence")
        elif (
            complete
            and not self.state.queue
            and (coup.verdict is not None or self.settings.witness == "compared")
        ):
            self.result(
                coup.round,
                announced(coup, "player"),
                announced(coup, "banker"),
                frames_of(coup),
                coup.confirmed_by,
            )

    def disagrees(self, verdict: ShoeResult, coup: PuntoBancaCoup | PuntoBancaEntry) -> bool:
        """Whether the shoe's verdict differs from ours, as far as it goes."""
        if isinstance(coup, PuntoBancaCoup):
            player, banker = announced(coup, "player"), announced(coup, "banker")
            ours: str = winner_of(player, banker)
            marks = marks_of(player, banker, self.settings)
        else:
            ours, marks = coup.winner or "", coup.marks
        pairs = {mark.removeprefix("pair_") for mark in marks if mark.startswith("pair_")}
        return verdict.winner not in (None, ours) or (
            bool(verdict.pairs) and {*verdict.pairs} != pairs
        )

    def result(
        self,
        number: int,
        player: tuple[str, ...],
        banker: tuple[str, ...],
        frames: tuple[Frame, ...],
        confirmed_by: str | None = None,
        winner: Winner | None = None,
    ) -> None:
        """Publish the result: by its cards, or on a person's word where not all are known."""
        whole = winner is None or (bool(player) and winner_of(player, banker) == winner)
        winner = winner or winner_of(player, banker)
        hands = hands_of(player, banker) if whole else ()
        marks = (
            marks_of(player, banker, self.settings)
            if whole
            else (("tie",) if winner == "tie" else ())
        )
        was = self.state.current
        compared = was is not None and was.round == number and was.verdict is not None
        entry = PuntoBancaEntry(
            round=number,
            kind="result",
            winner=winner,
            hands=hands,
            marks=marks,
            frames=frames,
            compared=compared,
        )
        self.record(entry)
        self.say(
            RoundResult(
                round=number,
                outcome=entry.outcome,
                frames=frames,
                confirmed_by=confirmed_by,
            )
        )
        self.count_down(number)
        self.close_talla()

    def void(
        self, of: PuntoBancaCoup | PuntoBancaEntry, reason: VoidReason, law: Law, by: Command
    ) -> None:
        """Void the round on a person's word."""
        self.record(
            PuntoBancaEntry(round=of.round, kind="void", reason=reason, article=law.article)
        )
        self.say_void(of.round, reason, law, by, self.book.announcements.get("void"))
        self.close_talla()

    def unresolved(
        self, coup: PuntoBancaCoup, why: Why, late: tuple[PuntoBancaCard, ...] = ()
    ) -> None:
        """The result is not certain; nobody invents it. Cards that may still come belong to no
        round.
        """
        whole = count(coup) >= 4 and is_complete(coup, self.book.third)
        cards = tuple(card for _, card in coup.dealt) + late
        frames = frames_of(coup)
        self.record(
            PuntoBancaEntry(round=coup.round, kind="unresolved", cards=cards, frames=frames)
        )
        self.change(out_of_sync=not whole and coup.verdict is None)
        candidate = (
            winner_of(announced(coup, "player"), announced(coup, "banker")) if whole else None
        )
        self.say(RoundUnresolved(round=coup.round, why=why, candidate=candidate, frames=frames))
        self.close_talla()

    def record(self, entry: PuntoBancaEntry) -> None:
        """Keep an outcome; if it is that of the round in progress, the round is over."""
        coup = self.state.current
        self.state = self.state.with_entry(entry)
        if coup is not None and coup.round == entry.round:
            dropped, queue_overflowed = bool(self.state.queue), self.state.queue_overflowed
            lost = dropped and queue_overflowed and self.settings.rounds == "shoe"
            self.change(
                current=None,
                queue=(),
                queue_overflowed=queue_overflowed and not dropped,
                out_of_sync=self.state.out_of_sync or lost,
            )

    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
        now = self.state.shoe
        if now is None:
            return
        if shoe.miscounted(now, left):
            self.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
        if not now.over:
            self.say(shoe.ended(now, "reset" if self.state.reset else "person", left))
        self.change(
            shoe=None,
            burn=None,
            queue=(),
            carried=(),
            queue_overflowed=False,
            reset=False,
            out_of_sync=False,
            unseen=False,
        )
        self.expect()

    def close_talla(self) -> None:
        """After the cut card, with no round in progress, the shoe is over."""
        now = self.state.shoe
        if (
            self.state.current is None
            and now is not None
            and now.cut_at is not None
            and not now.over
        ):
            self.change(shoe=replace(now, over=True))
            self.say(shoe.ended(now, "cut"))


def _filled(call: str, total: int) -> str:
    """The call with the points in place of the decree's dots."""
    before, dots, after = call.partition("...")
    return f"{before}{' ' if before[-1:].isalpha() else ''}{total}{after}" if dots else call


def frames_of(coup: PuntoBancaCoup) -> tuple[Frame, ...]:
    """The evidence of the cards face up, and of the shoe's verdict once all are; oldest first."""
    up = [card.frame for _, card in coup.dealt if card.known and card.frame is not None]
    verdict = frame_of(coup.verdict) if coup.verdict is not None and all_known(coup) else None
    return (*up, verdict) if verdict else tuple(up)
