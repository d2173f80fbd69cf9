"""A table's memory of its rounds: the base of each ``State`` with a round in progress, and their
lines of the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import msgspec
from msgspec.structs import replace

from common.contract.events import AnyOutcome
from common.contract.history import AnyLine, ResultLine, UnresolvedLine, VoidLine
from common.contract.shown import LinkedJackpot
from common.readings import Number
from controller.games.session import Decided
from controller.rulebooks.law import Law


class Lawful(Protocol):
    """A rulebook with laws of irregularities."""

    @property
    def laws(self) -> dict[str, Law]:
        """The law behind each irregularity."""
        ...


E = TypeVar("E", bound=Decided)


class GameState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The base of each game's ``State``.

    ``session`` and ``round`` count from 1; ``round`` is the last one that began. ``alerts``: the
    raised alerts.
    """

    session: int = 0
    open: bool = False
    minimum: int | None = None
    currency: str | None = None
    round: int = 0
    alerts: tuple[str, ...] = ()

    # Each state that has them declares its own fields, so that their place in the stored state is
    # its own. The others have none.
    if TYPE_CHECKING:
        entries: tuple[Any, ...] = ()
        """The outcomes of its rounds."""
        current: Any = None
        """The round in progress."""
        jackpot: LinkedJackpot | None = None
        """The jackpot that the table is linked with."""
    else:
        entries, current, jackpot = (), None, None

    @property
    def unresolved_rounds(self) -> tuple[int, ...]:
        """The numbers of the rounds whose result a person may still give."""
        return tuple(entry.round for entry in self.entries if entry.kind == "unresolved")


class Rounds(GameState, Generic[E], frozen=True, kw_only=True, omit_defaults=True):
    """A table that remembers the outcomes of its rounds."""

    remembered_rounds: ClassVar[int] = 60
    """Maximum number of rounds whose outcome is remembered."""

    if TYPE_CHECKING:
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


def in_place(entries: tuple[E, ...], entry: E) -> tuple[E, ...]:
    """These outcomes with one more, which replaces an earlier one of its round; by round."""
    if not entries or entries[-1].round < entry.round:
        return (*entries, entry)
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
