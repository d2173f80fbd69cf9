"""``novamas webhooks``: keys, dead letters, and what it refuses."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import msgspec
import pytest

from controller.cli import main
from controller.cli.webhooks import settings_of
from controller.configuration.file import load
from subscribers.webhooks import dead_letters
from subscribers.webhooks.__main__ import main as service_main
from subscribers.webhooks.outbox import Outbox
from subscribers.webhooks.signature import read_keys
from tests.subscribers.webhooks.test_outbox import letter


def test_a_key_is_made_once_private_and_changed_beside_the_old_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hook.secret"
    assert main(["webhooks", "secret", str(file), "--change"]) == 1
    assert main(["webhooks", "secret", str(file)]) == 0
    [first] = file.read_text().splitlines()
    assert [f"whsec_{base64.b64encode(key).decode()}" for key in read_keys(str(file))] == [first]
    assert file.stat().st_mode & 0o777 == 0o600
    assert first not in capsys.readouterr().out
    assert main(["webhooks", "secret", str(file)]) == 1
    assert "--change puts a new key beside the one in it" in capsys.readouterr().err
    assert main(["webhooks", "secret", str(file), "--change"]) == 0
    second, old = file.read_text().splitlines()
    assert (old, second == first) == (first, False)
    assert main(["webhooks", "secret", str(file), "--change"]) == 0
    assert file.read_text().splitlines()[1] == second


def test_a_key_that_is_not_valid_is_not_left_beside_a_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hook.secret"
    file.write_text("hunter2\n")
    assert main(["webhooks", "secret", str(file), "--change"]) == 1
    told = capsys.readouterr().err
    assert "move the file away first" in told
    assert "hunter2" not in told


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has 0 keys"),
        (b"hunter2\n", "key 1 is not whsec_"),
        (b"whsec_c2hvcnQ=\n", "has 5 bytes"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_check_and_the_start_refuse_a_key_that_is_not_valid(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    secret, file = tmp_path / "hook.secret", tmp_path / "novamas.toml"
    secret.write_bytes(content)
    file.write_text(
        '[site]\nid = "a"\n[broker]\nurl = "mqtt://127.0.0.1:1"\n[archive]\n'
        '[[webhook]]\nid = "shop"\naddress = "https://shop.example/"\nsecret_file = "hook.secret"\n'
        '[[bookmark]]\nid = "video"\nkind = "webhook"\naddress = "https://v.example/"\n'
        'events = ["round.result"]\nsecret_file = "hook.secret"\n'
    )
    assert main(["check", str(file)]) == 1
    told = capfd.readouterr().err
    for place in ("webhook shop", "bookmark video"):
        assert f"{place}: secret_file: {secret}" in told
    assert told.count(words) == 2
    settings = msgspec.json.encode(settings_of(load(file))).decode()
    assert service_main([f"--settings={settings}"]) == 1
    told = capfd.readouterr().err
    assert str(secret) in told
    assert words in told
    assert "hunter2" not in told


def test_what_is_no_action_and_no_configuration_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["webhooks", "lits"]) == 2
    assert "did you mean `list`?" in capsys.readouterr().err
    file = tmp_path / "novamas.toml"
    file.write_text('[site]\nid = "a"\n[archive]\n[broker]\nurl = "mqtt://127.0.0.1:1"\n')
    assert main(["webhooks", str(file)]) == 1
    assert "no webhook is configured; add [[webhook]]" in capsys.readouterr().err


def test_dead_letters_are_listed_queued_again_and_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "webhooks.sqlite3"
    outbox = Outbox(path, service=True)
    outbox.add([letter(1), letter(2), letter(3, webhook="gone")], {})
    for webhook in ("shop", "gone"):
        first = outbox.next(webhook, "novamas/v1/palma/r1")
        assert first is not None
        outbox.bury(first, "replied 422 unknown table")
    settings = json.dumps({"outbox": str(path), "webhooks": ["shop", "new"]})

    def say(*words: str) -> tuple[int, str]:
        status = dead_letters.main([*words, f"--settings={settings}"])
        told = capsys.readouterr()
        return status, told.out + told.err

    status, listed = say("list")
    assert status == 0
    lines = listed.splitlines()
    assert lines[0].startswith("shop: 1 waiting, the oldest since 20")
    assert lines[0].endswith(", 1 dead")
    assert lines[1:3] == [
        "new: 0 waiting, 0 dead",
        "gone (not in the configuration): 0 waiting, 1 dead",
    ]
    assert lines[3] == "1  shop  novamas/v1/palma/r1/b1/1  round.result  t1"
    assert lines[4].endswith("attempt 1: replied 422 unknown table")
    assert say("retry", "--number", "2")[0] == 1
    assert say("retry", "--number", "1") == (0, "1 queued again\n")
    assert say("drop", "--webhook", "gone") == (0, "1 dropped\n")
    assert say("drop", "--all") == (0, "0 dropped\n")
    assert say("list")[1].startswith("shop: 2 waiting")
