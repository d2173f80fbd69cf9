"""A daemon whose reply to a recall takes longer than the controller's first timeout."""

from __future__ import annotations

import msgspec
import pytest

from subscribers.carrousel.intake_memory import IntakeRules
from subscribers.carrousel.tables import UNHEARD_AFTER_SECONDS, NodeDirectory, TrackedTable
from tests.support.carrousel.floor import SEED, STAKE, Floor
from tests.support.carrousel.real_events import recall

BOOT, TIME = "b1", "2026-03-20T02:10:13.000000Z"
RULES = IntakeRules(tables=("a",), games=("poker-no-draw",), decree="EUS96", currency="EUR")


def told(seq: int) -> bytes:
    head = {"type": "box.set", "site": "s", "table": "a", "game": "poker-no-draw"}
    place = {"decree": "EUS96", "boot": BOOT, "seq": seq, "time": TIME, "session": 1, "round": 1}
    return msgspec.json.encode({**head, **place})


def linked_table() -> TrackedTable:
    return TrackedTable(table="a", jackpot="linked", topic="novamas/v1/s/a", rules=RULES)


@pytest.mark.parametrize("latency", [0.5, 2.9, 3.1, 3.5, 5.0, 8.0, 20.0, 50.0])
@pytest.mark.parametrize("busy", [False, True], ids=["quiet", "busy"])
def test_the_table_comes_up_to_date(latency: float, busy: bool) -> None:
    """``busy``: an event arrives every second, so that each attempt asks for events after another
    one.
    """
    table = linked_table()
    journal = [told(seq) for seq in range(1, 4)]
    state = {"game": "poker-no-draw", "decree": "EUS96", "boot": BOOT, "seq": 1, "time": TIME}
    table.on_state(msgspec.json.encode(state))
    asked, queue = 0, list[tuple[float, bytes]]()
    for step in range(1200):
        now = step / 4
        while queue and queue[0][0] <= now:
            answer = table.on_reply(queue.pop(0)[1])
            if answer is not None:
                ask, events = answer
                table.up_to_date = not table.intake.on_reply(events, ask, 1.0).ask
        if table.up_to_date:
            break
        if busy and not step % 4:
            journal.append(told(len(journal) + 1))
            table.intake.on_event(journal[-1])
        if not step % 4 and (question := table.next_recall(now, TIME)) is not None:
            asked += 1
            number, ask = question
            events = [msgspec.Raw(each) for each in recall(journal, ask.at.boot, ask.first)]
            reply = {"id": number, "ok": True, "events": events}
            queue.append((now + latency, msgspec.json.encode(reply)))
    assert table.up_to_date
    assert asked <= 10, "each further asking waits longer"


def test_a_table_is_unheard_only_while_a_recall_has_no_reply() -> None:
    table, nodes = linked_table(), NodeDirectory(1.0)
    state = {"game": "poker-no-draw", "decree": "EUS96", "boot": BOOT, "seq": 1, "time": TIME}
    table.on_state(msgspec.json.encode(state))
    status = msgspec.json.encode({"status": "online", "boot": BOOT})
    nodes.on_message("n", "status", status, 0.0, live=False)
    table.on_info(msgspec.json.encode({"boot": BOOT, "about": {"jackpot": "linked"}}))
    table.up_to_date = True
    assert table.out_of_play_reason(nodes, 0.0, "EUR") is None
    for now in (1000.0, 1004.0, 1010.5):  # asked again in between, after hours of silence
        table.next_recall(now, TIME)
        unheard = now - 1000.0 > UNHEARD_AFTER_SECONDS
        assert table.out_of_play_reason(nodes, now, "EUR") == ("unheard" if unheard else None)


def test_a_jackpot_is_in_play_though_its_daemon_answers_late(floor: Floor) -> None:
    floor.controller.stop()
    floor.dealer.coin("poker-1", lost=True)
    floor.dealer.latency = 4.0
    floor.controller.start()
    floor.in_play("poker-1", "poker-2")
    assert floor.state()["value"] == SEED + STAKE * 9 // 10
