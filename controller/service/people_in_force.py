"""The people file that a daemon starts with: the one in its journal, or a newer one."""

from __future__ import annotations

import msgspec

from common.chain.schema import Entry
from common.people.people_file import PeopleFile
from controller.configuration.settings import Configuration
from controller.journal.setup import Boot


def people_file(configuration: Configuration, last: Entry | None) -> PeopleFile | None:
    """Return the people file, if configured. ``last``: the ``boot`` entry of the previous run."""
    people = configuration.people
    if people is None or people.file is None or people.key is None:
        return None
    previous = None if last is None else msgspec.json.decode(last.body, type=Boot).people
    journalled = previous.file if previous is not None and previous.key == people.key else None
    return PeopleFile(people.file, people.key, configuration.site.id, journalled)
