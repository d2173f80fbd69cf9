"""Power cuts while a table plays. The journal's disk has a write-back cache (disk.py), and a cut
leaves any part of unflushed data; all events received outside by then must be in the journal.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from disk import Disk, PowerCut
from guest import PATIENCE, Guest
from play import NODE, WHEEL, Simulator, events, until_more

from tests.support.brokers.mosquitto import ReceivedMessage, Subscriber, once
from tests.support.waiting import until

CUTS = int(os.environ.get("CUTS", "90"))
"""Cuts after which only the disk is examined, while the guest keeps playing."""
REBOOTS = int(os.environ.get("REBOOTS", "10"))
"""Cuts after which the guest boots from that disk and plays."""
SEED = int(os.environ.get("SEED", "1"))
MAX_REQUESTS = 40
"""Maximum number of disk requests between two cuts."""
NOVAMAS = Path(sys.executable).with_name("novamas")


class Moment:
    """Waits for a disk request and cuts the power there: mostly at a flush, when most data is only
    in the cache, else at a write.
    """

    def __init__(self, disk: Disk, heard: Subscriber, random: Random) -> None:
        self._disk, self._heard, self._random = disk, heard, random

    def wait(self, guest: Guest | None = None) -> tuple[PowerCut, list[ReceivedMessage]]:
        """Return the disk's content and the events received before. ``guest`` loses its power."""
        left = self._random.randint(1, MAX_REQUESTS)
        wanted = self._random.choice(("flush", "flush", "write"))
        found: list[tuple[PowerCut, list[ReceivedMessage]]] = []
        done = threading.Event()

        def asked(kind: str) -> None:
            nonlocal left
            left -= kind in ("write", "flush")
            if left <= 0 and kind == wanted and self._disk.cached and not found:
                # First what was heard: more may be heard meanwhile, and it need not be there.
                heard = list(self._heard.messages)
                found.append((self._disk.cut(self._random, kind), heard))
                done.set()
                if guest is not None:
                    guest.cut_power()
            if found and guest is not None:
                raise ConnectionResetError

        self._disk.asked = asked
        assert done.wait(PATIENCE), "nobody asks the disk for anything"
        if guest is None:
            self._disk.asked = lambda _: None
        return found[0]


def printed(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def numbered(rows: list[dict[str, Any]]) -> set[tuple[str, str, int]]:
    return {(row["table"], row["boot"], int(row["seq"])) for row in rows}


def exported(text: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text)))


def judge(cut: PowerCut, heard: list[ReceivedMessage], folder: Path) -> int:
    """Check that the journal on this disk is valid and has every received event, after this
    machine's kernel has recovered the file system. Return the number of received events.
    """
    published = once(each.body for each in heard if each.topic.endswith("/event"))
    medium, mounted, witness = folder / "medium", folder / "mounted", folder / "heard.jsonl"
    medium.write_bytes(cut.medium)
    mounted.mkdir(exist_ok=True)
    witness.write_text("".join(f"{json.dumps(event)}\n" for event in published))
    printed("mount", "-o", "loop", medium, mounted)
    try:
        journal = mounted / "journal.sqlite3"
        verified = printed(
            NOVAMAS, "verify", "--json", "--jobs", "1", "--witness", witness, journal
        )
        assert json.loads(verified)["outcome"] == "holds", verified
        rows = exported(printed(NOVAMAS, "export", "--format", "csv", journal))
    finally:
        printed("umount", mounted)
    printed("e2fsck", "-f", "-n", medium)
    assert len(numbered(rows)) == len(rows), "a number is used twice"
    lost = numbered(published) - numbered(rows)
    assert lost == set(), f"published and not in the journal after a cut at a {cut.at}: {lost}"
    return len(published)


def tell(number: int, cut: PowerCut, published: int) -> None:
    print(
        f"cut {number} at a {cut.at}: {cut.kept} of {cut.cached} cached sectors kept, "
        f"{published} published events all there",
        flush=True,
    )


def until_another_boot(heard: Subscriber, boot: str) -> None:
    def another() -> bool:
        status = heard.latest(f"{NODE}/status")
        return bool(status["status"] == "online" and status["boot"] != boot)

    until("the daemon is online again", another, heard.transcript, PATIENCE)


def test_the_guest_knows_that_its_disk_has_a_cache(guest: Guest, disk: Disk) -> None:
    """Otherwise the guest would not flush, and commits would not reach the medium."""
    name = guest.run("basename $(readlink -f /dev/disk/by-id/virtio-data)")
    assert guest.run(f"cat /sys/block/{name}/queue/write_cache") == "write back"
    flushes = disk.flushes
    guest.run("echo x >/var/lib/novamas/x && sync /var/lib/novamas/x && rm /var/lib/novamas/x")
    assert disk.flushes > flushes


def test_a_cut_loses_nothing_that_was_published(
    guest: Guest, heard: Subscriber, disk: Disk, wheel: Simulator, tmp_path: Path
) -> None:
    random = Random(SEED)
    moment = Moment(disk, heard, random)
    sectors: Counter[str] = Counter()
    for number in range(CUTS):
        cut, before = moment.wait()
        tell(number, cut, judge(cut, before, tmp_path))
        sectors += Counter(cached=cut.cached, lost=cut.cached - cut.kept, torn=cut.kept > 0)
    print(f"{CUTS} cuts, seed {SEED}: {dict(sectors)}")
    assert sectors["lost"] > CUTS, "hardly anything was in the cache"


def test_the_guest_boots_from_a_cut_disk_and_plays_on(
    guest: Guest, heard: Subscriber, disk: Disk, wheel: Simulator, tmp_path: Path
) -> None:
    random = Random(SEED + 1)
    moment = Moment(disk, heard, random)
    guest.run("sync")
    for number in range(REBOOTS):
        boot = heard.latest(f"{NODE}/status")["boot"]
        cut, before = moment.wait(guest)
        guest.power_off()
        tell(number, cut, judge(cut, before, tmp_path))
        disk.put(cut.medium)
        guest.start()
        guest.plug_serial("wheel", "WHEEL1", wheel.port)
        until_another_boot(heard, boot)
        until_more(heard, WHEEL, "round.result", len(events(heard, WHEEL, "round.result")))
    journal = "/var/lib/novamas/journal.sqlite3"
    assert "HOLDS TOGETHER" in guest.run(f"novamas verify --text {journal}")
    published = heard.events()
    rows = exported(guest.run(f"novamas export --format csv {journal}"))
    assert numbered(published) - numbered(rows) == set()
    assert len({each["boot"] for each in published}) >= REBOOTS
    said: dict[tuple[str, str, int], Any] = {}
    for each in (one.body for one in heard.on("/event")):
        told = {**each, "historical": None}
        assert said.setdefault((each["table"], each["boot"], each["seq"]), told) == told
    rounds = [
        (each["table"], each["session"], each["round"])
        for each in published
        if each["type"] == "round.result"
    ]
    assert len(rounds) == len(set(rounds)), "a round has two results"
