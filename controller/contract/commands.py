"""What a person says to a table: the commands, one frozen struct each, with the person's name and
role.

In JSON a command is one object on one line, in the same notation as a reading:
``{"at": 12.5, "type": "round.void", "by": "M. Lasa", "role": "table_head", "reason": "ball_out"}``.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta

from controller.contract.bounds import (
    Card,
    Cards,
    Count,
    Counts,
    Money,
    Note,
    Number,
    Rounds,
    Word,
    Words,
)
from controller.contract.command_fields import Command as Command
from controller.contract.command_fields import Role as Role
from controller.contract.command_fields import VoidReason as VoidReason


class SessionOpen(Command, frozen=True, tag="session.open"):
    """The table opens. ``minimum``: the table minimum in minor units of ``currency``, if the daemon
    is to show limits.
    """

    minimum: Money | None = None
    currency: Word | None = None


class SessionClose(Command, frozen=True, tag="session.close"):
    """The table closes. ``locked``: the cylinder's lid is locked or sealed."""

    locked: bool = False


class BetsOpen(Command, frozen=True, tag="bets.open"):
    """Bets open: needed only where the wheel does not say so itself."""


class BetsClose(Command, frozen=True, tag="bets.close"):
    """No more bets: the croupier's call. ``banco``: one player plays alone for the whole bank
    (baccarat).
    """

    banco: bool = False


class RoundVoid(Command, frozen=True, tag="round.void"):
    """The spin is null. Without ``round`` the one in hand, or that waits for a decision. ``alone``:
    nobody in charge is there.
    """

    reason: VoidReason
    round: Rounds | None = None
    alone: bool = False


class RoundConfirm(Command, frozen=True, tag="round.confirm"):
    """A person stands for a result: of a round that waits for a decision, or of an unresolved one.

    ``number`` (a wheel), ``winner`` (cards: ``player``, ``banker``, ``tie``, ``refait`` ...) or
    ``dice`` may be left out where the round has a candidate.
    """

    round: Rounds | None = None
    number: Number | None = None
    winner: Word | None = None
    dice: Counts | None = None


class ResultCorrect(Command, frozen=True, tag="result.correct"):
    """A published result was wrong. The old event stays; a ``result.corrected`` replaces it.

    ``number`` (a wheel), ``winner`` (cards: ``player``, ``banker``, ``tie``) or ``dice``: the right
    result. ``hands`` (poker): the right cards of hands that were shown, by hand. ``decisions``
    (poker and texas against the house): what hands truly did that were told as giving up, or as
    going; the cards that lay open by it are in ``hands``.
    """

    round: Rounds
    number: Number | None = None
    winner: Word | None = None
    dice: Counts | None = None
    hands: Annotated[dict[Word, Cards], Meta(max_length=100)] | None = None
    decisions: Annotated[dict[Word, Literal["go", "pass"]], Meta(max_length=100)] | None = None


class ShoeStart(Command, frozen=True, tag="shoe.start"):
    """Cards are shuffled, cut and in the shoe. ``shoe`` is its number in the establishment,
    ``model`` its homologated model.

    ``cut``: cards behind the cut card, where it is not the decree's own number. What was seen to
    before, as far as it is said: ``cards`` were counted; ``backs``, decks of each back colour;
    ``index``, whether the cards have indices; ``new``, whether they were never used.
    """

    shoe: Word
    model: Word | None = None
    cut: Count | None = None
    cards: Count | None = None
    backs: Counts | None = None
    index: bool | None = None
    new: bool | None = None


class ShoeEnd(Command, frozen=True, tag="shoe.end"):
    """The talla is over: the cards leave the shoe. ``left``: how many were counted in it, if they
    were counted.
    """

    left: Count | None = None


class BoxesSet(Command, frozen=True, tag="boxes.set"):
    """The boxes in play, by number."""

    boxes: Counts


class HandStand(Command, frozen=True, tag="hand.stand"):
    """A hand takes no more cards. ``who`` as in the events: ``player``, ``banker``, ``cloth:1``,
    ``box:3``, ``box:3.2``.
    """

    who: Word | None = None


class HandDraw(Command, frozen=True, tag="hand.draw"):
    """A hand asks for a card."""

    who: Word | None = None


class HandDouble(Command, frozen=True, tag="hand.double"):
    """A hand doubles its bet for one more card."""

    who: Word | None = None


class HandSplit(Command, frozen=True, tag="hand.split"):
    """A hand of two equal cards becomes two hands."""

    who: Word | None = None


class HandSurrender(Command, frozen=True, tag="hand.surrender"):
    """A hand gives up for half its bet."""

    who: Word | None = None


class HandEvenMoney(Command, frozen=True, tag="hand.even_money"):
    """The player of a black jack takes his win at par, before the dealer, who shows an ace, has
    drawn.
    """

    who: str


class CardsTurn(Command, frozen=True, tag="cards.turn"):
    """The cards of a hand lie face up now, or its ``index``-th does. Without ``who`` all
    hands' do.
    """

    who: Word | None = None
    index: Count | None = None


class CardDecide(Command, frozen=True, tag="card.decide"):
    """A person decides about a card that stopped the table, or tells what only people see of one.

    ``read``: it is ``card``; ``accept``: it counts as it came; ``remove``: it leaves the game;
    ``next_round``: it is the first card of the next round; ``for``: it belongs to ``who``.
    ``basket``, ``floor``, ``exposed``: cards of ``who``, or the ``index``-th, fell into the basket,
    fell to the floor, were shown before their time; by whose ``fault``. Of a card that waits
    because a reader says so: it does lie face up.
    """

    action: Literal["read", "accept", "remove", "next_round", "for", "basket", "floor", "exposed"]
    card: Card | None = None
    who: Word | None = None
    index: Count | None = None
    fault: Literal["croupier", "banker", "player"] | None = None


class CardsDeal(Command, frozen=True, tag="cards.deal"):
    """Cards were dealt by hand: ``count`` to ``who``, or where the rules say the next go.
    ``cards``: those that lie face up.
    """

    who: Word | None = None
    count: Count = 1
    cards: Cards = ()


class CardsBurn(Command, frozen=True, tag="cards.burn"):
    """Cards were burned, unseen."""

    count: Count = 1


class CardsShow(Command, frozen=True, tag="cards.show"):
    """The cards of a hand lie face up, and these they are; with ``index`` the one of that index
    alone.

    ``low``: those of them that make the low hand, where a hand is set in two (pai gow).
    """

    who: Word
    cards: Cards
    index: Count | None = None
    low: Cards = ()


class HandAct(Command, frozen=True, tag="hand.act"):
    """What the holder of a hand does, where the game has more than standing and drawing.

    ``go``: he makes the second bet; ``pass``: he gives up; ``buy``: a card; ``discard``: ``count``
    cards, 0 for none; ``withdraw``: he takes back the bet that may be taken back; ``check``,
    ``bet``, ``call``, ``raise``, ``fold``, ``all_in``: in a betting interval; ``open``: the first
    bet, where it needs a certain hand; ``muck``: he does not show; ``set``: his hand is set;
    ``out`` and ``in``: he sits out, and is back.

    ``valid`` false: the last that was told of this hand was a mistake, and is taken back (poker
    against the house, trijoker, texas against the house, pai gow), as long as nothing has followed
    from it.
    """

    who: Word
    action: Literal[
        "go", "pass", "buy", "discard", "withdraw", "open", "check", "bet", "call", "raise", "fold", "all_in", "muck", "set",
        "out", "in",
    ]  # fmt: skip
    count: Count | None = None
    amount: Money | None = None
    valid: bool = True


class BettingClose(Command, frozen=True, tag="betting.close"):
    """The bets of this interval are equal: the next cards may come. ``winner``: all others gave up,
    nothing is shown.
    """

    winner: Word | None = None


class ButtonSet(Command, frozen=True, tag="button.set"):
    """Who has the button or the bank: a seat; without one it moves on as the decree says."""

    seat: Count | None = None


class BetPlace(Command, frozen=True, tag="bet.place"):
    """A bet of ``who`` (``box:3``, ``seat:2``) that the table has to know of: ``insurance``,
    ``bonus``, ``jackpot``, ``win`` ... One that comes after no more bets, below the minimum or
    above the highest stake is refused.
    """

    who: Word
    bet: Word
    amount: Money | None = None


class BetWithdraw(Command, frozen=True, tag="bet.withdraw"):
    """A bet is taken back, or refused and given back."""

    who: Word
    bet: Word


class DealError(Command, frozen=True, tag="deal.error"):
    """A person tells an error of dealing that no device sees. ``who``: whose cards; ``index``:
    which; ``seen``: by a player. ``deck_removed``: the croupier took the deck away too early,
    ``recoverable`` says whether its top was found. ``valid`` false: there was no such error; who is
    in charge takes it back, while it waits for a decision (circle poker).
    """

    error: Literal[
        "too_many", "too_few", "order", "exposed", "exposed_in_cut", "exposed_in_deck", "wrong_hand", "missing_card",
        "foreign_card", "defective", "premature", "skipped", "deck_removed", "touched", "false_opening", "wrong_discard", "absent",
    ]  # fmt: skip
    who: Word | None = None
    index: Count | None = None
    count: Count = 1
    seen: bool = False
    recoverable: bool = False
    fault: Literal["croupier", "player"] = "croupier"
    valid: bool = True


class DeckCheck(Command, frozen=True, tag="deck.check"):
    """A person counted a deck (``cards``) and looked whether it is whole (``right``)."""

    cards: Count
    right: bool = True


class DiceSet(Command, frozen=True, tag="dice.set"):
    """The dice of the session, by serial number. ``side``: of a die, in tenths of a millimetre."""

    serials: Words
    side: Count | None = None
    same_colour: bool | None = None


class DiceChoose(Command, frozen=True, tag="dice.choose"):
    """The two dice that are played with from now; the others go to the reserve."""

    serials: Words


class DieReport(Command, frozen=True, tag="die.report"):
    """A die left the table, or a die that had left it was found."""

    serial: Word | None = None
    found: bool = False


class DiceTell(Command, frozen=True, tag="dice.tell"):
    """What the dice show, where no device reads them or a person stands for it."""

    values: Counts


class ShooterSet(Command, frozen=True, tag="shooter.set"):
    """Who throws the dice: a seat. ``why``: what took them from the one before, where it was not
    the seven.
    """

    seat: Count
    why: Literal["refused", "withdrawn"] | None = None


class TableFollow(Command, frozen=True, tag="table.follow"):
    """The banker keeps to the table of plays in this round: he asked for it, or a player was given
    ``advice`` (baccarat).
    """

    advice: bool = False


class LimitAnnounce(Command, frozen=True, tag="limit.announce"):
    """The table minimum changes after the last three balls at the old one."""

    minimum: Money


class LastRoundsAnnounce(Command, frozen=True, tag="last_rounds.announce"):
    """The last three balls before closing are announced."""


class AlertAcknowledge(Command, frozen=True, tag="alert.acknowledge"):
    """A person has seen an alert. It stays until its cause is gone."""

    alert: Word


class DeviceCommand(Command, frozen=True, tag="device.command"):
    """A device is to do something: over MQTT ``command/device-command``. ``unsent``: the daemon
    adds why it was not sent.
    """

    device: Word
    command: Word
    argument: Note = ""
    unsent: Note | None = None


AnyCommand = (
    SessionOpen
    | SessionClose
    | BetsOpen
    | BetsClose
    | RoundVoid
    | RoundConfirm
    | ResultCorrect
    | ShoeStart
    | ShoeEnd
    | BoxesSet
    | HandStand
    | HandDraw
    | HandDouble
    | HandSplit
    | HandSurrender
    | HandEvenMoney
    | CardsTurn
    | CardDecide
    | CardsDeal
    | CardsBurn
    | CardsShow
    | HandAct
    | BettingClose
    | ButtonSet
    | BetPlace
    | BetWithdraw
    | DealError
    | DeckCheck
    | DiceSet
    | DiceChoose
    | DieReport
    | DiceTell
    | ShooterSet
    | TableFollow
    | LimitAnnounce
    | LastRoundsAnnounce
    | AlertAcknowledge
    | DeviceCommand
)

COMMANDS: tuple[type[Command], ...] = tuple(
    kind for kind in get_args(AnyCommand) if kind is not DeviceCommand
)
"""What is said under its own name. A command to a device has the name that its driver gives it."""
