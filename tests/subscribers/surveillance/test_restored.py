"""A daemon whose journal was restored from a backup: the recorder stores the events before and
after, and names the restore.
"""

from __future__ import annotations

from pathlib import Path

from controller.backup.restore import restore
from controller.backup.take import back_up
from controller.configuration.file import load
from tests.daemon.conftest import daemon as daemon
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.daemon.conftest import wheel as wheel
from tests.support.daemon.play import command, spin, until_more, until_up
from tests.support.surveillance.room import Room, told
from tests.support.surveillance.room import room as room
from tests.support.surveillance.room import rooms as rooms
from tests.support.waiting import until


def test_both_sides_are_kept_and_the_restore_is_named(room: Room, tmp_path: Path) -> None:
    room.recorder.start()
    command(room.subscriber, "session.open")
    spin(room.wheel, room.subscriber, "17", 2)
    file = room.daemon.file
    backup, manifest, _ = back_up(file, load(file), tmp_path / "backups", None)
    spin(room.wheel, room.subscriber, "32", 3, before="17")
    room.until_kept()
    in_gap = told(room.journal)
    until("a checkpoint is kept", lambda: room.recorder.found(kinds=("checkpoint",)))

    room.daemon.kill()
    done = restore(file, backup, set_aside=True)
    room.daemon.start()
    until_more(room.subscriber, "journal.restored", 0)
    until_up(room.subscriber, room.daemon)
    command(room.subscriber, "session.open")
    spin(room.wheel, room.subscriber, " 4", 4, before="32")
    before, after = told(done.copy), told(room.journal)
    assert len(before) < len(in_gap)

    def kept() -> bool:
        return room.recorder.events().keys() == (in_gap | after).keys()

    until("both sides are kept", kept, room.recorder.log)
    until("it is named", lambda: "journal_restored" in room.recorder.findings(), room.recorder.log)
    room.daemon.stop()
    until("the last checkpoint is kept", lambda: "journal_replaced" in room.recorder.findings())
    assert set(room.recorder.findings()) == {"journal_restored", "journal_replaced"}
    [named] = [each for each in room.recorder.found(kinds=("finding",)) if "restored" in each.type]
    assert manifest.time.encode() in named.body
    alert = until("its alert", lambda: room.alert("journal-restored"))
    assert (alert["what"], alert["severity"]) == ("surveillance.journal_restored", "warning")
