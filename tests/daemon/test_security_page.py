"""The steps of docs/inspector/people.md for a newcomer, line by line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.people.private_key import make_private_key
from controller.cli import main
from tests.common.people.test_private_key import LEAST
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

PAGE = (Path(__file__).parents[2] / "docs" / "inspector" / "people.md").read_text(encoding="utf-8")
ASK = ("people key", "people add", "people revoke", "people rotate", "people sign", "send")
"""What asks for a passphrase."""


def blocks(heading: str) -> list[list[str]]:
    """The commands of a section, block by block."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return [text.splitlines() for language, text in fenced if not language]


class Newcomer:
    """Types commands, and knows what was printed."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.words = folder / "words"
        self.words.touch(mode=0o600)
        self.words.write_text("what only they know\n")
        self.public: dict[str, str] = {}
        self._capsys = capsys

    def types(self, line: str, status: int = 0) -> tuple[str, str]:
        """The line in a shell, with the passphrase in a file."""
        typed, _, into = self.filled(line).partition(" > ")
        program, *words = shlex.split(typed)
        assert program == "novamas"
        if any(line.startswith(f"novamas {each}") for each in ASK):
            words += ["--passphrase-file", str(self.words)]
        self._capsys.readouterr()
        assert main(words) == status, (line, self._capsys.readouterr())
        output = self._capsys.readouterr()
        if into:
            Path(into).write_text(output.out)
        if words[:2] == ["people", "key"]:
            self.public[words[2].removesuffix(".key").upper()] = json.loads(output.out)["public"]
        return output.out, output.err

    def filled(self, text: str) -> str:
        for name, key in self.public.items():
            text = text.replace(f"PUBLIC-OF-{name}", key)
        return text


def test_the_way_to_the_first_signed_command(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    # the cost of guessing a passphrase is tested in tests/common/people/test_private_key.py
    monkeypatch.setattr(make_private_key, "__defaults__", LEAST)
    newcomer = Newcomer(tmp_path, capsys)
    keys, enrolments, check, commands, proofs = blocks("From nothing to the first signed command")
    for line in (*keys, *enrolments):
        newcomer.types(line)
    (people,) = re.findall(r"^```toml\n(\[people\].*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    text = configuration(
        mosquitto.port, table("ruleta-1", wheel), people=newcomer.filled(people)
    ).replace('"palma"', '"casino-mayor"')
    running = daemon(text)
    newcomer.types(check[0])
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running, "novamas/v1/casino-mayor/ruleta-1")

    opened, closed = commands
    reply, _ = newcomer.types(opened)
    assert json.loads(reply)["ok"] is True
    reply, told = newcomer.types(closed, status=3)
    assert json.loads(reply)["refusal"]["key"] == "role_not_allowed"
    (quoted,) = re.findall(r"exits with 3:\s+`(.*?)`", PAGE)
    assert quoted in told
    export, audit = proofs
    # a refusal is published at once, and stored soon after
    until("the refusal is stored", lambda: "command.refused" in newcomer.types(export)[0])
    running.kill()
    running.start()
    until_up(subscriber, running, "novamas/v1/casino-mayor/ruleta-1")
    reply, told = newcomer.types(closed.replace("riera", "lasa"))
    assert (json.loads(reply)["ok"], "the daemon has just started" in told) == (True, True)
    assert running.stop() == 0

    entries = [json.loads(line) for line in newcomer.types(export)[0].splitlines()]
    said: list[dict[str, Any]] = [
        entry["body"] for entry in entries if entry["kind"] == "input" and "signed" in entry["body"]
    ]
    assert [(event["type"], event["by"], event.get("refusal")) for event in said] == [
        ("session.open", "M. Lasa", None),
        ("command.refused", "A. Riera", "role_not_allowed"),
        ("session.close", "M. Lasa", None),
    ]
    assert said[1]["command"] == "session.close"
    assert "2 of 2 commands are signed by enrolled persons" in newcomer.types(f"{audit} --text")[0]

    for line in blocks("What each role may do")[0]:
        assert "session.close" in newcomer.types(line)[0]
    newcomer.types("novamas people key new.key")
    for action in ("list", "rotate", "sign", "revoke"):
        (line,) = re.findall(rf"`(novamas people {action} [^`]*)`", PAGE)
        key = newcomer.public["SITE" if action == "list" else "NEW"]
        line = re.sub(r" \[.*?\]", "", line).replace("PUBLIC", key)
        newcomer.types(line)
