"""A table's memory of its rounds: the base of each ``State`` with a round in progress, and their
lines of the history.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from msgspec.structs import replace

from controller.contract import commands as person
from controller.contract.commands import Command, VoidReason
from controller.contract.events import Announcement, AnyOutcome, Irregularity, RoundVoid
from controller.contract.history import AnyLine, ResultLine, UnresolvedLine, VoidLine
from controller.games.moves import GameState, Moves, frames_of
from controller.games.session import Decided
from controller.rulebooks.law import Law
from devices.readings import Number, Reading


class Lawful(Protocol):
    """A rulebook with laws of irregularities."""

    @property
    def laws(self) -> dict[str, Law]:
        """The law behind each irregularity."""
        ...


E = TypeVar("E", bound=Decided)


class Rounds(GameState, Generic[E], frozen=True, kw_only=True, omit_defaults=True):
    """A table that remembers the outcomes of its rounds.

    Each state declares ``current``, the round in progress, and ``entries`` itself, so that their
    place in the stored state is its own.
    """

    remembered_rounds: ClassVar[int] = 60
    """Maximum number of rounds whose outcome is remembered."""

    if TYPE_CHECKING:
        current: Any = None
        entries: tuple[E, ...] = ()

    def entry(self, number: int) -> E | None:
        """The outcome of a round of this session, if it is remembered."""
        return next((entry for entry in self.entries if entry.round == number), None)

    def with_entry(self, entry: E) -> Self:
        """The state with this outcome, which replaces an earlier one of its round. The oldest
        outcome is dropped if there are too many.
        """
        return replace(self, entries=in_place(self.entries, entry)[-self.remembered_rounds :])

    def unresolved(self) -> list[E]:
        """The rounds whose result a person may still give."""
        return [entry for entry in self.entries if entry.kind == "unresolved"]

    def last_result(self) -> E | None:
        """The latest result that is remembered."""
        return next((entry for entry in reversed(self.entries) if entry.kind == "result"), None)


Book = TypeVar("Book", bound=Lawful)
Settings = TypeVar("Settings")
Table = TypeVar("Table", bound=GameState)
State = TypeVar("State", bound=Rounds[Any])


class LawfulMoves(Moves[Book, Settings, Table]):
    """Moves that cite the law."""

    @property
    @abstractmethod
    def number(self) -> int:
        """The round in progress; 0 without one."""

    def irregular(
        self,
        what: str,
        law: Law | None = None,
        *,
        reading: Reading | None = None,
        asks: tuple[str, ...] = (),
        detail: str | None = None,
        readings: tuple[int, ...] = (),
    ) -> None:
        """Report an irregularity and the law behind it, by default the one under its own name.

        ``reading``: the reading whose frame is evidence, of a wheel or of dice; ``readings``: the
        evidence where cards are dealt.
        """
        law = law or self.book.laws[what]
        self.emit(
            Irregularity(
                round=self.number,
                what=what,
                law=law.rule,
                article=law.article,
                detail=detail,
                asks=asks,
                frames=frames_of(reading),
                readings=readings,
                **self.about(reading),
            )
        )

    def emit_void(
        self,
        number: int,
        reason: VoidReason,
        law: Law,
        by: Command | None,
        call: Announcement | None = None,
        last_number: Number | None = None,
        spin: int | None = None,
    ) -> None:
        """Report that a round is void, by the rules or by a person's decision (``by``)."""
        self.emit(
            RoundVoid(
                round=number,
                reason=reason,
                law=law.rule,
                article=law.article,
                last_number=last_number,
                by=by.by if by else None,
                role=by.role if by else None,
                alone=isinstance(by, person.RoundVoid) and by.alone,
                spin=spin,
                announcement=call,
            )
        )

    def about(self, reading: Reading | None) -> dict[str, Any]:  # noqa: ARG002 - most games need only the round
        """Further fields of an irregularity's event."""
        return {}


class RoundMoves(LawfulMoves[Book, Settings, State]):
    """The base of the ``Turn`` of each game whose state has ``current``."""

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        return self.state.current.round if self.state.current else 0

    def change_current(self, **fields: Any) -> None:
        """Replace these fields of the round in progress."""
        assert self.state.current is not None
        self.change(current=replace(self.state.current, **fields))


def in_place(entries: Iterable[E], entry: E) -> tuple[E, ...]:
    """These outcomes with one more, which replaces an earlier one of its round; by round."""
    others = (other for other in entries if other.round != entry.round)
    return tuple(sorted((*others, entry), key=lambda known: known.round))


class Recorded(Decided, Protocol):
    """The outcome of a round: the fields that the history shows alike for every game."""

    @property
    def reason(self) -> str | None:
        """Why the round is void."""
        ...

    @property
    def article(self) -> str | None:
        """The article that voids it, if the law does."""
        ...


def line(
    entry: Recorded,
    outcome: AnyOutcome | None,
    *,
    corrected: bool = False,
    spin: int | None = None,
    candidate: Number | None = None,
    dice: tuple[int, ...] | None = None,
) -> AnyLine:
    """One round in the retained history. ``outcome``: None without a result."""
    if outcome is not None:
        return ResultLine(round=entry.round, spin=spin, outcome=outcome, corrected=corrected)
    if entry.kind == "void":
        return VoidLine(
            round=entry.round, spin=spin, reason=entry.reason or "", article=entry.article or ""
        )
    return UnresolvedLine(round=entry.round, spin=spin, candidate=candidate, dice=dice)
