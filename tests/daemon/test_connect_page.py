"""The page docs/technician/connect-a-wheel.md, followed to its end with a simulated wheel."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from controller.cli import main
from tests.support import contract
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.programs import running
from tests.support.waiting import until

PAGE = (contract.DOCS / "technician" / "connect-a-wheel.md").read_text()
COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
NOVAMAS = (sys.executable, "-c", "import sys; from controller.cli import main; sys.exit(main())")
PORT = "serial:///dev/serial/by-id/NAME?baud=9600"
SPIN = 240.0
"""Seconds for a spin of the wheel, which takes half a minute, on a starved machine."""


@pytest.mark.usefixtures("programs")
def test_the_way_from_the_adapter_to_a_result(
    mosquitto: Mosquitto,
    tmp_path: Path,
    ending: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wheel = f"serial://{tmp_path}/wheel?baud=9600"

    def words(beginning: str) -> list[str]:
        [found] = [each for each in COMMANDS if each.startswith(f"novamas {beginning}")]
        return [*NOVAMAS, *shlex.split(found.replace(PORT, wheel))[1:]]

    def done(beginning: str) -> str:
        return subprocess.run(
            words(beginning), cwd=tmp_path, capture_output=True, text=True, check=True, timeout=SPIN
        ).stdout

    def here(beginning: str) -> str:
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        assert main(words(beginning)[len(NOVAMAS) :]) == 0
        return capsys.readouterr().out

    def start(command: list[str]) -> subprocess.Popen[bytes]:
        with (tmp_path / "log").open("ab") as log:
            return ending.enter_context(
                running(command, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
            )

    simulated = ("simulate", "wheel", "--link", "wheel", "--games-per-hour", "120")
    start([*NOVAMAS, *simulated])
    until("the simulated wheel", lambda: (tmp_path / "wheel").is_symlink())
    done("devices")

    recorder = start(words("record"))
    recording = tmp_path / "wheel.rec"
    # looked at in this process: a program for each look would keep the machine busy for a spin
    until("a spin", lambda: recording.exists() and "wheel.number" in here("decode"), timeout=SPIN)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(SPIN) == 0
    assert "wheel.number" in done("decode")
    assert '"type":"round.' in done("replay")

    done("init")
    file = tmp_path / "novamas.toml"
    text = re.sub(r'^link = ".*"', f'link = "{wheel}"', file.read_text(), flags=re.MULTILINE)
    text = re.sub(
        r'^url = ".*"', f'url = "mqtt://127.0.0.1:{mosquitto.port}"', text, flags=re.MULTILINE
    )
    file.write_text(text)
    done("check")

    start(words("run"))
    until("the broker", lambda: "broker connected" in (tmp_path / "log").read_text())
    subscriber = Subscriber(mosquitto.port, "novamas-sim/v1/casino-prueba/+/result")
    ending.callback(subscriber.close)
    assert words("doctor")[-1] == "novamas.toml"
    assert json.loads(done("send").splitlines()[-1])["ok"] is True
    until(
        "a result",
        lambda: any(
            message.payload and json.loads(message.payload) for message in subscriber.messages
        ),
        timeout=SPIN,
    )


def test_each_topic_of_the_page_is_one_that_results_are_on() -> None:
    [command_line] = [line for line in COMMANDS if line.startswith("mosquitto_sub")]
    topics = re.findall(r"-t '([^']+)'", command_line)
    assert topics == ["novamas/v1/+/+/result", "novamas-sim/v1/+/+/result"]
