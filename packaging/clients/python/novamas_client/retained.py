"""The contract's retained. Written by `make packages` from docs/integrator/schemas/retained.json."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Alert(TypedDict):
    """
    The retained topic `alert/<id>`, from `alert.raised` to `alert.cleared`.
    """

    alert: str
    what: str
    severity: Literal["fault", "warning"]
    raised: str
    device: NotRequired[str | None]
    detail: NotRequired[str | None]
    rounds: NotRequired[list[int]]
    settled_by: NotRequired[
        dict[str, list[Literal["croupier", "director", "inspector", "table_head", "technician"]]]
    ]
    acknowledged_by: NotRequired[str | None]
    acknowledged_role: NotRequired[
        Literal["croupier", "director", "inspector", "table_head", "technician"] | None
    ]
    acknowledged: NotRequired[str | None]


class BlackjackHand(TypedDict):
    """
    A hand of black jack; all its cards are face up.
    """

    cards: list[str]
    points: int


class BouleOutcome(TypedDict):
    """
    The number of the hole in which the ball is. The number in the middle has no colour, parity
    or half: they are null.
    """

    family: Literal["boule"]
    number: int
    colour: Literal["black", "red"] | None
    parity: Literal["even", "odd"] | None
    half: Literal["falta", "pasa"] | None
    last_of_session: bool


DeductionItem: TypeAlias = int


Player: TypeAlias = int


class CircleDrawShown(TypedDict):
    """
    The state of a draw poker table.
    """

    view: Literal["circle-draw"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    seated: list[int]
    resting: dict[str, int]
    button: int | None
    interval: int | None
    hands: dict[str, list[str | None]]
    counts: dict[str, int]
    statuses: dict[str, str]
    boards: dict[str, list[str | None]]
    shows: list[str]
    deck_right: bool | None
    unresolved: list[int]
    last_winner: str | None
    last_marks: list[str]
    last_rounds: int | None
    players: tuple[Player, int | None]
    split: str
    limits: list[str]
    raises: int | None
    stakes: dict[str, Any] | None
    rake: list[dict[str, Any]]
    next_minimum: int | None
    rounds_at_this_minimum: int | None
    opening: str | None
    opener: int | None
    discards: dict[str, int | None]


class CirclePokerShown(TypedDict):
    """
    The state of a circle poker table; `phase`: `closed`, `waiting`, `antes`,
    `dealing`, `betting`, `showdown`, `decision`.
    """

    view: Literal["circle-poker"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    seated: list[int]
    resting: dict[str, int]
    button: int | None
    interval: int | None
    hands: dict[str, list[str | None]]
    counts: dict[str, int]
    statuses: dict[str, str]
    boards: dict[str, list[str | None]]
    shows: list[str]
    deck_right: bool | None
    unresolved: list[int]
    last_winner: str | None
    last_marks: list[str]
    last_rounds: int | None
    players: tuple[Player, int | None]
    split: str
    limits: list[str]
    raises: int | None
    stakes: dict[str, Any] | None
    rake: list[dict[str, Any]]
    next_minimum: int | None
    rounds_at_this_minimum: int | None


class CrapsDice(TypedDict):
    """
    The dice of a session, by serial number.
    """

    playing: list[str]
    reserve: list[str]
    lost: list[str]
    unfit: list[str]


Die: TypeAlias = int


class CrapsOutcome(TypedDict):
    """
    One throw of the dice.
    """

    family: Literal["craps"]
    dice: tuple[Die, Die]
    total: int
    point: int | None


class DeviceLink(TypedDict):
    """
    The state of a device's link.
    """

    state: Literal["lost", "open", "stale", "unintelligible", "up"]
    since: str
    detail: NotRequired[str | None]


class FortuneOutcome(TypedDict):
    """
    The symbol under the tongue of the wheel of fortune.
    """

    family: Literal["fortune-wheel"]
    number: int | str
    cell: int | None
    last_of_session: bool


class Frame(TypedDict):
    """
    One piece of evidence: a frame as received.
    """

    at: float
    frame: str
    device: NotRequired[str]


class HousePokerBox(TypedDict):
    """
    A box of poker against the dealer, as visible to everyone.
    """

    cards: list[str | None]
    decision: str | None
    bought: bool
    discards: int | None
    bets: list[str]


class Identity(TypedDict):
    """
    The identity of a device, as configured.
    """

    maker: NotRequired[str | None]
    model: NotRequired[str | None]
    serial: NotRequired[str | None]


class LastBaccarat(TypedDict):
    """
    The last result of chemin de fer or two cloths.
    """

    winner: str | None
    hands: dict[str, tuple[int | None, str | None]]


class LinkedJackpot(TypedDict):
    """
    The jackpot that the table is linked with, as the table knows it.
    """

    jackpot: str
    in_play: bool
    why: NotRequired[
        Literal[
            "clock",
            "closed",
            "foreign",
            "gap",
            "not_authorised",
            "not_verified",
            "store",
            "suspended",
            "unheard",
            "unreadable",
        ]
        | None
    ]


class PaiGowShown(TypedDict):
    """
    The state of a pai gow table; `phase`: `closed`, `waiting`, `bets_open`, `dice`,
    `dealing`, `setting`, `showdown`, `decision`.
    """

    view: Literal["pai-gow"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    boxes: list[int]
    hands: dict[str, list[str | None]]
    unresolved: list[int]
    last_rounds: int | None
    bank: str
    dice: list[int]
    set: list[str]
    low: dict[str, list[str]]
    leftover: bool
    commission: int


CommissionItem: TypeAlias = int


class RouletteOutcome(TypedDict):
    """
    Where the ball definitively is. Zero has no colour, parity, half, dozen or column: they are
    null.
    """

    family: Literal["roulette"]
    number: int
    colour: Literal["black", "red"] | None
    parity: Literal["even", "odd"] | None
    half: Literal["falta", "pasa"] | None
    dozen: int | None
    column: int | None
    zeros: int
    last_of_session: bool


Pay: TypeAlias = int


class Settled(TypedDict):
    """
    The settlement of one kind of bet.
    """

    bet: str
    outcome: Literal["lose", "stays", "tie", "void", "win"]
    pays: NotRequired[tuple[Pay, Pay] | None]
    who: NotRequired[str | None]


class ShoeCounts(TypedDict):
    """
    The shoe in use: counts, never cards.
    """

    number: str
    model: str | None
    decks: int
    continuous: bool
    drawn: int
    unread: int
    left: int | None
    cut: bool
    over: bool
    first_round: int | None


class ShoeTopic(TypedDict):
    """
    The retained topic `shoe`, of games dealt from one.
    """

    site: str
    table: str
    game: str
    decree: str
    boot: str
    simulated: NotRequired[bool]
    shoe: ShoeCounts | None


class Signer(TypedDict):
    """
    A person who signed a command.
    """

    id: str
    name: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]


class Stake(TypedDict):
    """
    A bet that was reported to the table.
    """

    who: str
    bet: str
    amount: NotRequired[int | None]


class TexasHouseShown(TypedDict):
    """
    The state of a table of Texas hold'em against the house; `phase`: `closed`, `waiting`,
    `bets_open`, `dealing`, `players`, `showdown`, `decision`.
    """

    view: Literal["texas-house"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    boxes: list[int]
    hands: dict[str, list[str | None]]
    unresolved: list[int]
    last_rounds: int | None
    spoke: dict[str, str]
    bonus: list[str]
    pays: dict[str, Any]
    limits: list[int]


InsuranceItem: TypeAlias = int


class TrenteShown(TypedDict):
    """
    The state of a trente et quarante table; `phase`: `closed`, `no_shoe`, `waiting`,
    `bets_open`, `dealing`, `decision`, `shoe_over`.
    """

    view: Literal["trente-et-quarante"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    rows: dict[str, list[str]]
    points: dict[str, int]
    unresolved: list[int]
    bets: list[Stake]
    last_winner: str | None
    last_marks: list[str]
    refaits: int
    refait_choices: list[str]
    last_rounds: int | None
    shoe: ShoeCounts | None
    settlement: list[str]
    insurance: tuple[InsuranceItem, InsuranceItem]
    limits: list[int]


class TrijokerShown(TypedDict):
    """
    The state of a trijoker table; `phase`: `closed`, `waiting`, `bets_open`,
    `dealing`, `first_bet`, `second_bet`, `showdown`, `decision`.
    """

    view: Literal["trijoker"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    boxes: list[int]
    hands: dict[str, list[str | None]]
    unresolved: list[int]
    last_rounds: int | None
    deck: int | None
    withdrawn: dict[str, list[str]]
    pays: dict[str, Any]
    limits: list[int]


class Undo(TypedDict):
    """
    A command that takes another one back.
    """

    command: str
    fields: NotRequired[dict[str, bool]]


class UnresolvedLine(TypedDict):
    """
    A round whose result is not known. A person may still give it.
    """

    kind: Literal["unresolved"]
    candidate: NotRequired[int | str | None]
    dice: NotRequired[list[int] | None]
    round: int
    spin: NotRequired[int | None]


class VoidLine(TypedDict):
    """
    A void round: it has no result.
    """

    kind: Literal["void"]
    reason: str
    article: str
    round: int
    spin: NotRequired[int | None]


class WitnessStatement(TypedDict):
    """
    What a second witness has reported of a round so far. It is silent if it names neither a
    number nor dice.
    """

    device: str
    number: NotRequired[int | str | None]
    dice: NotRequired[list[int] | None]
    agrees: NotRequired[bool | None]


class Allowed(TypedDict):
    """
    A command that a table knows.
    """

    roles: list[Literal["croupier", "director", "inspector", "table_head", "technician"]]
    two_persons: NotRequired[bool]
    choices: NotRequired[dict[str, list[str]]]
    leaves_out: NotRequired[list[str]]
    undone_by: NotRequired[Undo | None]
    reasons: NotRequired[
        dict[str, list[Literal["croupier", "director", "inspector", "table_head", "technician"]]]
    ]


class BlackjackShown(TypedDict):
    """
    The state of a black jack table; `phase`: `closed`, `no_shoe`, `burning`,
    `waiting`, `bets_open`, `dealing`, `players`, `dealer`, `decision`, `shoe_over`.
    """

    view: Literal["blackjack"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    turn: str | None
    hands: dict[str, BlackjackHand]
    dealer: BlackjackHand | None
    bets: list[Stake]
    insurance: bool
    even_money: list[str]
    play: int | None
    last_round: bool
    last_shoe: int | None
    last_rounds: int | None
    shoe: ShoeCounts | None
    boxes: int
    next_minimum: int | None
    rounds_at_this_minimum: int | None
    jackpot_standing: LinkedJackpot | None


class BouleShown(TypedDict):
    """
    The state of a boule table.
    """

    view: Literal["boule"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    spin: int | None
    relaunch: bool
    last_of_session: bool
    unresolved: list[int]
    bets: list[Stake]
    last_number: int | str | None
    last_rounds: int | None
    rounds_at_this_minimum: int | None
    next_minimum: int | None
    last_colour: Literal["black", "red"] | None
    thrower: str | None
    throws: int
    counts: dict[str, int]


class CheminShown(TypedDict):
    """
    The state of a chemin de fer or two-cloth baccarat table; `phase`: `closed`, `no_shoe`,
    `shoe_over`, `waiting`, `bets_open`, `dealing`, `words`, `showing`, `decision`.
    """

    view: Literal["chemin-de-fer"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    to_act: str | None
    expected: str | None
    hands: dict[str, list[str | None]]
    words: dict[str, str]
    table_followed: bool
    bets: list[Stake]
    unresolved: list[int]
    last_result: LastBaccarat | None
    last_rounds: int | None
    shoe: ShoeCounts | None
    players: int
    deduction: tuple[DeductionItem, DeductionItem]
    bank_maximum: int | None
    garage: int | None
    garage_half_from: int | None


class CrapsShown(TypedDict):
    """
    The state of a craps table; `phase`: `closed`, `decision`, `waiting`, `relaunch`
    after a void throw, `bets_open`, `bets_closed`.
    """

    view: Literal["craps"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    series: Literal["come_out", "point"]
    point: int | None
    shooter: int | None
    seats: list[int]
    last_shooter: int | None
    relaunch: bool
    unresolved: list[int]
    last_dice: list[int] | None
    last_total: int | None
    throws: dict[str, int]
    dice: CrapsDice
    bets: list[Stake]


class FortuneShown(TypedDict):
    """
    The state of a wheel of fortune.
    """

    view: Literal["fortune-wheel"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    spin: int | None
    relaunch: bool
    last_of_session: bool
    unresolved: list[int]
    bets: list[Stake]
    last_number: int | str | None
    last_rounds: int | None
    rounds_at_this_minimum: int | None
    next_minimum: int | None
    last_cell: int | None
    cells: list[int | str]
    counts: dict[str, int]


class Hand(TypedDict):
    """
    One hand, or row, at the end of a round.
    """

    who: str
    cards: list[str]
    points: NotRequired[int | None]
    kind: NotRequired[str | None]
    outcome: NotRequired[Literal["lose", "tie", "win"] | None]
    best: NotRequired[list[str]]
    low: NotRequired[list[str]]
    low_kind: NotRequired[str | None]
    settled: NotRequired[list[Settled]]


class HousePokerOutcome(TypedDict):
    """
    One round of poker, pai gow or trijoker against the house or the holder of the bank; each box
    plays for itself.
    """

    family: Literal["house-poker"]
    hands: list[Hand]
    marks: list[str]


class HousePokerShown(TypedDict):
    """
    The state of a table of poker against the dealer; `phase`: `closed`, `waiting`,
    `bets_open`, `dealing`, `decisions`, `drawing`, `discards`, `dealer`, `showdown`,
    `decision`.
    """

    view: Literal["house-poker"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    undecided: list[str]
    hands: dict[str, HousePokerBox]
    dealer: list[str | None]
    unresolved: list[int]
    last_rounds: int | None
    deck: bool | None
    shuffler: str | None
    boxes: int
    bets_per_box: int
    second_bet: int
    qualifies: Any
    pays: dict[str, Any]
    bonus: dict[str, Any]
    side_bets: dict[str, Any]
    jackpot: dict[str, Any] | None
    jackpot_standing: LinkedJackpot | None
    limits: list[int]


class PuntoBancaShown(TypedDict):
    """
    The state of a punto y banca table; `phase`: `closed`, `no_shoe`, `burning`,
    `waiting`, `bets_open`, `dealing`, `decision`, `shoe_over`.
    """

    view: Literal["punto-banca"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    expected: str | None
    hands: dict[str, list[str | None]]
    unresolved: list[int]
    bets: list[Stake]
    last_winner: str | None
    last_round: bool
    last_rounds: int | None
    shoe: ShoeCounts | None
    commission: tuple[CommissionItem, CommissionItem]
    seats: int | None


class RouletteShown(TypedDict):
    """
    The state of a roulette table.
    """

    view: Literal["roulette"]
    phase: str
    session: int
    round: int
    asks: list[str]
    minimum: int | None
    currency: str | None
    settings: dict[str, Any]
    spin: int | None
    relaunch: bool
    last_of_session: bool
    unresolved: list[int]
    bets: list[Stake]
    last_number: int | str | None
    last_rounds: int | None
    rounds_at_this_minimum: int | None
    next_minimum: int | None
    last_colour: Literal["black", "red"] | None
    zeros: int
    zero_choices: list[str]


class State(TypedDict):
    """
    The retained topic `state`.
    """

    site: str
    table: str
    game: str
    decree: str
    boot: str
    simulated: NotRequired[bool]
    status: Literal["closed", "fault", "open", "stale", "waiting"]
    seq: int
    time: str
    fault: str | None
    devices: dict[str, DeviceLink]
    alerts: list[str]
    shown: (
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
    staff: dict[str, list[str]]
    takes: list[str]
    witness_round: NotRequired[int | None]
    node: str
    unsigned: NotRequired[bool]


class TrenteOutcome(TypedDict):
    """
    One coup of trente et quarante.
    """

    family: Literal["trente-et-quarante"]
    winner: Literal["black", "red", "refait", "tie"]
    hands: list[Hand]
    marks: list[str]
    refaits: int
    choices: list[str]
    last_of_session: bool


class About(TypedDict):
    """
    Properties that do not change while the daemon runs.
    """

    title: dict[str, str]
    languages: list[str]
    devices: dict[str, str]
    identities: dict[str, Identity]
    software: str
    settings: dict[str, Any]
    jackpot: str | None
    commands: dict[str, Allowed]


class BaccaratOutcome(TypedDict):
    """
    One coup of punto y banca, chemin de fer or two-cloth baccarat.
    """

    family: Literal["baccarat"]
    winner: Literal["banker", "player", "tie"] | None
    hands: list[Hand]
    marks: list[str]


class BlackjackOutcome(TypedDict):
    """
    One hand of the dealer against the boxes; each box plays for itself.
    """

    family: Literal["blackjack"]
    hands: list[Hand]
    marks: list[str]


class CirclePokerOutcome(TypedDict):
    """
    One hand of poker that players play against each other.
    """

    family: Literal["circle-poker"]
    winner: str | None
    hands: list[Hand]
    marks: list[str]


class Info(TypedDict):
    """
    The retained topic `info`.
    """

    site: str
    table: str
    game: str
    decree: str
    boot: str
    simulated: NotRequired[bool]
    about: About
    node: str


class ResultCorrected(TypedDict):
    """
    A person corrected a published result, or the correction of an earlier one changed
    this one.
    """

    type: Literal["result.corrected"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]
    replaces: int | None
    replaces_boot: str | None
    outcome: (
        RouletteOutcome
        | BouleOutcome
        | FortuneOutcome
        | CrapsOutcome
        | BaccaratOutcome
        | TrenteOutcome
        | BlackjackOutcome
        | CirclePokerOutcome
        | HousePokerOutcome
    )
    was: NotRequired[int | str | None]
    bets: NotRequired[list[Settled]]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]


class ResultLine(TypedDict):
    """
    A round that has its result.
    """

    kind: Literal["result"]
    outcome: (
        RouletteOutcome
        | BouleOutcome
        | FortuneOutcome
        | CrapsOutcome
        | BaccaratOutcome
        | TrenteOutcome
        | BlackjackOutcome
        | CirclePokerOutcome
        | HousePokerOutcome
    )
    corrected: bool
    round: int
    spin: NotRequired[int | None]


class RoundResult(TypedDict):
    """
    The round has its result.
    """

    type: Literal["round.result"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]
    outcome: (
        RouletteOutcome
        | BouleOutcome
        | FortuneOutcome
        | CrapsOutcome
        | BaccaratOutcome
        | TrenteOutcome
        | BlackjackOutcome
        | CirclePokerOutcome
        | HousePokerOutcome
    )
    spin: NotRequired[int | None]
    bets: NotRequired[list[Settled]]
    frames: list[Frame]
    readings: NotRequired[list[int]]
    confirmed_by: NotRequired[str | None]
    witnesses: NotRequired[list[WitnessStatement]]
    announcement: NotRequired[dict[str, str] | None]


class History(TypedDict):
    """
    The retained topic `history`.
    """

    site: str
    table: str
    game: str
    decree: str
    boot: str
    simulated: NotRequired[bool]
    session: int
    results: list[ResultLine | VoidLine | UnresolvedLine]


AnyRetained: TypeAlias = (
    Info | State | RoundResult | ResultCorrected | History | ShoeTopic | Alert | None
)
