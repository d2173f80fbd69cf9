"""The files of a demo: its configuration and its people."""

from __future__ import annotations

import json
from pathlib import Path

from common.new_file import replace_file
from controller.demo import jackpot, recorder
from controller.demo.places import DemoTable
from controller.demo.staff import VISITORS, Staff, enrol

SITE, PEOPLE = "demo", "people.jsonl"
_CONFIGURATION = """\
[site]
id = "{site}"

[journal]
path = {journal}

[recordings]
path = {recordings}

[broker]
url = "embedded://127.0.0.1:{port}"

[people]
file = {people}
key = "{key}"
two_persons = []

[log]
format = "console"
level = "warning"
"""
_TABLE = """
[[table]]
id = "{place.table}"
game = "{place.game}"
decree = {decree}
simulated = true
speed = {speed}
{linked}
[[table.device]]
id = "{place.device}"
driver = "{place.driver}"
link = {link}
{place.more}
"""
_SLOTS = """
[[table.device]]
id = "{place.slots}"
driver = "slot-board"
link = {link}
{place.slots_more}
"""


def write_configuration(
    room: Path, tables: list[DemoTable], port: int, decree: str, speed: float, staff: Staff
) -> Path:
    path = room / "demo.toml"
    text = _CONFIGURATION.format(
        site=SITE,
        port=port,
        journal=_quoted(str(room / "journal.sqlite3")),
        people=_quoted(str(room / PEOPLE)),
        key=staff.site_key,
        recordings=_quoted(str(room / "recordings")),
    )
    for place in tables:
        text += _TABLE.format(
            place=place,
            decree=_quoted(decree),
            speed=speed,
            link=_quoted(f"serial://{room / place.device}?baud={place.baud}"),
            linked="" if place.slots is None else f'jackpot = "{jackpot.JACKPOT}"\n',
        )
        if place.slots is not None:
            link = _quoted(f"serial://{room / place.slots}?baud=115200")
            text += _SLOTS.format(place=place, link=link)
    if jackpot.linked(tables):
        text += jackpot.configuration(decree, tables, str(room / "carrousel.sqlite3"), staff)
    if recorder.PROGRAM in staff.readers:
        text += recorder.configuration(room, staff)
    replace_file(path, text.encode())
    return path


def enrol_people(
    room: Path, tables: list[DemoTable], linked: list[str], *, surveillance: bool
) -> Staff:
    """Enrol the people of this demo, including the programs that sign."""
    roles = (*(place.role for place in tables), *(jackpot.PAYERS if linked else ()))
    visitors = (*VISITORS, recorder.VISITOR) if surveillance else VISITORS
    programs = [
        *([jackpot.PROGRAM] if linked else []),
        *([recorder.PROGRAM] if surveillance else []),
    ]
    return enrol(room / PEOPLE, SITE, roles, visitors, programs)


def _quoted(text: str) -> str:
    """Return a TOML string; its escapes are those of JSON."""
    return json.dumps(text)
