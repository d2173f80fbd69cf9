"""Answers from a file, for setup without a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from common import places
from common.plain_errors import describe
from common.toml_errors import describe_toml_error
from controller.setup.change import SetupError
from controller.setup.facts import Facts
from controller.setup.interview import Interview
from controller.setup.model import NONE, WrongAnswerError


class AnsweredTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table. ``device``: an address, or ``simulated``; ``driver``: of a device that cannot be
    identified by listening.
    """

    name: str
    game: str = ""
    device: str = "simulated"
    driver: str = ""


class AnsweredInspector(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first inspector. The PIN and the passphrase of the site's key are in files."""

    name: str
    badge: str
    pin_file: str
    passphrase_file: str


class AnswerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answers to all questions; those that are left out have their default, but for the
    decree and the tables. ``broker``: ``embedded``, ``mosquitto`` or an address.
    """

    site: str
    decree: str
    languages: tuple[str, ...] = ()
    broker: str = ""
    broker_listen: str = ""
    broker_username: str = ""
    broker_password_file: str = ""
    web: str = ""
    surveillance: bool = False
    start: bool = True
    open: bool = True
    inspector: AnsweredInspector | None = None
    table: tuple[AnsweredTable, ...] = ()


def answer_all(
    path: Path, facts: Facts, language: str, on_doubt: Callable[[WrongAnswerError], None]
) -> dict[str, Any]:
    """Answer every question from a file. ``on_doubt`` is called with what a person would be asked
    again, such as a broker that does not answer yet; it is kept. Raises :class:`SetupError` with
    the first that has a wrong answer, or none.
    """
    answers = _flat(_read(path), path, facts)
    interview = Interview(facts)
    while (question := interview.question) is not None:
        given = answers.get(question.id, "")
        try:
            _answer(interview, given, on_doubt)
        except WrongAnswerError as error:
            name = _name(question.id)
            raise SetupError(f"{path}: {name}: {error.text(language)}") from None
    return interview.given


def _answer(interview: Interview, text: str, on_doubt: Callable[[WrongAnswerError], None]) -> None:
    try:
        interview.answer(text)
    except WrongAnswerError as error:
        if error.value is None:
            raise
        on_doubt(error)
        interview.answer(text)


def _read(path: Path) -> AnswerFile:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SetupError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SetupError(f"{path}: byte {error.start + 1}: is not UTF-8 text") from None
    try:
        document = places.loads(text)
    except (ValueError, RecursionError) as error:
        found = describe_toml_error(text, error)
        raise SetupError(f"{path}: {found.place}: {found.what}") from None
    try:
        return msgspec.convert(document, AnswerFile)
    except msgspec.ValidationError as error:
        raise SetupError(f"{path}: {describe(error, AnswerFile)}") from None


def _flat(file: AnswerFile, path: Path, facts: Facts) -> Mapping[str, str]:
    """Return the answers by the questions' ids."""
    enrols = file.inspector is not None and file.inspector.name not in facts.enrolled
    is_kind = file.broker in ("", "embedded", "mosquitto")
    answers = {
        "site": file.site,
        "decree": file.decree,
        "languages": " ".join(file.languages),
        "broker": file.broker if is_kind else "address",
        "broker_url": "" if is_kind else file.broker,
        "broker_listen": file.broker_listen,
        "broker_username": file.broker_username or NONE,
        "broker_password": _secret(file.broker_password_file, path),
        "web": file.web,
        "surveillance": _word(file.surveillance),
        "start": _word(file.start),
        "open": _word(file.open),
        "inspector": _word(enrols),
        "table_more": _word(bool(file.table)),
    }
    if (inspector := file.inspector) is not None and enrols:
        answers |= {
            "inspector_name": inspector.name,
            "inspector_badge": inspector.badge,
            "inspector_pin": _secret(inspector.pin_file, path),
            "inspector_passphrase": _secret(inspector.passphrase_file, path),
        }
    for number, table in enumerate(file.table):
        answers |= {
            f"table.{number}.table_name": table.name,
            f"table.{number}.table_device": table.device,
            f"table.{number}.table_driver": table.driver,
            f"table.{number}.table_game": table.game,
            f"table.{number}.table_more": _word(number + 1 < len(file.table)),
        }
    return answers


def _secret(name: str, answers: Path) -> str:
    """Return the secret in a file, which may lie beside the answers. Raises :class:`SetupError`."""
    if not name:
        return ""
    path = answers.parent / name
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise SetupError(f"{path}: {error.strerror}") from None
    if mode & 0o077:
        raise SetupError(f"{path} can be read by others; chmod 600 {path}")
    return text


def _word(answer: bool) -> str:
    return "yes" if answer else "no"


def _name(place: str) -> str:
    """Return how the file names an answer: ``table[0].game`` for ``table.0.table_game``."""
    parts = place.split(".")
    if len(parts) == 1:
        return place
    return f"table[{parts[1]}].{parts[2].removeprefix('table_')}"
