"""What the questions of setup are made of. Pure: no input or output."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from common.contract.messages.messages import LANGUAGES
from controller.setup.facts import Facts
from controller.setup.words import say, words

Kind = Literal["text", "choice", "device", "secret", "new_secret", "live"]
"""``choice``: one of the choices, ``device``: one of them or any address; ``secret``: not shown;
``new_secret``: typed twice; ``live``: yes or no to what a device shows.
"""
SIMULATED = "simulated"
NONE = "-"
"""Answer to a question that may be left out."""
YES = ("y", "yes", "true")
MAX_SLUG = 48


class WrongAnswerError(Exception):
    """An answer cannot be accepted. ``key``: of the text that says why. ``value``: what it means,
    if the same answer again is accepted.
    """

    def __init__(self, key: str, value: Any = None, /, **fields: object) -> None:
        super().__init__(key)
        self.key, self.value, self.fields = key, value, fields

    def text(self, language: str) -> str:
        """Return what is wrong, in a language."""
        return say(f"wrong.{self.key}", language, **self.fields)


class Choice(NamedTuple):
    """A possible answer. ``label``: a text's key, or the text itself."""

    value: str
    label: str

    def text(self, language: str) -> str:
        """Return the label in a language."""
        return say(self.label, language) if self.label in words() else self.label


class Answers(NamedTuple):
    """The answers so far, seen from a question. ``table``: the number of the table that the
    question is about.
    """

    given: Mapping[str, Any]
    facts: Facts
    table: int = 0

    def get(self, name: str) -> Any:
        """Return an answer: that of this table, or of the site."""
        return self.given.get(f"table.{self.table}.{name}", self.given.get(name))

    def tables(self) -> list[str]:
        """Return the ids of all tables: those of the file first."""
        existing = self.facts.existing.table if self.facts.existing else ()
        named = [value for key, value in self.given.items() if key.endswith(".table_name")]
        return list(dict.fromkeys((*(table.id for table in existing), *named)))

    def is_real(self) -> bool:
        """Whether any table has a real device."""
        existing = self.facts.existing.table if self.facts.existing else ()
        named = set(self.of_tables("table_name"))
        return any(not table.simulated for table in existing if table.id not in named) or any(
            link != SIMULATED for link in self.of_tables("table_device")
        )

    def of_tables(self, name: str) -> list[str]:
        """Return the answers to a question about each table."""
        return [str(value) for key, value in self.given.items() if key.endswith(f".{name}")]


class QuestionRow(NamedTuple):
    """One row of the table of questions. ``parse`` returns the meaning of an answer, or raises
    :class:`WrongAnswerError`; ``when``: whether it is asked at all.
    """

    name: str
    kind: Kind
    parse: Callable[[str, Answers], Any]
    default: Callable[[Answers], str] = lambda _: ""
    choices: Callable[[Answers], Sequence[Choice]] = lambda _: ()
    when: Callable[[Answers], bool] = lambda _: True
    fields: Callable[[Answers], Mapping[str, str]] = lambda _: {}


YES_NO = (Choice("yes", "choice.yes"), Choice("no", "choice.no"))


def chosen(text: str, choices: Sequence[Choice]) -> str:
    """Return the choice that is meant: by its number, its value, or the begin of its label in any
    language. Raises :class:`WrongAnswerError`.
    """
    typed = text.casefold()
    if typed.isdecimal() and 0 < int(typed) <= len(choices):
        return choices[int(typed) - 1].value
    for choice in choices:
        if typed == choice.value.casefold():
            return choice.value
    begun = [
        choice.value
        for choice in choices
        if any(choice.text(language).casefold().startswith(typed) for language in LANGUAGES)
    ]
    if len(begun) == 1:
        return begun[0]
    raise WrongAnswerError("choice", text=text, choices=", ".join(each.value for each in choices))


def slug(text: str, _: Answers) -> str:
    """Parse an id. Raises :class:`WrongAnswerError` with one that is near."""
    if not re.fullmatch(rf"[a-z0-9]([a-z0-9-]{{0,{MAX_SLUG - 1}}})", text):
        near = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:MAX_SLUG] or "casino-1"
        raise WrongAnswerError("slug", text=text, near=near)
    return text


def yes(text: str, _: Answers) -> bool:
    return text.casefold() in YES or chosen(text, YES_NO) == "yes"


def as_typed(text: str, _: Answers) -> str:
    return text


def no(_: Answers) -> str:
    return "no"


def yes_by_default(_: Answers) -> str:
    return "yes"


def yes_no(_: Answers) -> Sequence[Choice]:
    return YES_NO
