"""The package under a running systemd: upgraded while the daemon plays, removed, purged. Must run
last, because it removes everything.
"""

from __future__ import annotations

import csv
import io

from guest import PATIENCE, Guest
from play import NODE, WHEEL, Simulator, open_session, results, until_more

from tests.support.brokers.mosquitto import Subscriber
from tests.support.waiting import until

JOURNAL = "/var/lib/novamas/journal.sqlite3"
INSTALL = "DEBIAN_FRONTEND=noninteractive dpkg --install /srv/site"


def journal_results(guest: Guest) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(guest.run(f"novamas export --format csv {JOURNAL}")))
    return [row for row in rows if row["type"] == "round.result"]


def test_a_purge_that_nobody_answers_stops_everything_and_keeps_what_was_recorded(
    guest: Guest,
) -> None:
    guest.run("systemctl start novamas-web novamas")
    guest.run("DEBIAN_FRONTEND=noninteractive dpkg --purge novamas")
    assert guest.run("systemctl list-units --state=active --plain --no-legend 'novamas*'") == ""
    assert guest.run("ls /etc/systemd/system/multi-user.target.wants | grep novamas || true") == ""
    assert guest.run(f"test -s {JOURNAL} && echo there") == "there"


def test_an_upgrade_restarts_what_runs_and_starts_nothing_else(
    guest: Guest, heard: Subscriber
) -> None:
    guest.run(f"{INSTALL}/novamas-older.deb")
    guest.run("sh -e /srv/site/settle")
    wheel = Simulator("--games-per-hour", "120")
    try:
        guest.plug_serial("wheel", "WHEEL1", wheel.port)
        open_session(heard, WHEEL)
        until_more(heard, WHEEL, "round.result", 0)
        main = guest.run("systemctl show --value -p MainPID novamas")
        boot, before = heard.latest(f"{NODE}/status")["boot"], len(results(heard, WHEEL))
        guest.run(f"{INSTALL}/novamas.deb")
        until(
            "the new one is online",
            lambda: heard.latest(f"{NODE}/status")["boot"] != boot,
            heard.transcript,
            PATIENCE,
        )
        assert guest.run("systemctl show --value -p MainPID novamas") != main
        assert guest.run("systemctl is-active novamas-web || true") == "inactive"
        until_more(heard, WHEEL, "round.result", before, 2)
    finally:
        guest.unplug("wheel")
        wheel.close()
    stored = journal_results(guest)
    assert {(e["boot"], str(e["seq"])) for e in results(heard, WHEEL)} <= {
        (row["boot"], row["seq"]) for row in stored
    }
    rounds = [(row["table"], row["session"], row["round"]) for row in stored]
    assert len(rounds) == len(set(rounds))
    assert "HOLDS TOGETHER" in guest.run(f"novamas verify --text {JOURNAL}")


def test_a_purge_deletes_it_when_told_to(guest: Guest) -> None:
    """Except for the directory itself, which is a separate file system here."""
    guest.run("echo novamas novamas/delete-data boolean true | debconf-set-selections")
    guest.run("DEBIAN_FRONTEND=noninteractive dpkg --purge novamas")
    assert guest.run("ls -A /var/lib/novamas") == ""
    assert guest.run("test -e /etc/novamas || echo gone") == "gone"
