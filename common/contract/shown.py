"""The state of each game in the retained topic ``state``, below ``shown``. Its ``view`` names its
shape. A face-up card has its value; a face-down card is ``null``.

Every field of a view is always there; what does not apply is null or empty.
"""

# Long: a reader of the contract finds the view of every game in one file, and its vocabulary is
# written from it.

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from common.contract.outcomes import Colour
from common.readings import Number, OutOfPlay, Whole

Cards = tuple[str | None, ...]
"""The cards of a hand, in their order; null for a face-down card."""
Table = dict[str, Any]
"""A table of the decree."""

MAX_SEATS = 10
"""Seats of a circle whose decree states no maximum."""


def numbered(kind: str, numbers: Iterable[int]) -> tuple[str, ...]:
    """Return the names of numbered places: ``seat:3``, ``box:1``."""
    return tuple(f"{kind}:{number}" for number in numbers)


class Stake(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bet that was reported to the table."""

    who: str
    """The hand or person whose bet it is."""
    bet: str
    """The bet."""
    amount: Whole | None = None
    """The amount in minor units; absent if not reported."""


class LinkedJackpot(msgspec.Struct, frozen=True, omit_defaults=True):
    """The jackpot that the table is linked with, as the table knows it."""

    jackpot: str
    """Its id."""
    in_play: bool
    """Bets on it may be accepted now."""
    why: OutOfPlay | None = None
    """Why not; absent if they may."""


class ShoeCounts(msgspec.Struct, frozen=True):
    """The shoe in use: counts, never cards."""

    number: str
    """Its number in the establishment."""
    model: str | None
    """Its model, or null."""
    decks: Whole
    """Decks in it."""
    continuous: bool
    """It shuffles all the time, and has no end."""
    drawn: Whole
    """Cards that were drawn."""
    unread: Whole
    """Those among them that were not read."""
    left: Whole | None
    """Cards before its end; null where the count is lost."""
    cut: bool
    """The cut card has come."""
    over: bool
    """No further round begins with it."""
    first_round: Whole | None
    """The first round that may be dealt from it; null if it was started under a release that did
    not store it.
    """


class Shown(msgspec.Struct, frozen=True, kw_only=True, tag_field="view", gc=False):
    """The state that every game has."""

    phase: str
    """The phase of the table."""
    session: Whole
    """The number of the session."""
    round: Whole
    """The number of the round in the session."""
    asks: tuple[str, ...]
    """The table waits for one of these commands."""
    minimum: Whole | None
    """The table minimum in minor units of ``currency``, or null."""
    currency: str | None
    """ISO 4217, or null."""
    settings: dict[str, Any]
    """The table's settings, all of them."""

    # Fields that only some views have: those declare them; elsewhere they have these defaults.
    if TYPE_CHECKING:
        next_minimum: Whole | None = None
        rounds_at_this_minimum: Whole | None = None
        unresolved: tuple[Whole, ...] = ()
        last_rounds: Whole | None = None
        last_of_session: bool = False
        jackpot_standing: LinkedJackpot | None = None
        hands: Mapping[str, Any] = {}
        rows: Mapping[str, Any] = {}
        boards: Mapping[str, Any] = {}
    else:
        next_minimum, rounds_at_this_minimum = None, None
        unresolved, last_rounds, last_of_session, jackpot_standing = (), None, False, None
        hands, rows, boards = {}, {}, {}

    # No fields: they follow from those of the view.
    owners: ClassVar[tuple[str, ...]] = ()
    """Who may have cards besides the hands, boxes and seats, as commands name them."""

    @property
    def places(self) -> tuple[str, ...]:
        """All boxes or seats of the table, as commands name them; empty if the view does not state
        how many there are.
        """
        return ()

    @property
    def taken(self) -> tuple[str, ...]:
        """The boxes in play or the seats that are taken, as commands name them."""
        return ()


class WheelShown(Shown, frozen=True, kw_only=True):
    """The state of every table with a wheel; ``phase`` is the table's, not the wheel's: ``closed``,
    ``waiting``, ``relaunch`` after a void spin, ``bets_open``, ``bets_closed``, ``decision``.
    """

    spin: Whole | None
    """The count of the spin in progress, or of the last one, by the device or by its driver."""
    relaunch: bool
    """The ball is launched again after a void spin, or the wheel set going again."""
    last_of_session: bool
    """The round in progress is the last before closing."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    bets: tuple[Stake, ...]
    """The reported bets of the round in progress."""
    last_number: Number | None
    """The last valid number of the session, or null."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    rounds_at_this_minimum: Whole | None
    """Valid rounds left before a new minimum holds, where that was announced; else null."""
    next_minimum: Whole | None = None
    """An announced new minimum in minor units of ``currency``, or null."""


class RouletteShown(WheelShown, frozen=True, kw_only=True, tag="roulette"):
    """The state of a roulette table."""

    last_colour: Colour | None
    """The colour of the last number, or null."""
    zeros: Whole
    """Consecutive zeros up to now."""
    zero_choices: tuple[str, ...]
    """What happens to simple chances on zero: ``half``, ``prison``."""


class BouleShown(WheelShown, frozen=True, kw_only=True, tag="boule"):
    """The state of a boule table."""

    last_colour: Colour | None
    """The colour of the last number, or null; the number in the middle has no colour."""
    thrower: str | None
    """Who throws, where the decree has the croupiers take turns; else null."""
    throws: Whole
    """Rounds that this croupier has thrown."""
    counts: dict[str, Whole]
    """How often each number came in the session."""


class FortuneShown(WheelShown, frozen=True, kw_only=True, tag="fortune-wheel"):
    """The state of a wheel of fortune."""

    last_cell: Whole | None
    """The cell of the last symbol; null if not reported."""
    cells: tuple[Number, ...]
    """The symbols of the wheel, cell by cell."""
    counts: dict[str, Whole]
    """How often each symbol came in the session."""


class CrapsDice(msgspec.Struct, frozen=True):
    """The dice of a session, by serial number."""

    playing: tuple[str, ...]
    """Those that are thrown."""
    reserve: tuple[str, ...]
    """Those that may take their place."""
    lost: tuple[str, ...]
    """Those that were lost."""
    unfit: tuple[str, ...]
    """Those that were found unfit."""


class CrapsShown(Shown, frozen=True, kw_only=True, tag="craps"):
    """The state of a craps table; ``phase``: ``closed``, ``decision``, ``waiting``, ``relaunch``
    after a void throw, ``bets_open``, ``bets_closed``.
    """

    series: Literal["come_out", "point"]
    """Whether a point is on."""
    point: Whole | None
    """The point that is on, or null."""
    shooter: Whole | None
    """The seat that throws, or null."""
    seats: tuple[Whole, ...]
    """Seats that play, in the order of the dice."""
    last_shooter: Whole | None
    """Shooters left before closing, where the last one was announced; else null."""
    relaunch: bool
    """The previous throw was void."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    last_dice: tuple[Whole, ...] | None
    """The dice of the last valid throw, or null."""
    last_total: Whole | None
    """Their sum, or null."""
    throws: dict[str, Whole]
    """How often each sum came in the latest throws of the session."""
    dice: CrapsDice
    """The dice of the session."""
    bets: tuple[Stake, ...]
    """The reported bets that are on the table."""

    @property
    def taken(self) -> tuple[str, ...]:  # noqa: D102
        return numbered("seat", self.seats)


class PuntoBancaShown(Shown, frozen=True, kw_only=True, tag="punto-banca"):
    """The state of a punto y banca table; ``phase``: ``closed``, ``no_shoe``, ``burning``,
    ``waiting``, ``bets_open``, ``dealing``, ``decision``, ``shoe_over``.
    """

    expected: str | None
    """Where the next card belongs: ``burn``, ``player``, ``banker``; null if no card may come now.
    """
    hands: dict[str, Cards]
    """The cards on the table, by hand."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    bets: tuple[Stake, ...]
    """The reported bets of the round in progress."""
    last_winner: str | None
    """``player``, ``banker`` or ``tie`` of the last result, or null."""
    last_round: bool
    """The cut card has come: this round is the last of the talla."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    shoe: ShoeCounts | None
    """The shoe, or null between two."""
    commission: tuple[Whole, Whole]
    """The commission on winning bets on the bank, as a fraction."""
    seats: Whole | None
    """Maximum number of seated players at this table, if the decree sets one."""


class LastBaccarat(msgspec.Struct, frozen=True):
    """The last result of chemin de fer or two cloths."""

    winner: str | None
    """The hand that won, or ``tie``; null at two cloths."""
    hands: dict[str, tuple[Whole | None, str | None]]
    """The points and the outcome of each hand."""


class CheminShown(Shown, frozen=True, kw_only=True, tag="chemin-de-fer"):
    """The state of a chemin de fer or two-cloth baccarat table; ``phase``: ``closed``, ``no_shoe``,
    ``shoe_over``, ``waiting``, ``bets_open``, ``dealing``, ``words``, ``showing``, ``decision``.
    """

    to_act: str | None
    """The hand whose decision is awaited, or null."""
    expected: str | None
    """Where the next card belongs; null if no card may come now."""
    hands: dict[str, Cards]
    """The cards on the table, by hand."""
    words: dict[str, str]
    """The decision of each hand: ``draw``, ``stand``, ``natural``."""
    table_followed: bool
    """The bank keeps to the table of plays."""
    bets: tuple[Stake, ...]
    """The reported bets of the round in progress."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    last_result: LastBaccarat | None
    """The last result, or null."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    shoe: ShoeCounts | None
    """The shoe, or null between two."""
    players: Whole
    """How many players there must be: at the table, or at each cloth."""
    deduction: tuple[Whole, Whole]
    """The deduction from the bank's winnings, as a fraction."""
    bank_maximum: Whole | None
    """The maximum of the bank, or null."""
    garage: Whole | None
    """Above this the banker may keep winnings out of the game, or null."""
    garage_half_from: Whole | None = None
    """From this pass on the banker may keep half of the bank out of the game, or null."""


class TrenteShown(Shown, frozen=True, kw_only=True, tag="trente-et-quarante"):
    """The state of a trente et quarante table; ``phase``: ``closed``, ``no_shoe``, ``waiting``,
    ``bets_open``, ``dealing``, ``decision``, ``shoe_over``.
    """

    expected: str | None
    """The row that the next card belongs to: ``black`` or ``red``; null if no card may come now."""
    rows: dict[str, tuple[str, ...]]
    """The cards of each row: of the round in progress, or of the last result until the next round
    begins.
    """
    points: dict[str, Whole]
    """The points of each row."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    bets: tuple[Stake, ...]
    """The reported bets of the round in progress."""
    last_winner: str | None
    """``black``, ``red``, ``tie`` or ``refait`` of the last result, or null."""
    last_marks: tuple[str, ...]
    """``colour``, ``inverse``, ``tie`` or ``refait``."""
    refaits: Whole
    """Consecutive refaits with which the results end; a tie and a void coup change nothing."""
    refait_choices: tuple[str, ...]
    """The choices of a player for a bet if the coup in progress, or else the next, is a refait:
    ``half`` or ``prison``; ``refund`` at the last one.
    """
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    shoe: ShoeCounts | None
    """The shoe, or null between two."""
    settlement: tuple[str, ...]
    """The order in which chances are paid."""
    insurance: tuple[Whole, Whole]
    """The cost of insuring a bet against a refait, as a fraction of the bet."""
    limits: tuple[Whole, ...]
    """The highest stake as a multiple of the minimum, one for each choice that the decree offers.
    """


class BlackjackHand(msgspec.Struct, frozen=True):
    """A hand of black jack; all its cards are face up."""

    cards: tuple[str, ...]
    """Its cards, in their order."""
    points: Whole
    """Their points."""


class BlackjackShown(Shown, frozen=True, kw_only=True, tag="blackjack"):
    """The state of a black jack table; ``phase``: ``closed``, ``no_shoe``, ``burning``,
    ``waiting``, ``bets_open``, ``dealing``, ``players``, ``dealer``, ``decision``, ``shoe_over``.
    """

    expected: str | None
    """Where the next card belongs: a hand, ``dealer``, ``burn``, or ``table`` if its hand is not
    known; null if no card may come now.
    """
    turn: str | None
    """The hand that must act, or null."""
    hands: dict[str, BlackjackHand]
    """The hands, in the order in which they play."""
    dealer: BlackjackHand | None
    """The dealer's hand, or null."""
    bets: tuple[Stake, ...]
    """The reported bets of the round in progress."""
    insurance: bool
    """Insurance may be taken now."""
    even_money: tuple[str, ...]
    """The hands that may take their win at par now."""
    play: Whole | None
    """Which of the dealer's hands this is: 1, and up to 3 in the triple game; null where no round
    is in progress.
    """
    last_round: bool
    """The cut card has come: this round is the last of the talla."""
    last_shoe: Whole | None = None
    """1 once the last shoe before closing is announced, 0 once it is over; else null."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    shoe: ShoeCounts | None
    """The shoe, or null between two."""
    boxes: Whole
    """Boxes marked on the table."""
    next_minimum: Whole | None
    """An announced new minimum in minor units of ``currency``, or null."""
    rounds_at_this_minimum: Whole | None = None
    """Valid rounds left before a new minimum holds, where that was announced; else null, also where
    it holds from the next shoe on.
    """
    jackpot_standing: LinkedJackpot | None
    """The jackpot that the accumulated bet is linked with, or null."""

    owners = ("dealer",)

    @property
    def places(self) -> tuple[str, ...]:  # noqa: D102
        return numbered("box", range(1, self.boxes + 1))


class CirclePokerShown(Shown, frozen=True, kw_only=True, tag="circle-poker"):
    """The state of a circle poker table; ``phase``: ``closed``, ``waiting``, ``antes``,
    ``dealing``, ``betting``, ``showdown``, ``decision``.
    """

    expected: str | None
    """Where the next card belongs; null if no card may come now."""
    seated: tuple[Whole, ...]
    """Seats that are taken."""
    resting: dict[str, Whole]
    """Seats that sit out, and for how many rounds."""
    button: Whole | None
    """The seat that has the button, or null."""
    interval: Whole | None
    """The betting interval of the round in progress, from 1, or null."""
    hands: dict[str, Cards]
    """The cards that lie open, by seat."""
    counts: dict[str, Whole]
    """How many cards each seat has that plays."""
    statuses: dict[str, str]
    """The status of each seat in the round: playing, folded, all in and so on."""
    boards: dict[str, Cards]
    """The community cards, by row."""
    shows: tuple[str, ...]
    """At the showdown: who shows, in order."""
    deck_right: bool | None
    """Whether the pack may be played with; null if it was not checked."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    last_winner: str | None
    """Who won the last result, ``tie`` where it was shared, or null."""
    last_marks: tuple[str, ...]
    """The marks of the last result."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    players: tuple[Whole, Whole | None]
    """The fewest and the most players; null where the decree has no most."""
    split: str
    """How a pot is shared."""
    limits: tuple[str, ...]
    """The limits of bets that the decree offers."""
    raises: Whole | None
    """The most raises of a player in an interval, or null."""
    stakes: Table | None
    """The decree's rules for stakes, or null."""
    rake: tuple[Table, ...]
    """How the house may take its share: the choices of the decree."""
    next_minimum: Whole | None = None
    """An announced new minimum in minor units of ``currency``, or null."""
    rounds_at_this_minimum: Whole | None = None
    """Valid rounds left before a new minimum holds, where that was announced; else null."""

    owners = ("board",)

    @property
    def places(self) -> tuple[str, ...]:  # noqa: D102
        return numbered("seat", range(1, (self.players[1] or MAX_SEATS) + 1))

    @property
    def taken(self) -> tuple[str, ...]:  # noqa: D102
        return numbered("seat", self.seated)


class CircleDrawShown(CirclePokerShown, frozen=True, kw_only=True, tag="circle-draw"):
    """The state of a draw poker table."""

    opening: str | None
    """The least pair that opens, or null."""
    opener: Whole | None
    """The seat that opened, or null."""
    discards: dict[str, Whole | None]
    """How many cards each seat has discarded."""

    owners = ("discards",)


class HousePokerBox(msgspec.Struct, frozen=True):
    """A box of poker against the dealer, as visible to everyone."""

    cards: Cards
    """Its cards."""
    decision: str | None
    """``go`` or ``pass``; null before it has decided."""
    bought: bool
    """It bought a card for the one that it threw away."""
    discards: Whole | None
    """How many cards it discarded; null before it has."""
    bets: tuple[str, ...]
    """The reported side bets."""


class HousePokerShown(Shown, frozen=True, kw_only=True, tag="house-poker"):
    """The state of a table of poker against the dealer; ``phase``: ``closed``, ``waiting``,
    ``bets_open``, ``dealing``, ``decisions``, ``drawing``, ``discards``, ``dealer``, ``showdown``,
    ``decision``.
    """

    expected: str | None
    """Where the next card belongs; null if no card may come now."""
    undecided: tuple[str, ...]
    """Hands that must still act."""
    hands: dict[str, HousePokerBox]
    """The hands, by box."""
    dealer: Cards
    """The dealer's cards."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""
    deck: bool | None
    """Whether the deck may be played with; null if not reported."""
    shuffler: str | None
    """Why the shuffler cannot be dealt from, or null."""
    boxes: Whole
    """The number of boxes of the table."""
    bets_per_box: Whole
    """Maximum number of bets on one box."""
    second_bet: Whole
    """The second bet as a multiple of the ante."""
    qualifies: Any
    """The hand with which the dealer plays."""
    pays: Table
    """The odds of the second bet, by hand."""
    bonus: Table
    """The odds of the bonus, by hand."""
    side_bets: Table
    """The odds of side bets, by bet."""
    jackpot: Table | None
    """The share of the meter by hand, or null."""
    jackpot_standing: LinkedJackpot | None
    """The jackpot that the table is linked with, or null."""
    limits: tuple[Whole, ...]
    """The highest stake as a multiple of the minimum, one for each choice that the decree offers.
    """

    owners = ("dealer",)

    @property
    def places(self) -> tuple[str, ...]:  # noqa: D102
        return numbered("box", range(1, self.boxes + 1))


class BankedShown(Shown, frozen=True, kw_only=True):
    """The state of every table whose boxes play against the house or the holder of the bank."""

    expected: str | None
    """Where the next card belongs; null if no card may come now."""
    boxes: tuple[Whole, ...]
    """Boxes in play."""
    hands: dict[str, Cards]
    """The cards, by hand; ``common:1`` and so on are community cards."""
    unresolved: tuple[Whole, ...]
    """Rounds whose result a person may still give."""
    last_rounds: Whole | None
    """Valid rounds left before closing, where that was announced; else null."""

    @property
    def taken(self) -> tuple[str, ...]:  # noqa: D102
        return numbered("box", self.boxes)


class TrijokerShown(BankedShown, frozen=True, kw_only=True, tag="trijoker"):
    """The state of a trijoker table; ``phase``: ``closed``, ``waiting``, ``bets_open``,
    ``dealing``, ``first_bet``, ``second_bet``, ``showdown``, ``decision``.
    """

    deck: Whole | None
    """Which of the decks that take turns is in play, or null."""
    withdrawn: dict[str, tuple[str, ...]]
    """The bets that were taken back, by box."""
    pays: Table
    """The pay tables of the decree."""
    limits: tuple[Whole, ...]
    """The highest stake as a multiple of the minimum, one for each choice that the decree offers.
    """

    owners = ("common:1", "common:2", "common")


class TexasHouseShown(BankedShown, frozen=True, kw_only=True, tag="texas-house"):
    """The state of a table of Texas hold'em against the house; ``phase``: ``closed``, ``waiting``,
    ``bets_open``, ``dealing``, ``players``, ``showdown``, ``decision``.
    """

    spoke: dict[str, str]
    """The decision of each box."""
    bonus: tuple[str, ...]
    """Boxes with a bonus bet."""
    pays: dict[str, Any]
    """The odds of ``ante``, ``second`` and ``bonus``."""
    limits: tuple[Whole, ...]
    """The highest stake as a multiple of the minimum, one for each choice that the decree offers.
    """

    owners = ("dealer", "board")


class PaiGowShown(BankedShown, frozen=True, kw_only=True, tag="pai-gow"):
    """The state of a pai gow table; ``phase``: ``closed``, ``waiting``, ``bets_open``, ``dice``,
    ``dealing``, ``setting``, ``showdown``, ``decision``.
    """

    bank: str
    """Who has the bank: ``dealer`` or a box."""
    dice: tuple[Whole, ...]
    """The dice; empty before they are thrown."""
    set: tuple[str, ...]
    """Hands that are set."""
    low: dict[str, tuple[str, ...]]
    """The two cards of each low hand, once they are face up."""
    leftover: bool
    """The cards that were left over were counted."""
    commission: Whole
    """The commission on a win, in thousandths."""

    owners = ("dealer",)


AnyShown = (
    RouletteShown
    | BouleShown
    | FortuneShown
    | CrapsShown
    | PuntoBancaShown
    | CheminShown
    | TrenteShown
    | BlackjackShown
    | CirclePokerShown
    | CircleDrawShown
    | HousePokerShown
    | TrijokerShown
    | TexasHouseShown
    | PaiGowShown
)

FROM_A_SHOE = (PuntoBancaShown, CheminShown, TrenteShown, BlackjackShown)
"""The views of games that are dealt from a shoe: they have its counts."""
