"""The retained topics of a table, as they are published."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from common.contract.commands import (
    AlertAcknowledge,
    DeviceService,
    StaffOff,
    StaffOn,
    WitnessReport,
    tag_of,
)
from common.contract.event_fields import WITNESS_KEYPAD
from common.contract.retained import About, History, Info, ShoeTopic, State, Status
from common.contract.shown import FROM_A_SHOE, AnyShown
from controller.games.game import Game, GameView
from controller.tables.facts import TableFacts

UNRESOLVED_ALERT_ID = "round-unresolved"
"""Id of the alert for rounds without a result. It is raised again when the set of such rounds
changes, and cleared with the last one.
"""


ACKNOWLEDGE, SERVICE = tag_of(AlertAcknowledge), tag_of(DeviceService)
STAFF_ON, STAFF_OFF = tag_of(StaffOn), tag_of(StaffOff)
WITNESS_REPORT = tag_of(WitnessReport)
"""Commands that the table accepts itself, without its game."""


class TableTopics:
    """Makes the bodies of the topics. ``names``: the fields that all of them have; ``node``: the id
    of the daemon; ``unsigned``: the site accepts unsigned commands; ``witnesses``: the devices
    without which the table can play, since they give no result.
    """

    def __init__(
        self,
        *,
        names: dict[str, Any],
        node: str,
        game: Game,
        about: About,
        facts: TableFacts,
        unsigned: bool,
        witnesses: Collection[str] = (),
    ) -> None:
        self._names = names
        self._node = node
        self._game = game
        self._about = about
        self._facts = facts
        self._unsigned = unsigned
        self._witnesses = witnesses
        self._viewed: tuple[Any, GameView] | None = None
        """Cache: a state, and its view."""
        self._cache: dict[str, tuple[Any, bytes]] = {}
        """Cache by retained topic: the object that the body derives from, and the body."""

    def view(self, game_state: Any) -> GameView:
        """Return the view of a state of the game."""
        if self._viewed is None or self._viewed[0] is not game_state:
            self._viewed = (game_state, self._game.view(game_state))
        return self._viewed[1]

    def bodies(
        self, game_state: Any, *, seq: int, time: str, fault: str | None, halted: str | None
    ) -> dict[str, bytes | None]:
        """Return the body of each retained topic; None clears the retained message. ``seq`` and
        ``time``: those of the last event; ``fault``: why the game failed; ``halted``: why nothing
        can be stored.
        """
        names, node = self._names, self._node
        facts, encode = self._facts, msgspec.json.encode
        view = self.view(game_state)
        shown = view.shown
        stopped = fault or halted
        state = State(
            **names,
            status="fault" if stopped else self._status(shown),
            seq=seq,
            time=time,
            fault=stopped,
            devices=facts.devices,
            alerts=tuple(alert for alert, open_ in facts.alerts.items() if open_),
            shown=shown,
            staff={**facts.staff},
            takes=() if halted else self._accepted_commands(view.takes, fault),
            witness_round=self._witness_round,
            node=node,
            unsigned=self._unsigned,
        )
        entries = game_state.entries
        return {
            "info": self._body(
                "info", self._about, lambda: Info(**names, about=self._about, node=node)
            ),
            "state": encode(state),
            "result": self._body("result", facts.result, lambda: facts.result),
            "history": self._body(
                "history",
                entries or shown.session,  # the history of a session begins without entries
                lambda: History(**names, session=shown.session, results=view.history()),
            ),
            **(
                {"shoe": encode(ShoeTopic(**names, shoe=shown.shoe))}
                if isinstance(shown, FROM_A_SHOE)
                else {}
            ),
            **{
                f"alert/{alert}": encode(open_) if open_ else None
                for alert, open_ in facts.alerts.items()
            },
        }

    @property
    def _witness_round(self) -> int | None:
        """The round that a person can report as a second witness."""
        has_keypad = WITNESS_KEYPAD in self._witnesses and self._facts.open
        return (self._facts.witnessed.reportable or None) if has_keypad else None

    def _accepted_commands(self, takes: tuple[str, ...], fault: str | None) -> tuple[str, ...]:
        """Return the commands that the table accepts now. ``takes``: those of the game, unless it
        has failed (``fault``).
        """
        facts = self._facts
        unseen = any(open_ and not open_.acknowledged_by for open_ in facts.alerts.values())
        is_open = facts.open and fault is None
        return (
            *(takes if fault is None else ()),
            *((ACKNOWLEDGE,) if unseen else ()),
            *((WITNESS_REPORT,) if is_open and self._witness_round else ()),
            *((STAFF_ON,) if is_open else ()),
            *((STAFF_OFF,) if is_open and facts.staff else ()),
            *((SERVICE,) if self._about.devices else ()),
        )

    def _body(self, topic: str, source: Any, make: Callable[[], Any]) -> bytes:
        """Return the body of a topic, encoded again only if ``source`` is another object."""
        known = self._cache.get(topic)
        if known is None or known[0] is not source:
            known = self._cache[topic] = (source, msgspec.json.encode(make()))
        return known[1]

    def _status(self, shown: AnyShown) -> Status:
        devices = self._facts.devices
        known = {*devices, *self._about.devices} - {*self._witnesses}
        if any(device not in devices or devices[device].state != "up" for device in known):
            return "stale"
        if shown.asks or self._facts.alerts.get(UNRESOLVED_ALERT_ID):
            return "waiting"
        return "open" if self._facts.open else "closed"
