"""The questions about the site: first those before the tables, then those after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from common.contract.messages.messages import LANGUAGES
from common.people.pin_key import PinKeyError, check_pin
from common.people.private_key import MIN_PASSPHRASE_BYTES
from controller.configuration.listening import address, is_loopback
from controller.rulebooks.chapters import decrees, head
from controller.setup.facts import Facts
from controller.setup.model import (
    NONE,
    Answers,
    Choice,
    QuestionRow,
    WrongAnswerError,
    as_typed,
    chosen,
    slug,
    yes,
    yes_by_default,
    yes_no,
)

DEFAULT_WEB = "127.0.0.1:8080"
DEFAULT_LISTEN = "127.0.0.1:1883"
MAX_NAME, MAX_BADGE = 64, 32
PORTS = range(1, 65536)


def _decree(text: str, answers: Answers) -> str:
    return chosen(text, _decrees(answers))


def _decrees(_: Answers) -> list[Choice]:
    return [Choice(decree, head(decree).title) for decree in decrees()]


def _languages(text: str, _: Answers) -> tuple[str, ...]:
    languages = tuple(dict.fromkeys(text.replace(",", " ").casefold().split()))
    for language in languages:
        if language not in LANGUAGES:
            raise WrongAnswerError("choice", text=language, choices=", ".join(LANGUAGES))
    return languages


BROKERS = tuple(Choice(name, f"choice.{name}") for name in ("embedded", "mosquitto", "address"))


def _broker(text: str, answers: Answers) -> str:
    name = chosen(text, BROKERS)
    if name == "mosquitto" and not answers.facts.has_mosquitto:
        raise WrongAnswerError("no_mosquitto")
    return name


def _usual_broker(answers: Answers) -> str:
    facts = answers.facts
    if facts.existing is not None:
        if facts.existing.broker.url.startswith("embedded:"):
            return "embedded"
        return "mosquitto" if mosquitto_listens(facts) else "address"
    return "mosquitto" if facts.is_service and facts.has_mosquitto else "embedded"


def mosquitto_listens(facts: Facts) -> str | None:
    """Return where the Mosquitto listens that an earlier setup configured, or None."""
    from controller.setup.mosquitto import listener_of, place

    return listener_of(place(facts).conf)


def _broker_url(text: str, answers: Answers) -> str:
    parts = urlsplit(text)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname or port is None:
        raise WrongAnswerError("url", text=text)
    if answers.facts.broker_problem(text) is not None:
        raise WrongAnswerError("unreachable", text, text=text)
    return text


def _listen(text: str, answers: Answers, existing: str | None) -> str:
    try:
        host, port = address(text)
    except ValueError:
        raise WrongAnswerError("listen", text=text) from None
    if port not in PORTS:
        raise WrongAnswerError("listen", text=text)
    if text != existing and (why := answers.facts.port_problem(host, port)):
        free = (each for each in PORTS[port:] if answers.facts.port_problem(host, each) is None)
        near = f"{text.rpartition(':')[0]}:{next(free, port)}"
        raise WrongAnswerError("held", text, text=text, why=why, near=near)
    return text


def _broker_listen(text: str, answers: Answers) -> str:
    facts = answers.facts
    # Debian's Mosquitto, which setup restarts, may listen there now
    restarted = answers.get("broker") == "mosquitto" and facts.is_service and facts.has_systemd
    return _listen(text, answers, text if restarted else _listens_now(answers))


def _listens_now(answers: Answers) -> str | None:
    """Return where the chosen broker listens by the existing files, or None."""
    if answers.get("broker") == "mosquitto":
        return mosquitto_listens(answers.facts)
    existing = answers.facts.existing
    url = existing.broker.url if existing is not None else ""
    return url.removeprefix("embedded://") if url.startswith("embedded://") else None


def _free_listen(answers: Answers) -> str:
    """Return where the broker listens now, else the usual port or the next that is free."""
    if (now := _listens_now(answers)) is not None:
        return now
    host, first = address(DEFAULT_LISTEN)
    problem = answers.facts.port_problem
    free = (port for port in range(first, first + 1000) if problem(host, port) is None)
    return f"{host}:{next(free, first)}"


def _web(text: str, answers: Answers) -> str:
    if text == NONE:
        return text
    existing = answers.facts.existing
    listen = _listen(text, answers, existing.web.listen if existing else None)
    has_console = answers.get("inspector") or answers.facts.has_people
    secure = existing is not None and (existing.web.cert_file or existing.web.tls)
    if has_console and not secure and not is_loopback(address(listen)[0]):
        raise WrongAnswerError("web_tls", listen, text=listen)
    return listen


def _inspector(text: str, answers: Answers) -> bool:
    answer = yes(text, answers)
    if not answer and _must_enrol(answers):
        raise WrongAnswerError("needed")
    return answer


def _must_enrol(answers: Answers) -> bool:
    existing = answers.facts.existing
    decided = answers.facts.has_people or (existing is not None and existing.people is not None)
    guarded = answers.get("broker") == "mosquitto" or answers.is_real()
    return answers.get("broker") != "embedded" and guarded and not decided


def _person_name(text: str, _: Answers) -> str:
    from common.people.names import has_direction_marks

    if len(text) > MAX_NAME or not text.isprintable() or has_direction_marks(text):
        raise WrongAnswerError("name", why=ascii(text[:MAX_NAME]))
    return text


def _badge(text: str, _: Answers) -> str:
    if len(text) > MAX_BADGE or not text.isprintable():
        raise WrongAnswerError("badge")
    return text


def _pin(text: str, _: Answers) -> str:
    try:
        check_pin(text)
    except PinKeyError:
        raise WrongAnswerError("pin") from None
    return text


def _passphrase(text: str, answers: Answers) -> str:
    if len(text.encode()) < MIN_PASSPHRASE_BYTES:
        raise WrongAnswerError("passphrase")
    if answers.facts.has_people and (name := answers.facts.key_problem(text)):
        raise WrongAnswerError("site_key", text=name)
    return text


def _enrols(answers: Answers) -> bool:
    return bool(answers.get("inspector"))


def _at_address(answers: Answers) -> bool:
    return bool(answers.get("broker") == "address")


def _of_existing(*path: str, otherwise: str = "") -> Callable[[Answers], str]:
    """Return a default: a value of the existing configuration."""

    def default(answers: Answers) -> str:
        value: Any = answers.facts.existing
        for name in path:
            value = getattr(value, name, None)
        return str(value) if value else otherwise

    return default


def _languages_now(answers: Answers) -> str:
    existing = answers.facts.existing
    own = existing.site.languages if existing and existing.site.languages else None
    return " ".join(own or head(answers.get("decree")).languages)


SITE_ROWS = (
    QuestionRow("site", "text", slug, _of_existing("site", "id")),
    QuestionRow("decree", "choice", _decree, _of_existing("site", "decree"), _decrees),
    QuestionRow("languages", "text", _languages, _languages_now),
)
REST_ROWS = (
    QuestionRow("broker", "choice", _broker, _usual_broker, lambda _: BROKERS),
    QuestionRow("broker_url", "text", _broker_url, _of_existing("broker", "url"), when=_at_address),
    QuestionRow("broker_username", "text", as_typed,
        _of_existing("broker", "username", otherwise=NONE), when=_at_address),
    QuestionRow("broker_password", "secret", as_typed,
        when=lambda answers: _at_address(answers) and answers.get("broker_username") != NONE,
        fields=lambda answers: {"username": str(answers.get("broker_username"))}),
    QuestionRow("broker_listen", "text", _broker_listen, _free_listen,
        when=lambda answers: not _at_address(answers)),
    QuestionRow("inspector", "choice", _inspector,
        lambda answers: "yes" if _must_enrol(answers) else "no", yes_no),
    QuestionRow("inspector_name", "text", _person_name, when=_enrols),
    QuestionRow("inspector_badge", "text", _badge, when=_enrols),
    QuestionRow("inspector_pin", "new_secret", _pin, when=_enrols),
    QuestionRow("inspector_passphrase", "new_secret", _passphrase, when=_enrols),
    QuestionRow("web", "text", _web, _of_existing("web", "listen", otherwise=DEFAULT_WEB)),
    QuestionRow("surveillance", "choice", yes,
        lambda answers: "yes" if "archive" in answers.facts.sections else "no", yes_no),
    QuestionRow("start", "choice", yes, yes_by_default, yes_no),
    QuestionRow("open", "choice", yes, yes_by_default, yes_no,
        when=lambda answers: bool(answers.get("start"))),
)  # fmt: skip
