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
MINOR = {"health", "checkpoint", "claim", "info", "history"}
"""Messages that have no line, since they say little of what happens."""
MAX_CHARACTERS = 160


class Trace:
    """``lines``: what happened, for a person. ``digest``: of everything to the last byte, which two
    runs of one seed have in common, but for the name of their ``folder``.
    """

    def __init__(self, now: Callable[[], float], folder: Path) -> None:
        self._folder = str(folder)
        self.lines: list[str] = []
        self._now = now
        self._whole = hashlib.sha256()
        self._machines: dict[str, str] = {}
        """By boot, the machine."""
        self._shown: dict[str, str] = {}
        """By topic, the last line about it."""

    @property
    def digest(self) -> str:
        """Return the digest so far."""
        return self._whole.hexdigest()

    def note(self, text: str) -> None:
        """Add a line: one word that says what it is, in capitals if it is no ordinary thing, and
        the rest.
        """
        text = text.replace(self._folder, "FOLDER")
        self._whole.update(f"{self._now()} {text}\n".encode())
        kind, _, rest = text.partition(" ")
        self._add(kind, rest.strip())

    def stored(self, machine: str, entry: Entry) -> None:
        """An entry is on the disk of a machine."""
        self._whole.update(f"{self._now()} {machine} {entry.position}\n".encode() + entry.body)
        self._machines[entry.boot] = machine
        what = summary(_body(entry.body)) if entry.kind == "event" else "a box that is sealed"
        self._add("stores", f"{machine}: {entry.table} {entry.seq} {what}")

    def published(self, client: str, message: Publish) -> None:
        """The broker has received a message of a client."""
        payload = message.payload.replace(self._folder.encode(), b"FOLDER")
        self._whole.update(f"{self._now()} {client} {message.topic}\n".encode() + payload)
        body = _body(message.payload)
        who = self._machines.get(body.get("boot", ""), client.removeprefix("novamas-palma-"))
        place, _, leaf = message.topic.removeprefix("novamas/v1/").partition("/")[2].rpartition("/")
        if leaf == "event":
            late = " historical" if body.get("historical") else ""
            self._add("publishes", f"{who}: {place} {body.get('seq')} {body.get('type')}{late}")
            return
        line = f"{who}: {place} {leaf} {summary(body) if body else 'nothing'}"
        if leaf not in MINOR and self._shown.get(message.topic) != line:  # most say the same again
            self._shown[message.topic] = line
            self._add("retains" if message.retain else "sends", line)

    def _add(self, kind: str, what: str) -> None:
        now = self._now()
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
