"""The outbox: order, bounds, dead letters, kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from subscribers.webhooks import outbox as module
from subscribers.webhooks.errors import OutboxError
from subscribers.webhooks.outbox import NewLetter, Outbox, QueueState

R1, R2 = "novamas/v1/palma/r1", "novamas/v1/palma/r2"


def letter(seq: int, place: str = R1, webhook: str = "shop") -> NewLetter:
    return NewLetter(
        webhook, place, f"{place}/b1/{seq}", "round.result", f"t{seq}", b'{"seq":%d}' % seq
    )


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path / "webhooks.sqlite3", service=True)


def sent(outbox: Outbox, place: str = R1, webhook: str = "shop") -> list[str]:
    """Take all requests of a table as a receiver does."""
    taken = []
    while (found := outbox.next(webhook, place)) is not None:
        taken.append(found.time)
        outbox.remove(found.number)
    return taken


def test_requests_come_in_order_for_each_table_and_receiver(outbox: Outbox) -> None:
    outbox.add([letter(1), letter(1, R2), letter(2), letter(9, webhook="other")], {R1: b"x"})
    outbox.add([letter(3), letter(2)], {R1: b"y"})
    assert outbox.places("shop") == {R1, R2}
    assert sent(outbox) == ["t1", "t2", "t3"]
    assert sent(outbox, R2) == ["t1"]
    assert sent(outbox, webhook="other") == ["t9"]
    assert outbox.followed() == {R1: b"y"}


def test_what_is_stored_outlives_the_program_and_nobody_else_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "webhooks.sqlite3"
    first = Outbox(path, service=True)
    first.add([letter(1)], {R1: b"x"})
    assert path.stat().st_mode & 0o777 == 0o600
    second = Outbox(path)
    assert [each.time for each in [second.next("shop", R1)] if each] == ["t1"]
    with pytest.raises(OutboxError, match="another `novamas webhooks` uses this outbox"):
        Outbox(path, service=True)


def test_a_full_queue_makes_the_oldest_a_dead_letter_and_touches_no_other_receiver(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    monkeypatch.setattr(module, "MAX_DEAD", 2)
    outbox.add([letter(9, webhook="other")], {})
    assert outbox.add([letter(seq) for seq in (1, 2, 3, 4)], {}) == {("shop", "dead"): 1}
    assert [each.time for each in outbox.dead_letters("shop")] == ["t1"]
    assert "queue was full" in outbox.dead_letters("shop")[0].why
    assert outbox.add([letter(seq) for seq in (5, 6)], {}) == {
        ("shop", "dead"): 2,
        ("shop", "dropped"): 1,
    }
    assert [each.time for each in outbox.dead_letters()] == ["t2", "t3"]
    states = outbox.states()
    assert (states["shop"].waiting, states["shop"].dead, states["shop"].dropped) == (3, 2, 1)
    assert sent(outbox) == ["t4", "t5", "t6"]
    assert sent(outbox, webhook="other") == ["t9"]
    assert outbox.states()["shop"] == QueueState(0, None, 2, 1)


def test_a_dead_letter_is_queued_again_before_what_waits_or_dropped(outbox: Outbox) -> None:
    outbox.add([letter(seq) for seq in (1, 2, 3)], {})
    first = outbox.next("shop", R1)
    assert first is not None
    outbox.bury(first, "replied 400")
    [dead] = outbox.dead_letters("shop")
    assert (dead.why, dead.attempts, dead.number) == ("replied 400", 1, first.number)
    assert outbox.drop([dead.number + 1]) == 0  # it waits
    assert outbox.revive([dead.number]) == 1
    assert sent(outbox) == ["t1", "t2", "t3"]
    outbox.add([letter(4)], {})
    last = outbox.next("shop", R1)
    assert last is not None
    outbox.bury(last, "no")
    assert outbox.drop([last.number]) == 1
    assert outbox.states() == {}


def test_what_is_queued_for_too_long_is_buried(outbox: Outbox) -> None:
    outbox.add([letter(1)], {})
    assert outbox.bury_older("shop", 0.0, "away") == 0
    assert outbox.bury_older("shop", 1e12, "away") == 1
    assert outbox.dead_letters()[0].why == "away"


@pytest.mark.parametrize("content", [b"not a database, but a text of some length", b"\x00" * 4096])
def test_a_file_that_is_no_outbox_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "webhooks.sqlite3"
    path.write_bytes(content)
    with pytest.raises(OutboxError, match="the file is damaged; move it away"):
        Outbox(path, service=True)


def test_an_outbox_that_is_not_there_is_not_made_by_a_look(tmp_path: Path) -> None:
    with pytest.raises(OutboxError, match="no outbox"):
        Outbox(tmp_path / "webhooks.sqlite3")
    assert not (tmp_path / "webhooks.sqlite3").exists()
