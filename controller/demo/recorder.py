"""The demo's recorder and its archive: their configuration, and commands to try."""

from __future__ import annotations

import json
from pathlib import Path

from controller.demo.staff import Staff, Visitor

PROGRAM = "surveillance"
"""Id of the recorder among the people."""
VISITOR = Visitor("visitor-3", "Visitor 3", ("surveillance",), "3", "161803")
"""The visitor who may see the archive and sealed cards."""
EXAMPLE_REASON = "to try it"
"""A reason for opening sealed cards."""

_CONFIGURATION = """
[archive]
path = {archive}
recall_key = {key}
recall_passphrase_file = {passphrase}
recall_person = "{person}"
cards_key = {cards}

[web]
path = {room}
pin_keys = {pins}
pepper_file = {pepper}
"""

_INVITATION = """\
surveillance: {address}/surveillance
  sign in there with badge {visitor.badge}, PIN {visitor.pin}: surveillance; \
sealed cards: this PIN again, reason "{why}"
  in a second terminal, while this one runs:
    {novamas} surveillance search {file} --what notable --last --limit 20
    {novamas} surveillance search {file} --table {table} --round 1
    {novamas} surveillance findings {file}
    {novamas} surveillance export {file} --form csv {csv}"""


def archive(room: Path) -> Path:
    """Return the file of the archive."""
    return room / "archive.sqlite3"


def cards_key(room: Path) -> Path:
    """Return the private key of surveillance, which the daemon creates for simulated tables."""
    return room / "journal.sqlite3.simulated-surveillance"


def configuration(room: Path, staff: Staff) -> str:
    """Return ``[archive]``, and the location of people's keys for `novamas surveillance cards`."""
    reader = staff.readers[PROGRAM]
    paths = {
        "archive": archive(room),
        "key": reader.key,
        "passphrase": reader.passphrase,
        "cards": cards_key(room),
        "room": room,
        "pins": staff.pins,
        "pepper": staff.pepper,
    }
    return _CONFIGURATION.format(
        person=PROGRAM, **{name: json.dumps(str(path)) for name, path in paths.items()}
    )


def invitation(address: str, novamas: str, file: Path, table: str) -> str:
    """Describe where to look, as whom to sign in, and commands to try."""
    return _INVITATION.format(
        address=address,
        visitor=VISITOR,
        why=EXAMPLE_REASON,
        novamas=novamas,
        file=file,
        table=table,
        csv=file.with_name("records.csv"),
    )
