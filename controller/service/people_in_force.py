"""The people file that a daemon starts with: what its journal had in force, or a later one."""

from __future__ import annotations

import msgspec

from controller.configuration.settings import Configuration
from controller.journal.schema import Entry
from controller.journal.setup import Boot
from controller.people.people_file import PeopleFile


def people_file(configuration: Configuration, last: Entry | None) -> PeopleFile | None:
    """The people file, where there is one; ``last``: the ``boot`` entry of the run before."""
    people = configuration.people
    if people is None or people.file is None or people.key is None:
        return None
    before = None if last is None else msgspec.json.decode(last.body, type=Boot).people
    known = before.file if before is not None and before.key == people.key else None
    return PeopleFile(people.file, people.key, configuration.site.id, known)
