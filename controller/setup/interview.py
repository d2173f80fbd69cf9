"""The interview: asks the questions in order.

It is the same for every front: it has a question, takes an answer as text, and then has the next
one. It does no input or output but through the functions of :class:`Facts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from controller.setup.facts import Facts
from controller.setup.model import SIMULATED, Answers, Choice, Kind, QuestionRow, WrongAnswerError
from controller.setup.site_questions import REST_ROWS, SITE_ROWS
from controller.setup.table_questions import TABLE_ROWS
from controller.setup.words import say


class Question(NamedTuple):
    """A question to a person. ``id``: its place among the answers, as ``table.0.game``."""

    id: str
    row: QuestionRow
    choices: tuple[Choice, ...]
    default: str
    fields: Mapping[str, str]

    @property
    def kind(self) -> Kind:
        """How it is asked."""
        return self.row.kind

    def text(self, language: str) -> str:
        """Return the question in a language."""
        return say(f"ask.{self.row.name}", language, **self.fields)


class Interview:
    """Asks one question after the other. ``given``: the answers, in order."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.given: dict[str, Any] = {}
        self._doubted: tuple[str, str] | None = None

    @property
    def question(self) -> Question | None:
        """The next question; None once all are answered."""
        for place, row, table in self._rows():
            if place not in self.given:
                answers = Answers(self.given, self.facts, table)
                choices, default = tuple(row.choices(answers)), row.default(answers)
                return Question(place, row, choices, default, row.fields(answers))
        return None

    def answer(self, text: str) -> None:
        """Answer the question; nothing: with its default. Raises :class:`WrongAnswerError`."""
        question = self.question
        assert question is not None
        answers = self.answers_of(question)
        text = text if "secret" in question.kind else text.strip()
        text = text or question.default
        if not text:
            raise WrongAnswerError("empty")
        try:
            value = question.row.parse(text, answers)
        except WrongAnswerError as error:
            if error.key == "not_this":
                self.back()
            if error.value is None or self._doubted != (question.id, text):
                self._doubted = question.id, text
                raise
            value = error.value
        self.given[question.id] = value
        if question.row.name == "table_device":
            self._identify(value)

    def answers_of(self, question: Question) -> Answers:
        """Return the answers as the question sees them."""
        return Answers(self.given, self.facts, _table_of(question.id))

    def back(self) -> None:
        """Take the latest answer back."""
        if self.given:
            self.given.popitem()

    def _identify(self, link: str) -> None:
        """Listen at an address that was typed, as at those that were found."""
        if link == SIMULATED or any(each.link == link for each in self.facts.found):
            return
        if (device := self.facts.identify(link)) is not None:
            self.facts.found = (*self.facts.found, device)
            self.given[next(reversed(self.given))] = device.link

    def _rows(self) -> list[tuple[str, QuestionRow, int]]:
        """Return the questions that are asked with these answers, as far as they are known."""
        rows: list[tuple[str, QuestionRow, int]] = [(row.name, row, 0) for row in SITE_ROWS]
        tables = 0
        if self.facts.existing is not None and self.facts.existing.table:
            rows.append(("table_more", TABLE_ROWS[-1], 0))
            more = self.given.get("table_more")
        else:
            more = True
        while more:
            rows += [(f"table.{tables}.{row.name}", row, tables) for row in TABLE_ROWS]
            more = self.given.get(f"table.{tables}.table_more")
            tables += 1
        rows += [(row.name, row, 0) for row in REST_ROWS]
        asked = list[tuple[str, QuestionRow, int]]()
        for place, row, table in rows:
            if place in self.given or row.when(Answers(self.given, self.facts, table)):
                asked.append((place, row, table))
            if place not in self.given and (place, row, table) in asked:
                break
        return asked


def _table_of(place: str) -> int:
    parts = place.split(".")
    return int(parts[1]) if len(parts) > 1 else 0
