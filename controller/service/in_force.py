"""The configuration and the people in force at a daemon of a pair, which waits or serves."""

from __future__ import annotations

from collections.abc import Callable

from common.people.people_file import PeopleFile, PeopleInForce
from controller.configuration.settings import Configuration
from controller.service.alike import facts
from controller.service.duty import Duty


class InForce:
    """The configuration and people file in force. Until this daemon serves: ``waiting()`` and
    ``people``.
    """

    def __init__(self, *, waiting: Callable[[], Configuration], people: PeopleFile | None) -> None:
        self.duty: Duty | None = None
        """Set while serving."""
        self._waiting = waiting
        self._people = people
        self._facts: tuple[tuple[Configuration, PeopleInForce | None], dict[str, str]] | None = None

    def configuration(self) -> Configuration:
        """Return the configuration in force."""
        return self._waiting() if self.duty is None else self.duty.configuration()

    def people_file(self) -> PeopleFile | None:
        """Return the file of the people in force."""
        return self._people if self.duty is None else self.duty.people

    def tables(self) -> set[str]:
        """Return the ids of the configured tables."""
        return {table.id for table in self.configuration().table}

    def facts(self) -> dict[str, str]:
        """Return what must be equal on both machines, computed again if it may have changed."""
        file = self.people_file()
        key = self.configuration(), None if file is None else file.in_force
        if self._facts is None or self._facts[0] != key:
            self._facts = key, facts(*key)
        return self._facts[1]
