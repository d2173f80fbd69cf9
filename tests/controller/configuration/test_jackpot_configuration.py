"""Jackpots in the configuration: all mistakes about them are reported at once."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import pytest

from controller.cli import main, watch, web
from controller.cli.carrousel import carrousel_settings
from controller.configuration import settings
from controller.configuration.file import load
from subscribers.carrousel.self_check import configuration_digest
from subscribers.carrousel.settings import CarrouselSettings, StandbySettings
from subscribers.carrousel.terms import Terms
from tests.controller.configuration.test_configuration import mistakes
from tests.support.for_each import for_each

TABLE = """
[[table]]
id = "{0}"
game = "poker-no-draw"
decree = "EUS96"
simulated = true
{1}
settings = {{ jackpot_stake = 5.00 }}
[[table.device]]
id = "shoe"
driver = "angel-eye"
link = "tcp://127.0.0.1:40{2}"
"""
HEAD = '[site]\nid = "casino"\n[broker]\nurl = "embedded://127.0.0.1:1883"\n'
JACKPOT = """
[[jackpot]]
id = "{0}"
decree = "EUS96"
games = ["poker-no-draw"]
currency = "EUR"
simulated = true
stake = 5.00
seed = 10000.00
[jackpot.authorisation]
number = "7/2026"
date = "2026-01-15"
authority = "Juego"
percentage = [9, 10]
tables = {1}
"""
SOUND = (
    HEAD
    + TABLE.format("poker-1", 'jackpot = "linked"', "01")
    + TABLE.format("poker-2", 'jackpot = "linked"', "02")
    + '[carrousel]\nelsewhere = ["poker-9"]\n'
    + JACKPOT.format("linked", '["poker-1", "poker-2", "poker-9"]')
)


def test_displays_and_the_terminal_show_it(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(SOUND)
    assert web.web_settings(file)["jackpots"] == [{"id": "linked", "simulated": True}]
    parser = argparse.ArgumentParser()
    watch.arguments(parser)
    words = watch.display_words(parser.parse_args([str(file)]))
    assert "--jackpot=linked" in words
    assert "--simulated" in words


def test_a_sound_one_is_read(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(SOUND)
    read = load(file)
    assert read.jackpot[0].authorisation is not None
    assert read.jackpot[0].authorisation.percentage == (9, 10)
    assert read.carrousel.path == str(tmp_path / "carrousel.sqlite3")


@pytest.mark.usefixtures("programs")
def test_terms_against_the_decree_are_reported_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(SOUND)
    assert main(["check", str(file)]) == 0
    told = capsys.readouterr().out
    assert "jackpot linked: progressive, EUS96, EUR, simulated: authorisation 7/2026 of" in told
    file.write_text(SOUND.replace("seed = 10000.00", 'seed = 10.00\nkind = "fixed"'))
    assert main(["check", str(file)]) == 1
    told = capsys.readouterr().err
    assert "jackpot linked: seed = 10.00 is below 10000.00" in told
    assert "jackpot linked: boxes must be 6" in told
    assert "2 errors" in told


def test_a_file_with_jackpots_alone_is_read(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        f'{HEAD}[carrousel]\nelsewhere = ["poker-9"]\n' + JACKPOT.format("linked", '["poker-9"]')
    )
    assert load(file).table == ()


PAIRED = (
    HEAD.replace("embedded://127.0.0.1:1883", "mqtt://broker:1883")
    + '[carrousel]\nelsewhere = ["poker-9"]\nstandby = true\n'
    + JACKPOT.format("linked", '["poker-9"]')
)
STORE = '[standby]\nservers = ["nats://nats-1:4222"]\ninstance = "north"\nlease = 5.0\n'


def test_a_pair_needs_the_store_of_its_lease(tmp_path: Path) -> None:
    (found,) = mistakes(tmp_path, PAIRED)
    assert "carrousel.standby: requires [standby]" in found


def test_a_pair_has_the_store_and_keys_of_its_own(tmp_path: Path) -> None:
    file, keys = tmp_path / "novamas.toml", ["a" * 64, "b" * 64]
    own = f"standby = true\nstandby_keys = {keys}\n".replace("'", '"')
    file.write_text(PAIRED.replace("standby = true\n", own) + STORE)
    given = msgspec.convert(carrousel_settings(file), CarrouselSettings)
    assert given.standby == StandbySettings(
        servers=("nats://nats-1:4222",), instance="north", lease=5.0, keys=tuple(keys)
    )
    file.write_text(PAIRED.replace("standby = true\n", "") + STORE)
    assert msgspec.convert(carrousel_settings(file), CarrouselSettings).standby is None


def test_both_machines_of_a_pair_have_one_digest_of_their_settings(tmp_path: Path) -> None:
    digests = set()
    for name in ("north", "south"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "novamas.toml"
        file.write_text(PAIRED + STORE.replace("north", name))
        digests.add(
            configuration_digest(msgspec.convert(carrousel_settings(file), CarrouselSettings))
        )
    assert len(digests) == 1


def test_all_mistakes_about_jackpots_are_reported_at_once(tmp_path: Path) -> None:
    wrong = (
        HEAD
        + TABLE.format("poker-1", 'jackpot = "linked"', "01")
        + TABLE.format("poker-2", 'jackpot = "linkd"', "02")
        + TABLE.format("poker-3", 'jackpot = "linked"', "03").replace("simulated = true\n", "")
        + TABLE.format("poker-4", 'jackpot = "linked"', "04")
        + '[carrousel]\nelsewhere = ["poker-1"]\nnode = "node-1"\nrecall_key = "k"\n'
        + JACKPOT.format("linked", '["poker-1", "poker-2", "poker-3", "poker-8"]')
        + JACKPOT.format("second", '["poker-1"]').replace("EUS96", "BAL05")
        + JACKPOT.format("second", "[]").replace('"poker-no-draw"', '"poker-draw-house"')
    )
    told = "\n".join(mistakes(tmp_path, wrong))
    for what in (
        "table[1].jackpot: no jackpot 'linkd'; did you mean `linked`?",
        "table[3].jackpot: the authorisation of linked does not name poker-4",
        "carrousel.elsewhere[0]: poker-1 is a table of this file; remove it here",
        "carrousel.node: 'node-1' is the daemon's own node; choose another id",
        "carrousel.recall_key: `recall_passphrase_file` or `recall_passphrase_credential` is",
        'jackpot[0].authorisation.tables[1]: poker-2 does not know it; set jackpot = "linked"',
        "jackpot[0].authorisation.tables[2]: poker-3 is not simulated, the jackpot simulated",
        "jackpot[0].authorisation.tables[3]: no table 'poker-8'",
        "jackpot[1].authorisation.tables[0]: poker-1 is of linked too; a table has one jackpot",
        "jackpot[1].authorisation.tables[0]: poker-1 plays under EUS96, the jackpot under BAL05",
        "jackpot[2].id: another jackpot has the id second too",
        "jackpot[2].authorisation.tables: no table is linked; name the tables",
    ):
        assert what in told


@for_each(
    ("line", "place"),
    [
        ('currency = "euro"', "currency"),
        ("stake = -1", "stake"),
        ("shown = 86401", "shown"),
        ("reserve = [1]", "reserve"),
        ('kind = "mixed"', "kind"),
        ("colour = 1", "colour"),
    ],
)
def test_a_wrong_value_is_reported_with_its_place(tmp_path: Path, line: str, place: str) -> None:
    name = line.partition(" ")[0]
    kept = "".join(each + "\n" for each in JACKPOT.splitlines() if not each.startswith(f"{name} ="))
    text = f'{HEAD}[carrousel]\nelsewhere = ["poker-9"]\n' + kept.replace(
        "[jackpot.authorisation]", f"{line}\n[jackpot.authorisation]"
    ).format("linked", '["poker-9"]')
    [mistake] = mistakes(tmp_path, text)
    assert f"jackpot[0].{place}" in mistake


def test_the_configuration_has_the_fields_of_the_terms() -> None:
    own = {
        field.name: (field.default, str(field.required))
        for field in msgspec.structs.fields(settings.JackpotConfig)
        if field.name not in ("id", "title", "simulated")
    }
    assert own == {
        field.name: (field.default, str(field.required))
        for field in msgspec.structs.fields(Terms)
        if field.name != "jackpot"
    }


def test_out_of_play_agrees_between_a_table_and_its_jackpot(tmp_path: Path) -> None:
    marks = SOUND.replace("jackpot_stake = 5.00", 'jackpot_stake = 5.00, out_of_play = "mark"', 1)
    assert [mistake.partition(": ")[2] for mistake in mistakes(tmp_path, marks)] == [
        (
            "jackpot[0].authorisation.tables[0]: poker-1 has out_of_play = 'mark', the jackpot "
            "'refuse'; set both as the authorisation says"
        )
    ]
    both = marks.replace('games = ["poker', 'out_of_play = "mark"\ngames = ["poker')
    assert "poker-2 has out_of_play = 'refuse'" in "".join(mistakes(tmp_path, both))


SIGN = '[[sign]]\nport = "/dev/ttyUSB0"\n'


@pytest.mark.parametrize(
    ("sign", "message"),
    [
        (
            'jackpot = "linkd"\nsimulated = true',
            "sign[0].jackpot: no jackpot 'linkd'; did you mean `linked`?",
        ),
        (
            'jackpot = "linked"',
            "sign[0].simulated: linked is of simulated tables; set `simulated` as it has it",
        ),
    ],
)
def test_a_sign_shows_a_configured_jackpot(tmp_path: Path, sign: str, message: str) -> None:
    [mistake] = mistakes(tmp_path, f"{SOUND}{SIGN}{sign}\n")
    assert mistake.endswith(f": {message}")
    file = tmp_path / "novamas.toml"
    file.write_text(f'{SOUND}{SIGN}jackpot = "linked"\nsimulated = true\n')
    assert len(load(file).sign) == 1
