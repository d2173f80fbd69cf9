"""Setup on a terminal, or at the end of a pipe: plain lines, nothing is drawn over."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from getpass import getpass

from common.typed_line import typed_line
from controller.setup.change import FileChange, SetupError
from controller.setup.facts import Facts, FoundDevice
from controller.setup.interview import Interview, Question
from controller.setup.live import DeviceView, LiveDevice
from controller.setup.model import YES_NO, WrongAnswerError, chosen
from controller.setup.plan import SetupPlan, described
from controller.setup.table_questions import device_of
from controller.setup.words import say

BACK = "<"


def ask_all(
    facts: Facts, language: str, listen: Callable[[], Sequence[FoundDevice]]
) -> dict[str, object]:
    """Ask every question and return the answers. ``listen``: finds devices, which takes seconds.
    Raises :class:`SetupError` if the input ends.
    """
    interview = Interview(facts)
    _print(say("say.welcome", language))
    listened = False
    while (question := interview.question) is not None:
        if question.kind == "device" and not listened:
            _print(say("say.listening", language))
            facts.found, listened = tuple(listen()), True
            if not facts.found:
                _print(say("say.none_found", language))
            continue
        text = _ask(question, interview, language)
        if text == BACK:
            interview.back()
            continue
        try:
            interview.answer(text)
        except WrongAnswerError as error:
            _print(error.text(language), "  ")
    return interview.given


def confirm(plan: SetupPlan, language: str) -> bool:
    """Show the plan, and ask whether to carry it out."""
    show(plan, language)
    while True:
        text = _line(f"{say('ask.confirm', language)} [{YES_NO[0].text(language)}] > ")
        try:
            return not text or chosen(text, YES_NO) == "yes"
        except WrongAnswerError as error:
            _print(error.text(language), "  ")


def show(plan: SetupPlan, language: str, *, whole: bool = False) -> None:
    """Print what will be done. ``whole``: the text of new files too."""
    if not plan.changes:
        _print(say("say.unchanged", language))
    else:
        _print(say("say.plan", language))
    for change, text in described(plan.changes):
        print(f"  {change.path} ({kind_of(change, language)})")
        if text and (whole or change.before is not None):
            print("".join(f"    {line}\n" for line in text.splitlines()), end="")
    for step in plan.steps:
        print(f"  {say('say.run', language)}: {' '.join(step.words)}")


def kind_of(change: FileChange, language: str) -> str:
    """Describe what happens to a file."""
    if change.before is not None:
        return say("say.change", language)
    return say("say.secret" if change.is_secret else "say.new", language)


def _ask(question: Question, interview: Interview, language: str) -> str:
    """Print a question and return what is typed."""
    _print(f"\n{question.text(language)}")
    if question.kind == "live":
        return _ask_live(question, interview, language)
    if "secret" in question.kind:
        return _secret(question, language)
    if question.choices == YES_NO:
        choices = "/".join(choice.text(language) for choice in YES_NO)
        shown = next(each.text(language) for each in YES_NO if each.value == question.default)
        return _line(f"{choices} [{shown}] > ")
    for number, choice in enumerate(question.choices, 1):
        label = choice.text(language)
        value = "" if label.startswith(choice.value) else f"{choice.value}  "
        _print(f"{number:>2}  {value}{label}", "  ", "      ")
    default = f"[{question.default}] " if question.default else ""
    return _line(f"{default}> ")


def _ask_live(question: Question, interview: Interview, language: str) -> str:
    """Ask while what the device shows is printed, a line for each change."""
    device = device_of(interview.answers_of(question))
    assert device is not None

    def on_change(shown: DeviceView) -> None:
        print(f"  {shown.text(language)}", flush=True)

    live = LiveDevice(device, on_change)
    try:
        choices = "/".join(choice.text(language) for choice in YES_NO)
        return _line(f"{choices} [{YES_NO[0].text(language)}] > ")
    finally:
        live.close()


def _secret(question: Question, language: str) -> str:
    while True:
        text = _hidden("> ")
        if question.kind != "new_secret" or text == BACK or not text:
            return text
        if _hidden(f"({say('say.again', language)}) > ") == text:
            return text
        _print(say("wrong.again", language), "  ")


def _print(text: str, indent: str = "", hanging: str | None = None) -> None:
    """Print a text. On a terminal its lines are broken between words. ``hanging``: the indent of
    the second and later lines, if it differs.
    """
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for line in text.split("\n"):
        print(
            textwrap.fill(
                line,
                columns,
                initial_indent=indent,
                subsequent_indent=indent if hanging is None else hanging,
                break_long_words=False,
                break_on_hyphens=False,
            ),
            flush=True,
        )


def _hidden(prompt: str) -> str:
    if not sys.stdin.isatty():
        return _line(prompt)
    try:
        return getpass(prompt)
    except EOFError:
        raise SetupError("the input ended before the last question; nothing was written") from None


def _line(prompt: str) -> str:
    try:
        return typed_line(prompt)
    except EOFError:
        raise SetupError("the input ended before the last question; nothing was written") from None
