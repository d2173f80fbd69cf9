"""The part ``audit``: at the end each journal is audited, as ``novamas audit`` does. Every event in
it follows from its bytes and commands, and the broker was given these events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.proof.audit import audit
from controller.proof.evidence import Evidence
from controller.proof.findings import LOST
from controller.proof.outcome import ProofOutcome
from tests.world.broker.packets import Publish
from tests.world.checkers import Immediate, Key, key_of, require

if TYPE_CHECKING:
    from tests.world.world import World

JOURNAL = re.compile(r"journal\.sqlite3(\.(corrupt|replaced|restored)-[0-9T.]+Z)?")
"""The names of a journal, and of those that were set aside, restored or replaced."""


def join(world: World) -> None:
    """Let an auditor take part."""
    world.checkers.append(AuditEqualsPublished(world))


class AuditEqualsPublished(Immediate):
    """The journals of a world prove what its broker was given. That holds at any time, and an audit
    takes long: it is made once, in the end.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._published: dict[Key, dict[str, Any]] = {}

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/event"):
            body = json.loads(message.payload)
            self._published.setdefault(key_of(body), body)

    def on_end(self) -> None:
        """See :class:`Checker`."""
        proved: dict[Key, dict[str, Any]] = {}
        for node in self._world.nodes:
            node.disk.show_files()
            folder = self._world.folder / node.machine.name
            for journal in sorted(folder.glob("journal.sqlite3*")):
                if JOURNAL.fullmatch(journal.name):
                    proved |= {key_of(body): body for body in _proved(journal)}
        for key, body in self._published.items():
            body.pop("historical", None)
            derived = proved.get(key)
            require(derived == body, "published otherwise than derived", body, derived)


def _proved(journal: Path) -> Iterator[dict[str, Any]]:
    """Audit a journal and yield its events."""
    found = audit(journal)
    require(not found.differences, "a journal differs from its bytes", found.differences[:1])
    holds = found.outcome is not ProofOutcome.DOES_NOT_HOLD
    require(holds, "a journal does not hold", found.chain.problems[:1])
    lost = found.unproved.pop(LOST, 0)
    require(not found.unproved, "not every event is proved", found.unproved)
    require(lost or found.proved_events == found.events, "events without a reason", found)
    for _, entry in Evidence(journal).entries():
        if entry.kind == "event":
            body = json.loads(entry.body)
            body.pop("historical", None)
            yield body
