"""Every program of the project at a real Mosquitto with exactly the rules of ``novamas acl``: the
broker denies none of them anything. It throws out a client that publishes what it may not.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from common.contract.topics import Topics
from tests.daemon.test_broker_access import PASSWORD, USERS, by_file, rules
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.carrousel.floor import Controller, terms
from tests.support.daemon.play import HEAD, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import running as ran
from tests.support.surveillance.recorder import Recorder
from tests.support.waiting import until
from tests.support.web.server import WebServer

SUBSCRIBER = Path(__file__).parents[2] / "examples" / "subscriber.py"
ABSENT = """
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:1"
"""


@pytest.mark.parametrize(
    ("tables", "jackpot_simulated"),
    [
        ({"r1": True}, True),
        ({"r1": False}, False),
        ({"r1": False, "r2": True}, False),
        # jackpots and screens for tables of another daemon, which these rules do not name
        ({"r1": False}, True),
        ({"r1": True}, False),
    ],
    ids=["simulated", "real", "both", "real, simulated jackpot", "simulated, real jackpot"],
)
def test_no_program_is_denied_anything(
    tables: dict[str, bool],
    jackpot_simulated: bool,
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tell: Callable[[str, Callable[[], str]], None],
) -> None:
    broker = Mosquitto(tmp_path / "guarded")
    password = tmp_path / "password"
    password.write_text(f"{PASSWORD}\n")
    password.chmod(0o600)

    def login(user: str) -> dict[str, Any]:
        return {
            "url": f"mqtt://127.0.0.1:{broker.port}",
            "username": USERS[user],
            "password_file": str(password),
        }

    text = configuration(
        broker.port,
        *(table(name, wheel, simulated=simulated) for name, simulated in [*tables.items()][:1]),
        *(
            table(name, None, simulated=simulated, settings=ABSENT)
            for name, simulated in [*tables.items()][1:]
        ),
        broker=f'username = "{USERS["daemon"]}"\npassword_file = "{password}"',
    )
    text += f'\n[archive]\nusername = "{USERS["surveillance"]}"\npassword_file = "{password}"\n'
    running = daemon(text)
    broker.configure(*by_file(tmp_path, rules(running.file, "mosquitto", capsys)), "log_type debug")
    ending.callback(broker.kill)
    broker.start()
    topics = Topics("palma", tables["r1"])

    ending.callback(tell, "log of the broker", broker.log)
    recorder = Recorder(running.file)
    ending.callback(recorder.kill)
    shown = {**tables, "elsewhere": jackpot_simulated}
    webs = []
    for user in ("display", "console"):
        webs.append(
            WebServer(
                tmp_path / user, broker.port, [*shown.items()], site="palma", broker=login(user)
            )
        )
        ending.callback(webs[-1].kill)
    controller = Controller(
        tmp_path / "carrousel",
        broker.port,
        jackpots=[
            {
                "terms": terms("poker-1"),
                "title": {"es": "carrusel"},
                "simulated": jackpot_simulated,
            }
        ],
        site="palma",
        broker=login("carrousel"),
    )
    ending.callback(tell, "log of the controller", controller.log)
    ending.callback(controller.kill)
    admin = subscribe(broker.port, "#", username="admin", password=PASSWORD)
    for each in (running, recorder, controller):
        each.start()
    words: list[str | Path] = [
        SUBSCRIBER,
        "--port",
        str(broker.port),
        "--site",
        "palma",
        "--count",
        "2",
    ]
    words += ["--username", USERS["integrator"], "--password-file", password]
    words += ["--simulated"] if tables["r1"] else []
    with ran([sys.executable, *words], stdout=subprocess.PIPE, text=True) as integrator:
        until_up(admin, running, topics.table("r1", "")[:-1])
        until("the recorder", lambda: admin.latest("node/surveillance/status"), recorder.log)
        until("the controller", lambda: _jackpot_told(admin), controller.log)
        console = subscribe(
            broker.port,
            topics.table("r1", f"reply/{USERS['console']}"),
            username=USERS["console"],
            password=PASSWORD,
        )
        for number, name in enumerate(("session-open", "session-close"), 1):
            order = {**HEAD, "client": USERS["console"], "id": number}
            console.publish(topics.table("r1", f"command/{name}"), order)
        until("answers", lambda: console.on(f"/reply/{USERS['console']}")[1:], running.log)
        output, _ = integrator.communicate(timeout=120)
        assert len(output.splitlines()) == 2
    until("they are kept", lambda: len(recorder.events()) >= 2, recorder.log)
    for web in webs:
        web.hears()
    assert admin.latest("node/surveillance/status")["status"] == "online"
    denied = [line for line in broker.log().splitlines() if "denied" in line.lower()]
    assert denied == []


def _jackpot_told(subscriber: Subscriber) -> bool:
    return any(
        "/jackpot/" in message.topic and message.topic.endswith("/state")
        for message in subscriber.messages
    )
