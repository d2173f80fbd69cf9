"""The page docs/integrator/webhooks.md, followed to its first POST, and its own checks."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from subscribers.webhooks import lanes, outbox, posting
from subscribers.webhooks.delivery import MAX_ATTEMPTS_ALONE
from tests.support import contract
from tests.support.brokers.mosquitto import free_port
from tests.support.programs import running
from tests.support.waiting import until

PAGE = (contract.INTEGRATOR / "webhooks.md").read_text()
NOVAMAS = (sys.executable, "-c", "import sys; from controller.cli import main; sys.exit(main())")
FOLLOWED = ("init", "simulate", "run", "webhooks secret", "webhooks novamas.toml", "send")
SPIN = 180.0
"""Seconds for a spin of the page's wheel, which takes half a minute, on a starved machine."""


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [block for name, block in found if name == language]


@pytest.mark.usefixtures("programs")
def test_a_reader_who_follows_the_page_gets_every_event_of_a_spin(
    tmp_path: Path, ending: ExitStack, tell: Callable[[str, Callable[[], str]], None]
) -> None:
    ports = {port: str(free_port()) for port in ("1883", "4001", "8090")}

    def text(found: str) -> str:
        return re.sub(r"\b(1883|4001|8090)\b", lambda port: ports[port[0]], found)

    def words(beginning: str) -> list[str]:
        [found] = [each for each in blocks("sh") if each.startswith(f"novamas {beginning}")]
        return [*NOVAMAS, *shlex.split(text(found))[1:]]

    def start(arguments: list[str], log: str) -> None:
        with (tmp_path / log).open("ab") as file:
            ending.enter_context(
                running(arguments, cwd=tmp_path, stdout=file, stderr=subprocess.STDOUT)
            )
        ending.callback(tell, log, (tmp_path / log).read_text)

    init, simulate, run, secret, service, send = map(words, FOLLOWED)
    subprocess.run(init, cwd=tmp_path, check=True)
    subprocess.run(secret, cwd=tmp_path, check=True)
    [hook], [receiver] = blocks("toml"), blocks("python")
    configuration = tmp_path / "novamas.toml"
    configuration.write_text(text(configuration.read_text()) + "\n" + text(hook))
    (tmp_path / "receiver.py").write_text(text(receiver))
    start(simulate, "wheel.log")
    start(run, "daemon.log")
    start([sys.executable, "receiver.py"], "receiver.log")
    start(service, "webhooks.log")
    until("connected", lambda: '"connected"' in (tmp_path / "webhooks.log").read_text())

    def opened() -> bool:
        return subprocess.run(send, cwd=tmp_path, check=False, capture_output=True).returncode == 0

    until("the table is open", opened, (tmp_path / "daemon.log").read_text)
    printed = (tmp_path / "receiver.log").read_text
    [output] = [each for each in blocks("") if each.startswith("mesa-1 session.opened")]
    for line in output.splitlines():
        until(line, lambda line=line: f"{line}\n" in printed(), printed, SPIN)  # type: ignore[misc]
    listed = subprocess.run(
        words("webhooks list"), cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert re.match(r"shop: \d+ waiting(, the oldest since \S+)?, 0 dead\n", listed.stdout)


def test_the_numbers_of_the_page_are_those_of_the_program() -> None:
    page = " ".join(PAGE.split())
    assert f"after {lanes.MIN_RETRY_SECONDS:g} s, then twice as long" in page
    assert f"at most {lanes.MAX_RETRY_SECONDS:g} s" in page
    assert f"complete within {posting.RESPONSE_TIMEOUT_SECONDS:g} s" in page
    assert f"dead letter after {MAX_ATTEMPTS_ALONE} attempts" in page
    assert f"{outbox.MAX_WAITING:,} events wait" in page
    assert f"Of {outbox.MAX_DEAD:,} dead letters" in page
    assert posting.MAX_WAIT_SECONDS == 3600
    refused = ", ".join(map(str, posting.PERMANENT_STATUSES[:-1]))
    assert f"{refused} or {posting.PERMANENT_STATUSES[-1]}" in page


def test_the_notice_of_a_gap_is_json() -> None:
    [notice] = blocks("json")
    assert json.loads(notice).keys() == {"type", "site", "table", "time", "after", "before"}
