"""A machine that setup can be asked about, without ports, programs or devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from controller.cli.setup import facts_of
from controller.setup.facts import Facts, FoundDevice
from controller.setup.interview import Interview

WHEEL = FoundDevice("serial:///dev/ttyUSB7?baud=9600", "cammegh-ss2", "9600 baud, cammegh-ss2")
PASSPHRASE = "una frase muy larga"
ANSWERS = {"site": "casino-prueba", "decree": "ARA02", "inspector_name": "A. Riera"}
ANSWERS |= {
    "inspector_badge": "4711",
    "inspector_pin": "271828",
    "table.0.table_device": "simulated",
}
ANSWERS |= {"inspector_passphrase": PASSPHRASE, "broker_url": "mqtt://broker:1883"}


def facts(file: Path, **changed: Any) -> Facts:
    """What there is in the folder of the file; every address and port is good."""
    looked = facts_of(file)
    known: dict[str, Any] = {
        "has_mosquitto": True,
        "link_problem": lambda _: None,
        "broker_problem": lambda _: None,
        "port_problem": lambda *_: None,
        "identify": lambda _: None,
    }
    for name, value in (known | changed).items():
        setattr(looked, name, value)
    return looked


def answered(asked: Facts, **answers: str) -> dict[str, Any]:
    """The answers of a person who takes the defaults otherwise. Two underscores are a dot."""
    given = ANSWERS | {name.replace("__", "."): text for name, text in answers.items()}
    interview = Interview(asked)
    while (question := interview.question) is not None:
        interview.answer(given.get(question.id, ""))
    return interview.given
