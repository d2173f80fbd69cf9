"""What happens in a world, one line each, for the person who looks for the cause of a finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from common.chain.schema import Entry
from tests.world.bodies import decoded
from tests.world.broker.packets import Publish

FIELDS = {
    "session": "session {}",
    "round": "round {}",
    "spin": "spin {}",
    "status": "{}",
    "state": "{}",
    "device": "{}",
    "what": "{}",
    "alert": "{}",
    "why": "because of {}",
    "reason": "because of {}",
    "candidate": "candidate {}",
    "detail": "({})",
    "by": "by {}",
    "source": "source {}",
    "historical": "historical",
}
"""What a line shows of a body, in this order, where it has it."""
MINOR = {"health", "checkpoint", "claim", "info", "history", "motion"}
"""Messages that have no line, since they say little of what happens."""
MAX_CHARACTERS = 160

Record = tuple[float, str, Entry | Publish | None]
"""When, and what: the machine with an entry that it stores, the client with a message that it
publishes, or a text.
"""


class Trace:
    """Records what happens. Most runs find nothing, so nothing is formatted before it is read."""

    def __init__(self, now: Callable[[], float], folder: Path) -> None:
        self._folder = str(folder)
        self._now = now
        self._records: list[Record] = []

    def note(self, text: str) -> None:
        """Add a line: one word that says what it is, in capitals if it is no ordinary thing, and
        the rest.
        """
        self._records.append((self._now(), text, None))

    def stored(self, machine: str, entry: Entry) -> None:
        """An entry is on the disk of a machine."""
        self._records.append((self._now(), machine, entry))

    def published(self, client: str, message: Publish) -> None:
        """The broker has received a message of a client."""
        self._records.append((self._now(), client, message))

    @property
    def lines(self) -> list[str]:
        """What happened, for a person."""
        page = _Page(self._folder)
        for now, text, what in self._records:
            match what:
                case None:
                    page.note(now, text.replace(self._folder, "FOLDER"))
                case Entry():
                    page.stored(now, text, what)
                case Publish():
                    page.published(now, text, what)
        return page.lines

    @property
    def digest(self) -> str:
        """The digest of everything to the last byte, which two runs of one seed have in common, but
        for the name of their folder.
        """
        whole = hashlib.sha256()
        folder = self._folder.encode()
        for now, text, what in self._records:
            match what:
                case None:
                    whole.update(f"{now} {text.replace(self._folder, 'FOLDER')}\n".encode())
                case Entry():
                    whole.update(f"{now} {text} {what.position}\n".encode() + what.body)
                case Publish():
                    payload = what.payload.replace(folder, b"FOLDER")
                    whole.update(f"{now} {text} {what.topic}\n".encode() + payload)
        return whole.hexdigest()


class _Page:
    """The lines of a trace. ``folder``: a name that they leave out."""

    def __init__(self, folder: str) -> None:
        self.lines: list[str] = []
        self._folder = folder
        self._machines: dict[str, str] = {}
        """By boot, the machine."""
        self._shown: dict[str, str] = {}
        """By topic, the last line about it."""

    def note(self, now: float, text: str) -> None:
        kind, _, rest = text.partition(" ")
        self._add(now, kind, rest.strip())

    def stored(self, now: float, machine: str, entry: Entry) -> None:
        self._machines[entry.boot] = machine
        what = summary(_body(entry.body)) if entry.kind == "event" else "a box that is sealed"
        self._add(now, "stores", f"{machine}: {entry.table} {entry.seq} {what}")

    def published(self, now: float, client: str, message: Publish) -> None:
        body = _body(message.payload)
        who = self._machines.get(body.get("boot", ""), client.removeprefix("novamas-palma-"))
        place, _, leaf = message.topic.removeprefix("novamas/v1/").partition("/")[2].rpartition("/")
        if leaf == "event":
            late = " historical" if body.get("historical") else ""
            self._add(
                now, "publishes", f"{who}: {place} {body.get('seq')} {body.get('type')}{late}"
            )
            return
        line = f"{who}: {place} {leaf} {summary(body) if body else 'nothing'}"
        if leaf not in MINOR and self._shown.get(message.topic) != line:  # most say the same again
            self._shown[message.topic] = line
            self._add(now, "retains" if message.retain else "sends", line)

    def _add(self, now: float, kind: str, what: str) -> None:
        mark = ">>>" if kind.isupper() else "   "
        minutes = f"{int(now // 3600)}:{int(now // 60 % 60):02d}:{now % 60:06.3f}"
        line = f"{minutes} {mark} {kind:<9} {what}"
        self.lines.append(line.replace(self._folder, "FOLDER"))


def summary(body: dict[str, Any]) -> str:
    """Return what a person wants to know of a body, in some words."""
    found = [body["type"]] if "type" in body else []
    if isinstance(outcome := body.get("outcome"), dict):
        found.append(str(outcome.get("number", outcome)))
    for name, shape in FIELDS.items():
        value = body.get(name)
        if value not in (None, False, "", [], *found):
            found.append(shape.format(value))
    if "seq" in body and "type" not in body:
        found.append(f"after {body['seq']}")
    if "ok" in body:
        found.append("followed" if body["ok"] else f"refused: {body.get('error', body)}")
    text = " ".join(found) or json.dumps(body)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _body(payload: bytes) -> dict[str, Any]:
    try:
        found = decoded(payload)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
