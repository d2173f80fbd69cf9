"""The demo's recorder and its archive: their configuration, and what to try with them."""

from __future__ import annotations

import json
from pathlib import Path

from controller.demo.staff import Staff, Visitor

PROGRAM = "surveillance"
"""The recorder's id among the people."""
VISITOR = Visitor("visitor-3", "Visitor 3", ("surveillance",), "3", "161803")
"""Who may look at the archive and at sealed cards."""
WHY = "to try it"
"""A reason to look at sealed cards."""

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
    """Its file."""
    return room / "archive.sqlite3"


def cards_key(room: Path) -> Path:
    """The private key of surveillance, which the daemon makes for simulated tables."""
    return room / "journal.sqlite3.simulated-surveillance"


def configuration(room: Path, staff: Staff) -> str:
    """``[archive]``, and where the keys of persons are, for `novamas surveillance cards`."""
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
    """Where to look, as whom, and the commands to try."""
    return _INVITATION.format(
        address=address,
        visitor=VISITOR,
        why=WHY,
        novamas=novamas,
        file=file,
        table=table,
        csv=file.with_name("records.csv"),
    )
