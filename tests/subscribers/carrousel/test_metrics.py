"""The controller's metrics, and who may read them."""

from __future__ import annotations

import socket
import urllib.request
from contextlib import closing

import pytest

from common.metrics.endpoint import MAX_REQUEST_BYTES
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from subscribers.carrousel.metrics import FAMILIES, JackpotCounts, StandbyStatus, metric_values
from tests.subscribers.carrousel.conftest import Make
from tests.support.brokers.mosquitto import free_port
from tests.support.carrousel.floor import SEED, STAKE
from tests.support.jackpot import statement
from tests.support.waiting import TIMEOUT_SECONDS, until

RISE = STAKE * 9 // 10


def lines(text: str) -> dict[str, float]:
    """Return the value of each line, by its name without the prefix."""
    return {
        name.removeprefix("novamas_carrousel_"): float(value)
        for name, _, value in (
            line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")
        )
    }


async def test_every_number_has_its_name_and_its_jackpot() -> None:
    counts = JackpotCounts(lag=0.25)
    counts.refused["gran", "role_not_allowed"] += 2
    counts.alerts["gran", 'a "b"\n'] += 1
    given = metric_values(counts, {"gran": statement(123)}, {"gran": 3}, entries=7, connected=True)
    told = lines((await exposition(FAMILIES, given)).decode())
    assert told["ledger_entries"] == 7
    assert told["broker_connected"] == 1
    assert told["lag_seconds"] == 0.25
    assert told['meter_minor_units{jackpot="gran"}'] == 123
    assert told['coins_total{jackpot="gran"}'] == 0
    assert told['alerts_open{jackpot="gran"}'] == 3
    assert told['orders_refused_total{jackpot="gran",reason="role_not_allowed"}'] == 2
    assert told[r'alerts_total{jackpot="gran",what="a \"b\"\n"}'] == 1


async def test_a_controller_of_a_pair_reports_its_term() -> None:
    given = metric_values(
        JackpotCounts(), {}, {}, entries=0, connected=True, standby=StandbyStatus(3, False, True)
    )
    told = lines((await exposition(FAMILIES, given)).decode())
    assert told["standby_term"] == 3
    assert told["standby_unready"] == 1
    alone = metric_values(JackpotCounts(), {}, {}, entries=0, connected=True)
    assert "standby_term" not in lines((await exposition(FAMILIES, alone)).decode())


async def test_a_large_meter_is_published_to_the_cent() -> None:
    given = metric_values(
        JackpotCounts(), {"gran": statement(123_456_789_012)}, {}, entries=0, connected=False
    )
    told = lines((await exposition(FAMILIES, given)).decode())
    assert told['meter_minor_units{jackpot="gran"}'] == 123_456_789_012


@pytest.fixture
def port() -> int:
    return free_port()


def test_a_running_controller_serves_its_metrics(make: Make, port: int) -> None:
    floor = make({"listen": ("127.0.0.1", port)})

    def told() -> dict[str, float]:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_SECONDS
        ) as answer:
            assert answer.headers["Content-Type"] == TEXT_CONTENT_TYPE
            return lines(answer.read().decode())

    floor.in_play("poker-1", "poker-2")
    with closing(socket.create_connection(("127.0.0.1", port))) as rude:
        rude.sendall(b"x" * (MAX_REQUEST_BYTES + 1))  # blocks no client
        floor.dealer.coin("poker-1")
        floor.dealer.coin("poker-2", box=3)
        floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE)
        until("they are counted", lambda: told()['coins_total{jackpot="linked"}'] == 2)
    assert not floor.order("j-croupier", "jackpot.suspend")["ok"]
    now = told()
    assert now['meter_minor_units{jackpot="linked"}'] == SEED + 2 * RISE
    assert now['tables_in_play{jackpot="linked"}'] == 2
    assert now["broker_connected"] == 1
    assert now["ledger_entries"] > 2
    refused = [name for name in now if name.startswith("orders_refused_total")]
    assert sum(now[name] for name in refused) == 1


def test_a_port_in_use_stops_nothing(make: Make) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        floor = make({"listen": taken.getsockname()})
        floor.in_play("poker-1", "poker-2")
        assert "no metrics" in floor.controller.log()
