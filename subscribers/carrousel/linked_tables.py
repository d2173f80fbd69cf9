"""The tables that are linked with the jackpots, and the daemons that serve them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from subscribers.carrousel.intake_memory import IntakeRules
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.tables import NodeDirectory, TrackedTable
from subscribers.carrousel.terms import Terms


class LinkedTables:
    """The tables of each jackpot: those of the terms in force, and those of the configuration.

    ``nodes``: the daemons, by whether they are simulated. ``clock_bound``: maximum difference in
    seconds between their clocks and this one.
    """

    def __init__(self, *, status: ControllerStatus, clock_bound: float) -> None:
        self._status = status
        self._by_name: dict[str, TrackedTable] = {}
        self.nodes = {simulated: NodeDirectory(clock_bound) for simulated in (False, True)}

    def __iter__(self) -> Iterator[TrackedTable]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> TrackedTable | None:
        """Return a table; None if it is not linked."""
        return self._by_name.get(name)

    def names_of(self, jackpot: str) -> tuple[str, ...]:
        """Return the names of a jackpot's tables."""
        return tuple(table.table for table in self if table.jackpot == jackpot)

    def link(self, jackpots: Mapping[str, JackpotRuntime]) -> None:
        """Add what the terms in force link, and apply their rules to all tables."""
        for jackpot in jackpots.values():
            rules = self._rules(jackpot)
            for name in (*rules.tables, *jackpot.settings.tables):
                if name not in self._by_name:
                    self._by_name[name] = TrackedTable(
                        table=name,
                        jackpot=jackpot.id,
                        topic=f"{jackpot.topics.root}/{name}",
                        rules=rules,
                    )
                if self._by_name[name].jackpot == jackpot.id:
                    self._by_name[name].intake.rules = rules

    def _rules(self, jackpot: JackpotRuntime) -> IntakeRules:
        """Return what the terms in force allow."""
        state = self._status.state_of(jackpot.id)
        terms: Terms = state.terms or jackpot.settings.terms
        authorisation = terms.authorisation
        return IntakeRules(
            tables=() if authorisation is None else authorisation.tables,
            games=terms.games,
            decree=terms.decree,
            currency=terms.currency,
            simulated=jackpot.settings.simulated,
        )

    def restore(self, memories: Mapping[str, bytes]) -> None:
        """Return all tables to their stored memories."""
        for table in self:
            table.restore(memories.get(table.table))

    def on_disconnect(self) -> None:
        """Forget what is only current while connected."""
        for nodes in self.nodes.values():
            nodes.on_disconnect()
        for table in self:
            table.on_disconnect()
