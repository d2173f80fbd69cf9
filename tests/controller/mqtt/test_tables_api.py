"""The API: whatever a message contains, and whatever fails while it is answered, there is one
answer and the table continues.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from common.contract.refusals import RejectedError
from common.contract.topics import (
    MAX_RESPONSE_TOPIC_BYTES,
    MAX_RESPONSE_TOPIC_LEVELS,
    Topics,
    may_respond_to,
)
from controller.journal.journal import Journal
from controller.mqtt.command_desk import MAX_CORRELATION_BYTES
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import HEALTH_BATCH_TABLES, TablesApi
from tests.controller.tables.test_runner import make_runner
from tests.support.for_each import for_each

REPLY = "novamas/v1/palma/r1/reply"
ORDER = b'{"by":"M. Lasa","role":"table_head","client":"t","id":7}'


def make_api(journal: Journal) -> TablesApi:
    topics = Topics("palma")
    return TablesApi(
        "pit-1",
        "b1",
        topics,
        {"r1": ServedTable(make_runner(journal), topics, {}, 1.0)},
        ("consoles",),
    )


async def test_an_exception_loses_one_command_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_api(journal)
        failing = made._served["r1"].runner

        async def fails(_: object) -> None:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")

        with monkeypatch.context() as patched, structlog.testing.capture_logs() as logs:
            patched.setattr(failing, "execute", fails)
            [answer] = await made.commands.answer(
                "r1", "session-open", IncomingMessage("", ORDER, retain=False)
            )
        told: dict[str, Any] = json.loads(answer.payload)
        assert (answer.topic, told["id"], told["ok"]) == (f"{REPLY}/t", 7, False)
        assert "the daemon failed on this command" in told["error"]
        assert [line["log_level"] for line in logs] == ["error", "info"]
        assert made.commands.refused == 1
        [answer] = await made.commands.answer(
            "r1", "session-open", IncomingMessage("", ORDER, retain=False)
        )
        assert json.loads(answer.payload)["ok"]


async def test_an_exception_reveals_no_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_api(journal)
        covered = made._served["r1"].runner

        async def fails(_: object) -> None:
            raise LookupError("Kh")

        monkeypatch.setattr(covered, "execute", fails)
        monkeypatch.setattr(type(covered.table), "face_down", True)
        with structlog.testing.capture_logs() as logs:
            [answer] = await made.commands.answer(
                "r1", "session-open", IncomingMessage("", ORDER, retain=False)
            )
        assert "Kh" not in f"{logs}{answer}"
        assert "test_tables_api.py" in logs[0]["where"]


async def test_refused_and_discarded_commands_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_api(journal)

        async def refuses(_: object) -> None:
            raise RejectedError("bets_closed")

        monkeypatch.setattr(made._served["r1"].runner, "execute", refuses)
        with structlog.testing.capture_logs() as logs:
            await made.commands.answer(
                "r1",
                "session-open",
                IncomingMessage("", ORDER, retain=False, response_topic="$SYS/x"),
            )
            for _ in range(1000):
                made.commands.discard("r1", "x" * 5000)
        assert (made.commands.refused, made.commands.withheld, made.commands.discarded) == (
            1,
            1,
            1000,
        )
        assert sum("discarded" in line["event"] for line in logs) == 1


async def test_the_log_of_a_quiet_day_has_only_actions_of_people(tmp_path: Path) -> None:
    """A recorder polls four times a minute; only the first refusal of it is logged."""
    recall = IncomingMessage(
        "", b'{"client":"archive","id":1,"boot":"b1","from":1,"to":9}', retain=False
    )
    broken = IncomingMessage(
        "", b'{"client":"archive","id":1,"boot":"b1","from":"x"}', retain=False
    )
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_api(journal)
        with structlog.testing.capture_logs() as logs:
            for _ in range(100):
                await made.commands.answer("r1", "recall", recall)
            await made.commands.answer(
                "r1", "session-open", IncomingMessage("", ORDER, retain=False)
            )
            for _ in range(100):
                await made.commands.answer("r1", "recall", broken)
            await made.commands.answer("r1", "recall", recall)
            await made.commands.answer("r1", "recall", recall)
        assert made.commands.followed == 103
        assert made.commands.refused == 100
    lines = [line for line in logs if line["event"].startswith("command ")]
    assert [(line["event"], line["command"], line.get("by")) for line in lines] == [
        ("command followed", "session-open", json.loads(ORDER)["by"]),
        ("command refused", "recall", None),
        ("command followed", "recall", None),
    ]


@pytest.mark.parametrize("size", [0, MAX_CORRELATION_BYTES, MAX_CORRELATION_BYTES + 1])
async def test_correlation_data_is_bounded(tmp_path: Path, size: int) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        asked = IncomingMessage(
            "", b"{}", retain=False, response_topic="consoles/7", correlation=b"x" * size
        )
        answers = await make_api(journal).commands.answer("r1", "session-open", asked)
        assert [(answer.topic, answer.answers) for answer in answers] == (
            [("consoles/7", b"x" * size)] if size <= MAX_CORRELATION_BYTES else []
        )


@for_each(
    ("topic", "allowed"),
    [
        (f"{REPLY}/desk", True),
        (f"{REPLY}/desk/7", True),
        ("consoles/7", True),
        ("consoles/ñ", True),
        ("consoles", False),
        ("consolesheet/7", False),
        ("/consoles/7", False),
        (f"{REPLY}", False),
        (f"{REPLY}/+", False),
        (f"{REPLY}/#", False),
        (f"{REPLY}/a#b", False),
        (f"{REPLY}/a\0", False),
        (f"{REPLY}/a\n", False),
        (f"{REPLY}/\ufeff", False),
        (f"{REPLY}/\ufffe", False),
        (f"{REPLY}/\u0085", False),
        (f"{REPLY}/{'a' * MAX_RESPONSE_TOPIC_BYTES}", False),
        (f"{REPLY}/{'ñ' * (MAX_RESPONSE_TOPIC_BYTES // 2)}", False),
        (f"{REPLY}/{'a/' * MAX_RESPONSE_TOPIC_LEVELS}", False),
        ("novamas/v1/palma/r2/reply/desk", False),
        ("novamas/v1/palma/r1/result", False),
        ("$SYS/broker", False),
        ("", False),
    ],
)
def test_the_topics_that_an_answer_may_go_to(topic: str, allowed: bool) -> None:
    assert may_respond_to(topic, (REPLY, "consoles")) is allowed


@given(st.text(max_size=300))
def test_any_topic_is_handled(rest: str) -> None:
    topic = f"{REPLY}/{rest}"
    if may_respond_to(topic, (REPLY,)):
        assert not set("+#\0") & set(topic)
        assert len(topic.encode()) <= MAX_RESPONSE_TOPIC_BYTES
        assert topic.count("/") < MAX_RESPONSE_TOPIC_LEVELS


async def test_the_health_of_many_tables_holds_up_nothing_else(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        topics = Topics("palma")
        names = [f"r{number}" for number in range(3 * HEALTH_BATCH_TABLES)]
        places = dict.fromkeys(names, ServedTable(make_runner(journal), topics, {}, 1.0))
        made = TablesApi("pit-1", "b1", topics, places)
        collected = asyncio.create_task(made.health())
        await asyncio.sleep(0)
        assert not collected.done()
        del places[names[0]]
        places["new"] = places[names[1]]
        assert [*await collected] == names[1:]


async def test_commands_wait_while_their_table_is_reloaded(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        places: dict[str, ServedTable] = {}
        topics = Topics("palma")
        places["r1"] = ServedTable(make_runner(journal), topics, {}, 1.0)
        made = TablesApi("pit-1", "b1", topics, places)
        order = IncomingMessage("", ORDER, retain=False)
        before = asyncio.create_task(made.commands.answer("r1", "session-open", order))
        await asyncio.sleep(0)
        await made.commands.pause("r1")
        assert before.done(), "earlier commands are answered first"
        assert places["r1"].runner.table.is_open
        after = asyncio.create_task(made.commands.answer("r1", "session-close", order))
        again = asyncio.create_task(made.commands.answer("r1", "session-close", order))
        await asyncio.sleep(0.01)
        assert not after.done()
        made.detach("r1")
        old = places["r1"].runner
        old.end()
        await old.drain()
        places["r1"] = ServedTable(make_runner(journal), topics, {}, 1.0)
        made.attach("r1")
        made.commands.resume("r1")
        told = [json.loads(each.payload)["ok"] for task in (after, again) for each in await task]
        assert sorted(told) == [False, True], "the new table followed the first of them"
        assert not places["r1"].runner.table.is_open
        assert old.table.is_open
        assert places["r1"].runner.table.seq > old.table.seq, "the numbers continue"
        await made.commands.pause("r1")
        late = asyncio.create_task(made.commands.answer("r1", "session-open", order))
        await asyncio.sleep(0.01)
        made.detach("r1")
        del places["r1"]
        made.commands.resume("r1")
        assert await late == []
        assert made.topic("r1", "event") == "novamas/v1/palma/r1/event"
