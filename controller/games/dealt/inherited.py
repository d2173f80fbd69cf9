"""The base of the dealt games whose course is still a subclass. Temporary."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from common.contract.commands import SessionOpen
from common.contract.events import AnyOutcome
from common.readings import CardDrawn
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, DealtRound, Held, Stop
from controller.games.dealt.turn import (
    B,
    Course,
    DealtTurn,
    S,
    T,
    admit,
    announce_place,
    announced_place,
    deal_card,
    stop_with,
)

INHERITED = Course(
    stage=lambda turn: turn.stage(),
    belongs=lambda turn: turn.belongs(),
    objection=lambda turn, held: turn.objection(held),
    faces_up=lambda turn, to: turn.faces_up(to),
    advance=lambda turn: turn.advance(),
    late=lambda turn, held: turn.late(held),
    lose_place=lambda turn: turn.lose_place(),
    leave=lambda turn: turn.leave(),
    outcome_of=lambda turn, entry: turn.outcome_of(entry),
    new_round=lambda turn, number: turn.new_round(number),
    stop=lambda turn: turn.inherited_stop(),
    lacks=lambda turn: turn.lacks(),
    arrived=lambda turn, drawn: turn.arrived(drawn),
    holds=lambda turn: turn.holds,
    wait=lambda turn, held: turn.wait(held),
    divert=lambda turn, held: turn.divert(held),
    hold=lambda turn, held, what, detail=None: turn.hold(held, what, detail),
    ready=lambda turn: turn.ready(),
    place=lambda turn, drawn, to, seen=False, count=1: turn.place(
        drawn, to, seen=seen, count=count
    ),
    unplaced=lambda turn, held: turn.unplaced(held),
    next_place=lambda turn: turn.next_place(),
    expect=lambda turn: turn.expect(),
    follow_up=lambda turn: turn.follow_up(),
)


class InheritedTurn(DealtTurn[B, S, T]):
    """One step of a dealt table whose course is a subclass."""

    round_type: ClassVar[type[DealtRound]] = DealtRound
    entry_type: ClassVar[type[DealtEntry]] = DealtEntry
    max_held: ClassVar[int] = 0
    course = INHERITED

    def __init_subclass__(cls) -> None:
        cls.course = INHERITED._replace(entry_type=cls.entry_type, max_held=cls.max_held)

    @abstractmethod
    def stage(self) -> Phase: ...

    @abstractmethod
    def belongs(self) -> str | None: ...

    @abstractmethod
    def objection(self, held: Held) -> tuple[str, str | None] | None: ...

    @abstractmethod
    def late(self, held: Held) -> None: ...

    @abstractmethod
    def lose_place(self) -> None: ...

    @abstractmethod
    def outcome_of(self, entry: Any) -> AnyOutcome: ...

    @abstractmethod
    def leave(self) -> None: ...

    def inherited_stop(self) -> Stop | None:
        return self.state.stop

    def divert(self, held: Held) -> bool:  # noqa: ARG002
        return False

    def ready(self) -> None: ...

    def unplaced(self, held: Held) -> None:
        self.wait(held)

    def faces_up(self, to: str) -> bool:  # noqa: ARG002
        return True

    def advance(self) -> None: ...

    def lacks(self) -> tuple[str, ...]:
        return ()

    def new_round(self, number: int) -> DealtRound:
        return self.round_type(round=number)

    def open_session(self, command: SessionOpen) -> None:
        super().open_session(command)
        self.clear_alert("card_while_closed")

    @property
    def holds(self) -> bool:
        return bool(self.state.held)

    def arrived(self, drawn: CardDrawn) -> Held | None:
        return admit(self, drawn)

    def wait(self, held: Held) -> None:
        if len(self.state.held) < self.max_held:
            self.change(held=(*self.state.held, held))
        else:
            self.lose_place()

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:
        stop_with(self, held, what, detail)

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:
        deal_card(self, drawn, to, seen=seen, count=count)

    def next_place(self) -> str | None:
        return announced_place(self)

    def expect(self) -> None:
        announce_place(self)

    def follow_up(self) -> None:
        self.expect()
