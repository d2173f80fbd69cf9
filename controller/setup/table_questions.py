"""The questions about each table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.configuration.table_checks import RESERVED_TABLE_IDS, unsuited
from controller.games.games import GAMES
from controller.rulebooks.chapters import games_of
from controller.setup.facts import FoundDevice
from controller.setup.first_file import GAMES as DEFAULT_GAMES
from controller.setup.model import (
    SIMULATED,
    Answers,
    Choice,
    QuestionRow,
    WrongAnswerError,
    chosen,
    no,
    slug,
    yes,
    yes_by_default,
    yes_no,
)
from devices.drivers import driver, driver_names
from devices.links import check_link, driver_scheme

SIMULATED_DRIVER = "cammegh-ss2"


def _table_name(text: str, answers: Answers) -> str:
    name = slug(text, answers)
    if name in RESERVED_TABLE_IDS:
        raise WrongAnswerError("reserved", text=name)
    own = f"table.{answers.table}.table_name"
    if any(
        key.endswith(".table_name") and key != own and value == name
        for key, value in answers.given.items()
    ):
        raise WrongAnswerError("twice", text=name)
    return name


def _free_name(answers: Answers) -> str:
    taken = answers.tables()
    return next(name for n in range(1, 1000) if (name := f"ruleta-{n}") not in taken)


def _devices(answers: Answers) -> list[Choice]:
    used = answers.of_tables("table_device")
    found = [each for each in answers.facts.found if each.link not in used]
    return [
        *(Choice(device.link, f"{device.link}: {device.summary}") for device in found),
        Choice(SIMULATED, "choice.simulated"),
    ]


def _device(text: str, answers: Answers) -> str:
    choices = _devices(answers)
    try:
        link = chosen(text, choices)
    except WrongAnswerError:
        link = text if "://" in text else f"serial://{text}" if text.startswith("/") else ""
        if not link:
            raise
    if link == SIMULATED:
        return link
    own = f"table.{answers.table}.table_device"
    if any(key.endswith(".table_device") and key != own and value == link
           for key, value in answers.given.items()):  # fmt: skip
        raise WrongAnswerError("taken_device", text=link)
    if why := check_link(link):
        raise WrongAnswerError("link", text=link, why=why)
    if why := answers.facts.link_problem(link):
        raise WrongAnswerError("device", link, why=why)
    return link


def device_of(answers: Answers) -> FoundDevice | None:
    """Return the device of a table, as far as it is known what it is."""
    link = answers.get("table_device")
    if link == SIMULATED:
        return FoundDevice(SIMULATED, SIMULATED_DRIVER, "")
    known = next((each for each in answers.facts.found if each.link == link), None)
    if (name := answers.get("table_driver")) is not None:
        return FoundDevice(with_speed(link, name), name, "")
    return known


def with_speed(link: str, name: str) -> str:
    """Return an address with the speed that is usual for a driver, if it has none."""
    line = driver(name).line
    is_serial = link.startswith(("serial:", "rfc2217:"))
    return f"{link}?{line}" if line and is_serial and "?" not in link else link


def _drivers(answers: Answers) -> list[Choice]:
    link = answers.get("table_device")
    scheme = driver_scheme(link)
    fitting = [driver(name) for name in driver_names() if driver(name).scheme == scheme]
    return [Choice(each.name, each.title) for each in fitting if each.described is None]


def _unknown(answers: Answers) -> bool:
    link = answers.get("table_device")
    return link != SIMULATED and all(each.link != link for each in answers.facts.found)


def _games(answers: Answers) -> list[Choice]:
    device = device_of(answers)
    assert device is not None
    return [
        Choice(game, game)
        for game in games_of(answers.get("decree"))
        if game in GAMES and unsuited(driver(device.driver), device.driver, game) is None
    ]


def _game(answers: Answers) -> str:
    device, games = device_of(answers), [choice.value for choice in _games(answers)]
    existing = _existing_table(answers)
    assert device is not None
    usual = (driver(device.driver).games or (DEFAULT_GAMES.get(driver(device.driver).kind),))[0]
    likely = [existing.game if existing else None, usual]
    return next((game for game in likely if game in games), games[0] if games else "")


def _existing_table(answers: Answers) -> Any:
    tables = answers.facts.existing.table if answers.facts.existing else ()
    return next((table for table in tables if table.id == answers.get("table_name")), None)


def _existing_device(answers: Answers) -> str:
    table = _existing_table(answers)
    if table is not None:
        return SIMULATED if table.simulated else table.device[0].link if table.device else ""
    choices = _devices(answers)
    return choices[0].value if len(choices) > 1 else ""


def _live(text: str, answers: Answers) -> bool:
    if not yes(text, answers):
        raise WrongAnswerError("not_this")
    return True


def _table_fields(answers: Answers) -> Mapping[str, str]:
    return {
        "table": str(answers.get("table_name")),
        "link": str(answers.get("table_device")),
        "tables": ", ".join(answers.tables()),
    }


TABLE_ROWS = (
    QuestionRow("table_name", "text", _table_name, _free_name),
    QuestionRow("table_device", "device", _device, _existing_device, _devices,
        fields=_table_fields),
    QuestionRow("table_driver", "choice", lambda text, answers: chosen(text, _drivers(answers)),
        choices=_drivers, when=_unknown, fields=_table_fields),
    QuestionRow("table_check", "live", _live, yes_by_default, yes_no,
        lambda answers: answers.get("table_device") != SIMULATED and not _unknown(answers),
        _table_fields),
    QuestionRow("table_game", "choice", lambda text, answers: chosen(text, _games(answers)),
        _game, _games, fields=_table_fields),
    QuestionRow("table_more", "choice", yes, no, yes_no, fields=_table_fields),
)  # fmt: skip
