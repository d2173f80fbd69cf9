"""What the console shows of a table or jackpot to one person: items, buttons, outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from common.contract.events import Frame
from common.money import EURO
from common.people.register import Person
from subscribers.console.evidence import TableEvidence
from subscribers.console.forms import FormChoice
from subscribers.console.sending import SecondPersonWait, Touch
from subscribers.display.picture import TableTrouble, Word
from subscribers.display.rounds import PlayedRound
from subscribers.feed.table_snapshot import Outdated, TableSnapshot
from subscribers.laws import PrintedRule

ItemType = Literal["second", "fault", "ask", "unresolved", "warning"]


class TileResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a round in a few words."""

    round: int
    text: str
    lane: str
    """Its colour: ``red``, ``black``, ``green`` or ``none``."""


class Correction(msgspec.Struct, frozen=True):
    """What a correction replaces, and by what."""

    before: TileResult
    after: TileResult


class AnswerButton(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A button of an item, with the command that it gives."""

    command: str
    text: str
    fields: dict[str, Any] = {}
    """Fields that are already set."""
    open: bool = False
    """The person must fill in more."""
    grave: bool = False
    two: bool = False
    """It needs a second person in any case."""
    may_take_two: bool = False
    """It may need one, depending on what the person fills in or on the table."""
    fixed: tuple[str, ...] = ()
    """Set fields that the person cannot change."""
    about: str = ""
    """Its subject, repeated where it is confirmed."""
    recommended: bool = False
    """The evidence suggests it."""
    correction: Correction | None = None


class WorkItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that waits for a person."""

    id: str
    """Stable as long as it is the same item."""
    what: ItemType
    since: str
    """UTC, ISO 8601."""
    title: str
    round: int | None = None
    detail: str | None = None
    detail_language: str | None = None
    """``en`` where the detail is in English only, as the table publishes it."""
    article: str | None = None
    printed: PrintedRule | None = None
    frames: tuple[Frame, ...] = ()
    answers: tuple[AnswerButton, ...] = ()
    others: str = ""
    """Who may answer, if this person may not."""
    left: float | None = None
    """Remaining seconds when drawn."""
    says: tuple[Word, ...] = ()
    """The fields of the first person's command, for the second to read; of a round, what each
    second witness saw of it.
    """
    correction: Correction | None = None


class CommandOffer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that this person may give now."""

    command: str
    choices: dict[str, tuple[FormChoice, ...]] = {}
    """Values of fields at this table, where the table reports them."""
    leaves_out: tuple[str, ...] = ()
    """Fields without an input here."""
    fields: dict[str, Any] = {}
    """Fields that are sent along without an input."""
    two: bool = False
    """It needs a second person in any case."""
    may_take_two: bool = False
    """It may need one, depending on its fields."""


class TouchOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A touch of this session and its outcome."""

    number: str
    how: str
    text: str
    at: float
    why: str | None = None
    """The refusal, in the person's language."""
    wait: int | None = None
    """Seconds after which it may be given again, if the daemon has just started."""
    found: str | None = None
    """The known outcome of a command without a reply."""
    receipt: str | None = None
    """The number of the receipt, and how to print it if not here, as text."""
    receipt_path: str | None = None
    """Where this server has the receipt as PDF."""
    summary: str | None = None
    """The rounds of a session that was closed with it, while no other one is open."""
    undo: AnswerButton | None = None


class PersonOnDuty(msgspec.Struct, frozen=True, kw_only=True):
    """A person at the table."""

    person: str
    duty: str
    """The wire word."""
    text: str
    """Name and duty."""


class TableTile(msgspec.Struct, frozen=True, kw_only=True):
    """What the tile of a table shows at a glance."""

    results: tuple[TileResult, ...]
    """The latest results of the session, newest first."""
    since: str | None
    """When the phase began: UTC, ISO 8601; None if that was not observed."""
    croupiers: str
    pace: int | None
    """Rounds an hour; None where too few are known."""
    next_minimum: int | None
    """An announced minimum in minor units."""
    rounds_until_minimum: int | None
    """Valid rounds left before an announced minimum holds."""


class ConsoleView(msgspec.Struct, frozen=True, kw_only=True):
    """A table or jackpot, for one person."""

    table: str
    """Its id; for a jackpot ``jackpot/<id>``."""
    name: str
    """Its id as shown."""
    title: str
    decree: str
    simulated: bool
    status: Word
    phase: Word
    session: int | None
    round: int | None
    minimum: int | None
    currency: str | None
    trouble: TableTrouble | None
    boot: str
    seq: int
    view: str
    whos: tuple[Word, ...]
    """The hands, boxes and seats that can be named, and common cards."""
    taken: tuple[int, ...]
    """The boxes or seats that are taken."""
    parts: tuple[Word, ...]
    """The hands whose cards a result can be corrected to."""
    staff: tuple[Word, ...]
    """Who is at the table, by duty."""
    unresolved: tuple[int, ...]
    offers: tuple[CommandOffer, ...]
    items: tuple[WorkItem, ...]
    done: tuple[TouchOutcome, ...]
    tile: TableTile | None = None
    """None for a jackpot."""
    on_duty: tuple[PersonOnDuty, ...] = ()
    """The people at the table."""
    meter: str | None = None
    """The value of a jackpot; None for a table, or if unknown."""
    awards: tuple[WorkItem, ...] = ()
    """The waiting awards of a jackpot, with every possible order for each."""


class TableContext(msgspec.Struct, frozen=True, kw_only=True):
    """A table, and the person who views it."""

    known: TableSnapshot
    outdated: Outdated | None
    evidence: TableEvidence
    person: Person
    language: str
    touches: tuple[Touch, ...]
    """Those of this session, newest first."""
    waits: tuple[SecondPersonWait, ...]
    rounds: tuple[PlayedRound, ...] = ()
    """The latest rounds of the table, oldest first."""
    laws: Mapping[str, PrintedRule]
    """The rules of the decrees, by their ids."""
    currency: str = EURO
    """The site's, for a session that names none."""


def currency_of(context: TableContext) -> str:
    """Return the currency of a table's session, or the site's."""
    state = context.known.state
    return (None if state is None else state.shown.currency) or context.currency
