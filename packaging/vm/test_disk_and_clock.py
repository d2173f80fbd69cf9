"""A full disk and a clock change, with a real kernel."""

from __future__ import annotations

from guest import PATIENCE, Guest
from play import NODE, WHEEL, Simulator, events, results, until_more

from tests.support.brokers.mosquitto import Subscriber
from tests.support.waiting import until

JOURNAL = "/var/lib/novamas/journal.sqlite3"


def whole(heard: Subscriber, known: int) -> None:
    """Check that no event is missing since then, within one run of the daemon."""
    told = [each for each in heard.events() if each["table"] == "ruleta-1"][known:]
    assert len({each["boot"] for each in told}) == 1
    numbers = [each["seq"] for each in told]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_a_full_disk_stops_what_is_published_and_loses_nothing(
    guest: Guest, heard: Subscriber, wheel: Simulator
) -> None:
    """Another program's file fills the disk; the kernel reports ENOSPC."""
    main = guest.run("systemctl show --value -p MainPID novamas")
    filled = "dd if=/dev/zero bs=$size oflag=append conv=notrunc of=/var/lib/novamas/other"
    guest.run(f"for size in 1M 4k; do {filled} || true; done")
    assert guest.run("df --output=avail /var/lib/novamas | tail -n 1") == "0"

    def state() -> str:
        told: str = (heard.latest(f"{NODE}/health") or {}).get("journal", {}).get("state", "")
        return told

    until("the journal cannot be written", lambda: state() == "failed", heard.transcript, PATIENCE)
    known, heard_before = len(results(heard, WHEEL)), len(heard.events())
    waiting = heard.latest(f"{NODE}/health")["journal"]["waiting"]
    until(
        "more waits for the disk",
        lambda: heard.latest(f"{NODE}/health")["journal"]["waiting"] > waiting,
        heard.transcript,
        PATIENCE,
    )
    assert len(heard.events()) == heard_before, "published what was not stored"
    guest.run("rm /var/lib/novamas/other")
    until("the journal is written again", lambda: state() == "ok", heard.transcript, PATIENCE)
    until_more(heard, WHEEL, "round.result", known, 2)
    whole(heard, 0)
    assert guest.run("systemctl show --value -p MainPID novamas") == main
    assert "HOLDS TOGETHER" in guest.run(f"novamas verify --text {JOURNAL}")


def test_a_clock_that_is_set_is_told_and_makes_nobody_silent(
    guest: Guest, heard: Subscriber, wheel: Simulator
) -> None:
    """An hour forward and two back, as `date -s` sets the guest's clock."""
    begin = len([each for each in heard.events() if each["table"] == "ruleta-1"])
    for number, hours in enumerate(("+1", "-2"), start=1):
        guest.run(f"date --set '{hours} hours'")
        until_more(heard, WHEEL, "clock.stepped", number - 1)
        until_more(heard, WHEEL, "round.result", len(results(heard, WHEEL)))
    steps = [each["step"] for each in events(heard, WHEEL, "clock.stepped")]
    assert [round(step / 3600) for step in steps] == [1, -2]
    whole(heard, begin)
    told = [each for each in heard.events() if each["table"] == "ruleta-1"][begin:]
    assert [each["mono_ns"] for each in told] == sorted(each["mono_ns"] for each in told)
    assert "stale" not in {each.get("state") for each in told}
    assert "HOLDS TOGETHER" in guest.run(f"novamas verify --text {JOURNAL}")
    guest.run("date --set '+1 hours'")
