"""The commands that a person gives or reports to a table, one frozen struct each.

In JSON a command is one object on one line, in the same notation as a reading: ``{"at": 12.5,
"type": "round.void", "by": "M. Lasa", "role": "table_head", "reason": "ball_out"}``.
"""

# Long: a reader of the contract finds every command in one file, and its vocabulary is written
# from it.

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta

from common.contract.bounds import (
    Card,
    Cards,
    Count,
    Counts,
    Money,
    Name,
    Note,
    Number,
    Rounds,
    Word,
    Words,
)
from common.contract.command_fields import Command as Command
from common.contract.command_fields import Duty as Duty
from common.contract.command_fields import Role as Role
from common.contract.command_fields import Signature as Signature
from common.contract.command_fields import Signer as Signer
from common.contract.command_fields import VoidReason as VoidReason
from common.contract.command_fields import Work as Work


class SessionOpen(Command, frozen=True, tag="session.open"):
    """Open the table."""

    minimum: Money | None = None
    """The table minimum, in minor units of ``currency``. Without it the daemon shows no limits."""
    currency: Word | None = None
    """ISO 4217: ``EUR``."""


class SessionClose(Command, frozen=True, tag="session.close"):
    """Close the table."""

    locked: bool = False
    """The cylinder's lid is locked or sealed."""


class BetsOpen(Command, frozen=True, tag="bets.open"):
    """Open the bets. Needed only where the wheel does not report it itself."""


class BetsClose(Command, frozen=True, tag="bets.close"):
    """No more bets: the croupier's call."""

    banco: bool = False
    """One player alone plays for the whole bank (baccarat)."""


class RoundVoid(Command, frozen=True, tag="round.void"):
    """Declare a round void."""

    reason: VoidReason
    """Why the round is void."""
    round: Rounds | None = None
    """The round's number. Without it: the round in progress, or the only one that waits for a
    decision.
    """
    alone: bool = False
    """No person in charge is at the table."""


class RoundConfirm(Command, frozen=True, tag="round.confirm"):
    """Vouch for a result: of a round that waits for a decision, or of an unresolved one."""

    round: Rounds | None = None
    """The round's number. Without it: the round in progress, or the only one that waits for a
    decision.
    """
    number: Number | None = None
    """Wheels: the number. May be left out where the round has a candidate."""
    winner: Word | None = None
    """Cards: the winner, as in ``round.result``: ``player``, ``banker``, ``tie``, ``refait``. May
    be left out where the round has a candidate.
    """
    dice: Counts | None = None
    """Craps: the numbers on the dice. May be left out where the round has a candidate."""


class ResultCorrect(Command, frozen=True, tag="result.correct"):
    """Correct a published result. The old event stays; ``result.corrected`` replaces it."""

    round: Rounds
    """The number of the round whose result was wrong."""
    number: Number | None = None
    """Wheels: the right number."""
    winner: Word | None = None
    """Cards: the right winner, as in ``round.result``."""
    dice: Counts | None = None
    """Craps: the numbers on the dice."""
    hands: Annotated[dict[Word, Cards], Meta(max_length=100)] | None = None
    """Poker: the right cards of hands that were shown, by hand."""
    decisions: Annotated[dict[Word, Literal["go", "pass"]], Meta(max_length=100)] | None = None
    """Poker and Texas hold'em against the house: what hands truly did that were reported otherwise,
    by hand. ``hands`` has the cards that were shown because of it.
    """


class ShoeStart(Command, frozen=True, tag="shoe.start"):
    """The cards are shuffled, cut and in the shoe. The checks made beforehand are reported as far
    as they were made.
    """

    shoe: Word
    """The shoe's number in the establishment."""
    model: Word | None = None
    """The shoe's homologated model."""
    cut: Count | None = None
    """Cards behind the cut card, where it is not the decree's own number."""
    cards: Count | None = None
    """Cards that were counted."""
    backs: Counts | None = None
    """How many decks have each back colour: ``[3, 3]``."""
    index: bool | None = None
    """Whether the cards have indices."""
    new: bool | None = None
    """Whether the cards were never used."""


class ShoeEnd(Command, frozen=True, tag="shoe.end"):
    """The shoe is over: the cards leave it."""

    left: Count | None = None
    """Cards counted in the shoe; absent if they were not counted."""


class BoxesSet(Command, frozen=True, tag="boxes.set"):
    """Name the boxes or seats in play."""

    boxes: Counts
    """Their numbers."""


class HandStand(Command, frozen=True, tag="hand.stand"):
    """A hand takes no more cards."""

    who: Word | None = None
    """The hand: ``player``, ``cloth:1``, ``box:3``, ``box:3.2``. Without it: the hand whose turn it
    is.
    """


class HandDraw(Command, frozen=True, tag="hand.draw"):
    """A hand asks for a card."""

    who: Word | None = None
    """The hand. Without it: the hand whose turn it is."""


class HandDouble(Command, frozen=True, tag="hand.double"):
    """A hand doubles its bet for one more card."""

    who: Word | None = None
    """The hand. Without it: the hand whose turn it is."""


class HandSplit(Command, frozen=True, tag="hand.split"):
    """A hand of two equal cards becomes two hands."""

    who: Word | None = None
    """The hand. Without it: the hand whose turn it is."""


class HandSurrender(Command, frozen=True, tag="hand.surrender"):
    """A hand gives up for half its bet."""

    who: Word | None = None
    """The hand. Without it: the hand whose turn it is."""


class HandEvenMoney(Command, frozen=True, tag="hand.even_money"):
    """The holder of a black jack takes even money before the dealer, who shows an ace, has
    drawn.
    """

    who: str
    """The hand."""


class CardsTurn(Command, frozen=True, tag="cards.turn"):
    """Cards were turned face up."""

    who: Word | None = None
    """The hand. Without it: all hands."""
    index: Count | None = None
    """Which card of the hand, from 1. Without it: all of them."""
    round: Rounds | None = None
    """The number of the round. With it, a copy of the command that arrives after the round turns
    nothing.
    """
    count: Count | None = None
    """How many cards the hand had when they were turned; without ``who``, all hands and boards.
    With it, a copy of the command that arrives after another card turns nothing.
    """


class CardDecide(Command, frozen=True, tag="card.decide"):
    """Decide about a card that stopped the table, or report what only people saw of a card."""

    action: Literal["read", "accept", "remove", "next_round", "for", "basket", "floor", "exposed"]
    """The decision about the card, or what happened to it."""
    card: Card | None = None
    """The card, rank then suit: ``7h``. Needed by ``read``."""
    who: Word | None = None
    """The hand that the card belongs to."""
    index: Count | None = None
    """Which card of the hand, from 1. Without it: all of them."""
    fault: Literal["croupier", "banker", "player"] | None = None
    """Whose fault it was, of ``basket``, ``floor`` and ``exposed``."""


class CardsDeal(Command, frozen=True, tag="cards.deal"):
    """Cards were dealt by hand."""

    who: Word | None = None
    """The hand. Without it: the hand that the rules say is next."""
    count: Count = 1
    """How many cards."""
    cards: Cards = ()
    """The cards that are face up, in their order."""


class CardsBurn(Command, frozen=True, tag="cards.burn"):
    """Cards were burned, unseen."""

    count: Count = 1
    """How many cards."""


class CardsShow(Command, frozen=True, tag="cards.show"):
    """The cards of a hand are face up; these are they."""

    who: Word
    """The hand: ``box:3``, ``seat:2``, ``dealer``."""
    cards: Cards
    """The cards."""
    index: Count | None = None
    """Which card of the hand this one is, from 1. Without it: these are all its cards."""
    low: Cards = ()
    """Pai gow: the cards among them that make the low hand."""


HandAction = Literal[
    "go",
    "pass",
    "buy",
    "discard",
    "withdraw",
    "open",
    "check",
    "bet",
    "call",
    "raise",
    "fold",
    "all_in",
    "muck",
    "set",
    "out",
    "in",
]
"""The actions of a hand, in games with more than standing and drawing."""


class HandAct(Command, frozen=True, tag="hand.act"):
    """A hand acts, in a game with more than standing and drawing."""

    who: Word
    """The hand: ``box:3``, ``seat:2``."""
    action: HandAction
    """The action."""
    count: Count | None = None
    """How many cards it discards; 0 for none."""
    amount: Money | None = None
    """The amount in minor units; absent if not reported."""
    valid: bool = True
    """``false`` takes back the last action reported of this hand, as long as nothing has followed
    from it (poker against the house, trijoker, Texas hold'em against the house, pai gow).
    """


class BettingClose(Command, frozen=True, tag="betting.close"):
    """The bets of this betting interval are equal; the next cards may come."""

    winner: Word | None = None
    """The only hand left, where all others folded: nothing is shown."""


class ButtonSet(Command, frozen=True, tag="button.set"):
    """Move the button or the bank."""

    seat: Count | None = None
    """The seat that has it now. Without it: it moves on as the decree says."""


class BetPlace(Command, frozen=True, tag="bet.place"):
    """Report a bet that the table must know. One placed after no more bets, below the minimum or
    above the maximum is refused.
    """

    who: Word
    """Whose bet: ``box:3``, ``seat:2``. ``box:3/2`` is the second bettor on box 3."""
    bet: Word
    """The bet. Roulette: its kind, and where it is behind a colon (``straight:17``), or the chance
    (``red``). Boule and wheel of fortune: the number, chance or symbol. Craps: ``win``,
    ``dont_win`` and so on. Baccarat: the hand, or ``tie``. Trente et quarante: ``red``, ``black``,
    ``colour``, ``inverse``, ``insurance``. Black jack: ``bet``, ``insurance``, ``pairs``,
    ``accumulated``. Poker: ``bonus``, ``jackpot``.
    """
    amount: Money | None = None
    """The amount in minor units; absent if not reported."""


class BetWithdraw(Command, frozen=True, tag="bet.withdraw"):
    """A bet is withdrawn, or refused and given back."""

    who: Word
    """Whose bet, as it was placed."""
    bet: Word
    """The bet, as it was placed."""


class DealError(Command, frozen=True, tag="deal.error"):
    """Report a dealing error that no device sees."""

    error: Literal[
        "too_many",
        "too_few",
        "order",
        "exposed",
        "exposed_in_cut",
        "exposed_in_deck",
        "wrong_hand",
        "missing_card",
        "foreign_card",
        "defective",
        "premature",
        "skipped",
        "deck_removed",
        "touched",
        "false_opening",
        "wrong_discard",
        "absent",
    ]
    """What went wrong."""
    who: Word | None = None
    """The hand whose cards it concerns."""
    index: Count | None = None
    """Which card of the hand, from 1."""
    count: Count = 1
    """How many cards it concerns."""
    seen: bool = False
    """A player has seen the card."""
    recoverable: bool = False
    """Of ``deck_removed``: the top of the deck was found."""
    fault: Literal["croupier", "player"] = "croupier"
    """Whose fault it was."""
    valid: bool = True
    """``false`` withdraws the report: there was no such error. The person in charge may do so while
    the error waits for a decision (circle poker).
    """


class DeckCheck(Command, frozen=True, tag="deck.check"):
    """A person checked a deck."""

    cards: Count
    """How many cards were counted."""
    right: bool = True
    """The set is complete."""


class DiceSet(Command, frozen=True, tag="dice.set"):
    """Register the dice of the session."""

    serials: Words
    """The serial numbers of all of them."""
    side: Count | None = None
    """The length of an edge, in tenths of a millimetre."""
    same_colour: bool | None = None
    """Whether they are all of one colour."""


class DiceChoose(Command, frozen=True, tag="dice.choose"):
    """Choose the dice to play with from now; the others go to the reserve."""

    serials: Words
    """The serial numbers of the two that are played with."""


class DieReport(Command, frozen=True, tag="die.report"):
    """A die left the table, or one that had left it was found."""

    serial: Word | None = None
    """The serial number, where it is known."""
    found: bool = False
    """The die was found again."""


class DiceTell(Command, frozen=True, tag="dice.tell"):
    """Report the numbers on the dice, if no device reads them or a person vouches for them."""

    values: Counts
    """One number for each die."""


class WitnessReport(Command, frozen=True, tag="witness.report"):
    """Report the result that the person has seen of a round, as a second witness: evidence, never
    the result. For tables with a keypad as a witness.
    """

    round: Rounds
    """The round's number: ``witness_round`` of the topic ``state``."""
    number: Number | None = None
    """Wheels: the number."""
    dice: Counts | None = None
    """Craps: the numbers on the dice."""


class ShooterSet(Command, frozen=True, tag="shooter.set"):
    """Name the shooter."""

    seat: Count
    """The seat that throws."""
    why: Literal["refused", "withdrawn"] | None = None
    """Why the dice left the seat before, where it was not the seven. Without it: they pass in the
    order of the table.
    """


class TableFollow(Command, frozen=True, tag="table.follow"):
    """The banker follows the table of plays in this round (baccarat)."""

    advice: bool = False
    """It holds because a player was given advice; ``false``: because the banker asked for it."""


class LimitAnnounce(Command, frozen=True, tag="limit.announce"):
    """Announce a new table minimum, which takes effect after the last three balls at the
    old one.
    """

    minimum: Money
    """The new minimum, in minor units."""


class LastRoundsAnnounce(Command, frozen=True, tag="last_rounds.announce"):
    """Announce the last rounds before closing."""


class AlertAcknowledge(Command, frozen=True, tag="alert.acknowledge"):
    """A person has seen an alert. It stays open until its cause is gone."""

    alert: Word
    """The alert's id, which is also the last level of its topic."""


class StaffOn(Command, frozen=True, tag="staff.on"):
    """A person comes on at the table. The person in charge reports it; in a signed command a
    croupier may report it for himself.
    """

    person: Name
    """The person."""
    duty: Duty
    """The duty."""


class StaffOff(Command, frozen=True, tag="staff.off"):
    """A person leaves the table, or was never there. The same people may report it as
    ``staff.on``.
    """

    person: Name
    """The person."""
    duty: Duty
    """The duty that the person had at the table."""


class DeviceService(Command, frozen=True, tag="device.service"):
    """A device was serviced: one line of its maintenance log. It may be reported at any time,
    whether or not a session is open.
    """

    device: Word
    """The device's id in the configuration."""
    work: Work
    """What was done."""
    serial: Word | None = None
    """The serial number of what is there now: of the device that was ``replaced``, or of the part,
    ball or cards.
    """


class DeviceCommand(Command, frozen=True, tag="device.command"):
    """Command a device; over MQTT this is ``command/device-command``."""

    device: Word
    """The device's id in the configuration."""
    command: Word
    """The device's command, by the name that its driver gives it."""
    argument: Note = ""
    """The command's argument, if it takes one."""
    unsent: Note | None = None
    """Why it was not sent after all. Added by the daemon; absent in a command that a person sends.
    """


class CommandRefused(Command, frozen=True, tag="command.refused"):
    """A command that a known person signed and that was refused. No client sends it: the daemon
    stores it, so that the journal shows who tried what.
    """

    command: Word
    """The command's name."""
    refusal: Word
    """Why: the key of the refusal, as in the reply; ``unreadable``: its fields were wrong."""


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
    | WitnessReport
    | ShooterSet
    | TableFollow
    | LimitAnnounce
    | LastRoundsAnnounce
    | AlertAcknowledge
    | StaffOn
    | StaffOff
    | DeviceService
    | DeviceCommand
    | CommandRefused
)

COMMANDS: tuple[type[Command], ...] = tuple(
    kind for kind in get_args(AnyCommand) if kind not in (DeviceCommand, CommandRefused)
)
"""The commands that are sent under their own name. A command to a device has the name that its
driver gives it, and ``command.refused`` is never sent.
"""


def tag_of(kind: type[Command]) -> str:
    """Return the name of a command: ``round.void``."""
    return str(kind.__struct_config__.tag)
