"""One simulated table of the floor: its game is the daemon's own, so its messages are real ones."""

from __future__ import annotations

from typing import Any

import msgspec

from common.contract.notation import Input, read_input, write
from common.contract.retained import About
from common.contract.times import format_utc
from controller.games.games import make_game
from controller.tables.table import Table

START_SECONDS = 1_800_000_000.0
"""When the simulated time begins, in seconds since 1970."""
WHEEL = "wheel"
PERSON = {"by": "Conform", "role": "inspector"}


class TableStep(msgspec.Struct, frozen=True):
    """The outcome of some inputs. ``events``: in order; ``retained``: the topics that changed."""

    events: list[dict[str, Any]] = []
    retained: dict[str, bytes | None] = {}

    def __add__(self, other: TableStep) -> TableStep:
        return TableStep([*self.events, *other.events], {**self.retained, **other.retained})

    def without_events(self) -> TableStep:
        """Return the retained topics alone: the events are lost."""
        return TableStep([], self.retained)


class SimulatedTable:
    """A roulette whose croupier opens and closes the bets."""

    def __init__(self, site: str, name: str, node: str, boot: str) -> None:
        self.name, self.node, self.boot = name, node, boot
        self.journal: list[dict[str, Any]] = []
        """All events, also those that were not published."""
        self.forgotten: set[tuple[str, int]] = set()
        """Events that the journal no longer has: their boot and number."""
        self.rounds = 0
        self._site = site
        self._now = 0.0
        self._offset = 0.0  # of the wall clock
        self._extra = 0  # events of an unknown type since the boot
        self._retained: dict[str, bytes | None] = {}
        self._table = self._make(None)

    def _make(self, saved: bytes | None) -> Table:
        return Table(
            site=self._site,
            id=self.name,
            game_id="roulette-french",
            decree="ARA02",
            game=make_game("roulette-french", "ARA02", {"phases": "person"}),
            boot=self.boot,
            simulated=True,
            saved=saved,
            about=About(devices={WHEEL: "cammegh-ss2"}),
            node=self.node,
        )

    def step(self, *inputs: dict[str, Any]) -> TableStep:
        """Process inputs, each a reading or a command."""
        events: list[dict[str, Any]] = []
        for fields in inputs:
            self._now += 1.0
            item = read_input(msgspec.json.encode({"at": self._now, **fields}))
            events += self._handle(item)
        return TableStep(events, self._changed())

    def _handle(self, item: Input) -> list[dict[str, Any]]:
        time = format_utc(START_SECONDS + self._now + self._offset)
        events = [
            msgspec.json.decode(write(event))
            for event in self._table.handle(item, time, round(self._now * 1e9)).events
        ]
        for event in events:
            event["seq"] += self._extra
        self.journal += events
        return events

    def _changed(self) -> dict[str, bytes | None]:
        now = dict(self._table.retained())
        if self._extra and (state := now.get("state")) is not None:
            fields = msgspec.json.decode(state)
            now["state"] = msgspec.json.encode({**fields, "seq": fields["seq"] + self._extra})
        changed = {leaf: body for leaf, body in now.items() if self._retained.get(leaf, 0) != body}
        self._retained = now
        return changed

    def opened(self) -> TableStep:
        """Open the session."""
        return self.step({"type": "link.up", "device": WHEEL}, {"type": "session.open", **PERSON})

    def bets(self) -> TableStep:
        """Play a round until no more bets."""
        self.rounds += 1
        return self.step({"type": "bets.open", **PERSON}, {"type": "bets.close", **PERSON})

    def number(self, number: int, *, late: bool = False) -> TableStep:
        """Have the wheel report its number."""
        more = {"late": True} if late else {}
        return self.step({"type": "wheel.number", "device": WHEEL, "number": number, **more})

    def round(self, number: int) -> TableStep:
        """Play a whole round."""
        return self.bets() + self.number(number)

    def command(self, command: str, **fields: Any) -> TableStep:
        """Give a command."""
        return self.step({"type": command, **fields, **PERSON})

    def closed(self) -> TableStep:
        """Close the session; the next one counts its rounds from 1."""
        self.rounds = 0
        return self.command("session.close", locked=True)

    def stale(self) -> TableStep:
        """Silence the wheel."""
        return self.step({"type": "link.stale", "device": WHEEL, "age": 5.0})

    def up(self) -> TableStep:
        """Have the wheel send again."""
        return self.step({"type": "link.up", "device": WHEEL})

    def fault(self, reason: str | None) -> TableStep:
        """Stop giving results, or, without a reason, give them again."""
        self._table.halted = reason
        return TableStep([], self._changed())

    def clock_back(self, seconds: float) -> TableStep:
        """Set the clock back."""
        self._offset -= seconds
        return self.step({"type": "clock.step", "step": -seconds})

    def restarted(self, boot: str) -> TableStep:
        """Restart the daemon: another boot, and events are counted from 1."""
        self.boot, self._extra = boot, 0
        self._table, saved = self._make(self._table.saved()), self._table
        self._now += 1.0
        events = [event for gap in saved.gap(self._now) for event in self._handle(gap)]
        self._retained = {}
        return TableStep(events, self._changed()) + self.up()

    def of_unknown_type(self) -> TableStep:
        """Publish an event of a type that no release has yet."""
        self._extra += 1
        last = self.journal[-1]
        kept = ("site", "table", "game", "decree", "boot", "seq", "time", "mono_ns", "simulated")
        event = {key: last[key] for key in kept if key in last} | {"type": "novelty.announced"}
        event |= {"seq": last["seq"] + 1, "cloth": "green", "number": 36, "outcome": {"number": 36}}
        self.journal.append(event)
        return TableStep([event], self._changed())

    def recalled(self, boot: str, first: int, to: int | None, *, onward: bool) -> list[Any]:
        """Return the events of a recall: those of a boot, and with ``onward`` of each later one."""
        boots = list(dict.fromkeys(event["boot"] for event in self.journal))
        later = boots[boots.index(boot) + 1 :] if onward and boot in boots else []
        return [
            {**event, "historical": True}
            for event in self.journal
            if (event["boot"], event["seq"]) not in self.forgotten
            and (
                event["boot"] in later
                or (
                    event["boot"] == boot
                    and event["seq"] >= first
                    and (onward or to is None or event["seq"] <= to)
                )
            )
        ]
