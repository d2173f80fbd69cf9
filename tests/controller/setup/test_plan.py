"""From answers to files: sound ones, all or none, and nothing that a person wrote is lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from common.contract.messages.messages import LANGUAGES
from common.people.pin_key import open_pin_key, read_pepper, read_pin_keys
from common.people.register import from_base64url, read_people
from controller.configuration.file import load
from controller.setup import perform
from controller.setup.change import SetupError
from controller.setup.facts import FoundDevice
from controller.setup.interview import Interview
from controller.setup.plan import SetupPlan, make_plan
from controller.setup.words import words
from tests.controller.setup.machine import WHEEL, answered, facts


def set_up(file: Path, asked: Any = None, **answers: str) -> SetupPlan:
    asked = asked or facts(file)
    plan = make_plan(answered(asked, **answers), asked)
    perform.write(plan.changes)
    return plan


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_trial_is_a_table_and_an_embedded_broker(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    plan = set_up(file)
    made = load(file)
    assert [(table.id, table.game, table.simulated) for table in made.table] == [
        ("ruleta-1", "roulette-french", True)
    ]
    assert made.broker.url == "embedded://127.0.0.1:1883"
    assert plan.address == "http://127.0.0.1:8080"
    assert [*everything(tmp_path)] == ["novamas.toml"]


def test_a_site_has_people_passwords_and_rules(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    asked = facts(file, found=(WHEEL,))
    answers = {"broker": "mosquitto", "inspector": "yes", "surveillance": "yes"}
    plan = set_up(file, asked, table__0__table_device="1", **answers)
    made = load(file)
    assert made.table[0].device[0].link == WHEEL.link
    assert not made.table[0].simulated
    assert made.people is not None
    assert made.people.key is not None
    data = (tmp_path / "people.jsonl").read_bytes()
    people = read_people(data, "casino-prueba", from_base64url(made.people.key))
    assert [(each.id, each.roles) for each in people.persons] == [
        ("a-riera", ("inspector",)),
        ("surveillance", ("reader",)),
    ]
    [sealed] = read_pin_keys(tmp_path / "pins")
    key = open_pin_key(sealed, "271828", read_pepper(tmp_path / "secrets" / "web.pepper"))
    assert plan.enrolment is not None
    assert key == plan.enrolment.key
    for path in (*tmp_path.glob("secrets/*"), *tmp_path.glob("*.key"), *tmp_path.glob("pins/*")):
        assert path.stat().st_mode & 0o777 == 0o600, path
    rules = (tmp_path / "mosquitto" / "acl").read_text()
    assert "user display\n" in rules
    hashes = (tmp_path / "mosquitto" / "passwords").read_text()
    for path in tmp_path.glob("secrets/*.password"):
        assert path.read_text().strip() not in hashes


def test_it_can_be_run_again_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    answers = {"broker": "mosquitto", "inspector": "yes", "surveillance": "yes"}
    set_up(file, **answers)
    before = everything(tmp_path)
    again = make_plan(answered(facts(file)), facts(file))
    assert again.changes == ()
    assert set_up(file).changes == ()
    assert everything(tmp_path) == before


def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    set_up(file)
    text = file.read_text()
    text = text.replace('node = "node-1"  ', 'node = "sala"  # ours  ').replace(
        "[web]", "# mine\n[web]"
    )
    file.write_text(text)
    plan = set_up(file, table_more="yes", table__0__table_name="ruleta-2", web="127.0.0.1:8090")
    after = file.read_text()
    assert [table.id for table in load(file).table] == ["ruleta-1", "ruleta-2"]
    changed = [line for line in text.splitlines() if line not in after.splitlines()]
    assert changed == ['listen = "127.0.0.1:8080"']
    assert [change.path for change in plan.changes] == [file]


def test_a_value_that_cannot_be_changed_alone_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    set_up(file)
    text = file.read_text().replace('[web]\nlisten = "127.0.0.1:8080"\n', "")
    file.write_text('web = { listen = "127.0.0.1:8080" }\n' + text)
    before = file.read_bytes()
    with pytest.raises(SetupError, match=r"novamas.toml: line 1: web.listen is written in a form"):
        set_up(file, web="127.0.0.1:8090")
    assert file.read_bytes() == before


def test_a_second_inspector_needs_the_passphrase_of_the_site(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    set_up(file, inspector="yes")
    set_up(file, inspector="yes", inspector_name="M. Lasa", inspector_badge="4712")
    assert {key.person for key in read_pin_keys(tmp_path / "pins")} == {"a-riera", "m-lasa"}
    load(file)
    with pytest.raises(SetupError, match="m-lasa has the badge 4712"):
        set_up(file, inspector="yes", inspector_name="C. Vidal", inspector_badge="4712")


def test_either_all_files_are_written_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "novamas.toml"
    asked = facts(file)
    plan = make_plan(answered(asked, broker="mosquitto", inspector="yes"), asked)
    truly = Path.replace
    left = len(plan.changes) - 1

    def replace(path: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(28, os.strerror(28), str(target))
        return truly(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(SetupError, match="No space left on device; nothing was changed"):
        perform.write(plan.changes)
    assert [*tmp_path.rglob("*")] == []


@pytest.mark.parametrize(
    ("name", "decree", "games"),
    [
        ("angel-eye", "ARA02", {"punto-banca", "blackjack"}),
        ("dice-board", "EUS96", {"craps"}),
        ("fortune-board", "ARA02", {"fortune-wheel"}),
    ],
)
def test_the_games_of_a_device_are_offered_and_are_sound(
    name: str, decree: str, games: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "novamas.toml"
    asked = facts(file, found=(FoundDevice("serial:///dev/ttyUSB7?baud=9600", name, ""),))
    interview = Interview(asked)
    for text in ("casino-prueba", decree, "", "mesa-1", "1", "yes"):
        interview.answer(text)
    assert interview.question is not None
    offered = {choice.value for choice in interview.question.choices}
    assert games <= offered
    for game in offered:
        given = answered(
            asked, decree=decree, table__0__table_device="1", table__0__table_game=game
        )
        make_plan(given, asked)


def test_every_text_is_in_five_languages() -> None:
    for key, texts in words().items():
        assert tuple(sorted(texts)) == tuple(sorted(LANGUAGES)), key
        fields = {
            frozenset(part.split("}")[0] for part in text.split("{")[1:]) for text in texts.values()
        }
        assert len(fields) == 1, key


def test_under_systemd_secrets_are_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.setup.change.CREDENTIALS", tmp_path / "credstore")
    monkeypatch.setattr("controller.setup.mosquitto.CONF_FOLDER", tmp_path / "mosquitto")
    file = tmp_path / "etc" / "novamas.toml"
    file.parent.mkdir()
    asked = facts(file, is_service=True, has_systemd=True)
    answers = {"broker": "mosquitto", "inspector": "yes", "surveillance": "yes"}
    plan = make_plan(answered(asked, **answers), asked)
    by_folder: dict[str, set[str]] = {}
    for change in plan.changes:
        by_folder.setdefault(change.path.parent.name, set()).add(change.path.name)
    assert by_folder["etc"] == {
        "site.key", "people.jsonl", "surveillance-recall.key", "novamas.toml",
    }  # fmt: skip
    assert {"novamas.mqtt.password", "novamas.web.pepper"} < by_folder["credstore"]
    assert by_folder["conf.d"] == {"novamas.conf"}
    rights = {change.path.name: (oct(change.mode), change.group) for change in plan.changes}
    assert rights["novamas.toml"] == ("0o640", "novamas")
    assert rights["site.key"] == ("0o600", None)
    assert rights["a-riera.pin-key"] == ("0o640", "novamas")
    assert rights["novamas.web.pepper"] == ("0o600", None)
    assert plan.configuration.broker.password_credential == "mqtt.password"
    assert plan.configuration.web.pepper_credential == "web.pepper"
    assert [step.words[:2] for step in plan.steps] == [
        ("systemctl", "restart"),
        ("systemctl", "daemon-reload"),
        ("systemd-run", "--collect"),
        ("systemctl", "enable"),
        ("systemctl", "restart"),
    ]
