"""The picture of a table, as data: what every game shows, and the game's own ``body``.

It is made anew of what is known, and drawn by the page's script; nothing is decided there. A
picture is ``current`` or has a ``trouble``, never both: what it shows is then of before, and is
drawn grey, with since when and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from controller.contract.events import Announcement
from controller.contract.messages.messages import catalogue, first_of, text, word
from controller.contract.retained import State
from controller.contract.shown import (
    BlackjackShown,
    BouleShown,
    CheminShown,
    CircleDrawShown,
    CirclePokerShown,
    CrapsShown,
    FortuneShown,
    HousePokerShown,
    LinkedJackpot,
    PaiGowShown,
    PuntoBancaShown,
    RouletteShown,
    Shown,
    TexasHouseShown,
    TrenteShown,
    TrijokerShown,
)
from subscribers.display import (
    baccarat,
    boule,
    boxes,
    circle,
    craps,
    fortune,
    roulette,
    trente,
)
from subscribers.display.rounds import Round
from subscribers.display.seen import Seen
from subscribers.meter import out_of_play_text
from subscribers.table_snapshot import STALE_LINK_STATES, Outdated, TableSnapshot


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing of this is current."""

    why: str
    """The word on the wire, or of :class:`Outdated`."""
    text: str
    """The same for a person."""
    since: str | None
    """UTC, ISO 8601; None where it is not known."""
    detail: str | None = None
    """More about it."""


class Word(msgspec.Struct, frozen=True):
    """A word on the wire, and its text."""

    id: str
    text: str


class Called(msgspec.Struct, frozen=True):
    """Words of the decree, and the language that they are in."""

    text: str
    language: str


class Linked(msgspec.Struct, frozen=True):
    """The jackpot that the table is linked with, as the table itself knows it."""

    jackpot: str
    in_play: bool
    why: str | None
    """Why not, for a person; None if it is, or nobody said it."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A round that did not go as others: void, unresolved or corrected."""

    round: int
    kind: Literal["void", "unresolved", "corrected"]
    text: str
    """Which, and why."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One table in one language."""

    table: str
    language: str
    title: Called
    """What the decree calls the game."""
    decree: str
    simulated: bool
    view: str
    """The shape of ``body``: that of ``shown``, empty where nothing is known."""
    current: bool
    trouble: Trouble | None
    status: Word
    phase: Word
    call: Called | None
    """What is called at the table now, in the decree's words."""
    closed: bool
    """That call is *no va más*."""
    session: int | None
    round: int | None
    minimum: int | None
    currency: str | None
    linked: Linked | None
    """None: with none, or the table does not say it."""
    waits: tuple[Word, ...]
    """What the table waits for a person to do."""
    alerts: tuple[Word, ...]
    rounds_left: int | None
    """Valid rounds left before closing, where that was announced."""
    last_of_session: bool
    """The round in progress is the last before closing."""
    notes: tuple[Note, ...]
    """What was unusual of the latest rounds, newest first."""
    result_round: int | None
    """The round whose result ``body`` shows as the last, if it is of this session."""
    body: Any


Body = Callable[[Seen, Any], Any]
"""The body of a picture, of what is seen and the ``shown`` in it."""
BODIES: Mapping[type[Shown], Body] = {
    RouletteShown: roulette.body,
    BouleShown: boule.body,
    FortuneShown: fortune.body,
    CrapsShown: craps.body,
    PuntoBancaShown: baccarat.punto_banca,
    CheminShown: baccarat.chemin,
    TrenteShown: trente.body,
    BlackjackShown: boxes.blackjack,
    HousePokerShown: boxes.house_poker,
    TrijokerShown: boxes.trijoker,
    TexasHouseShown: boxes.texas_house,
    PaiGowShown: boxes.pai_gow,
    CirclePokerShown: circle.body,
    CircleDrawShown: circle.body,
}
RECENT = 3
"""Rounds whose notes are shown: the latest, and those before it."""


def picture(
    known: TableSnapshot, rounds: tuple[Round, ...], outdated: Outdated | None, language: str | None
) -> Picture:
    """The picture of a table. ``language``: None for that of its decree."""
    about = None if known.info is None else known.info.about
    chosen = language or first_of(() if about is None else about.languages)
    state = known.state
    trouble = trouble_of(known, rounds, outdated, chosen)
    shown = None if state is None else state.shown
    status = "unknown" if state is None else state.status
    phase = "unknown" if shown is None else shown.phase
    last = known.result
    return Picture(
        table=known.table,
        language=chosen,
        title=called({} if about is None else about.title, chosen) or Called(known.table, chosen),
        decree="" if state is None else state.decree,
        simulated=known.simulated,
        view="" if shown is None else str(shown.__struct_config__.tag),
        current=trouble is None,
        trouble=trouble,
        status=Word(status, word("status", status, chosen)),
        phase=Word(phase, word("phase", phase, chosen)),
        call=called(known.announcement, chosen) if trouble is None else None,
        closed=trouble is None and known.announced_by == "bets.closed",
        session=None if shown is None else shown.session,
        round=None if shown is None else shown.round,
        minimum=None if shown is None else shown.minimum,
        currency=None if shown is None else shown.currency,
        linked=_linked(shown, chosen),
        waits=()
        if shown is None
        else tuple(Word(name, word("command", name, chosen)) for name in shown.asks),
        alerts=tuple(Word(each.what, _alert(each.what, chosen)) for each in known.alerts.values()),
        rounds_left=getattr(shown, "last_rounds", None),
        last_of_session=bool(getattr(shown, "last_of_session", False)),
        notes=_notes(rounds, shown, chosen),
        result_round=last.round
        if last is not None and shown is not None and last.session == shown.session
        else None,
        body=_body(known, rounds, chosen),
    )


def _body(known: TableSnapshot, rounds: tuple[Round, ...], language: str) -> Any:
    if known.state is None:
        return None
    shown = known.state.shown
    make = BODIES.get(type(shown))
    return None if make is None else make(Seen(known, known.state, rounds, language), shown)


def called(announcement: Announcement, language: str) -> Called | None:
    """A call in this language if the decree has it in this one, else in the decree's own."""
    if language in announcement:
        return Called(announcement[language], language)
    own = next(iter(announcement.items()), None)
    return None if own is None else Called(own[1], own[0])


def _alert(what: str, language: str) -> str:
    """The text of an alert: its own, or that of the irregularity that raised it."""
    group = "alert" if f"alert.{what}" in catalogue(language) else "irregularity"
    return word(group, what, language)


def _linked(shown: Shown | None, language: str) -> Linked | None:
    told: LinkedJackpot | None = getattr(shown, "jackpot_standing", None)
    if told is None:
        return None
    return Linked(told.jackpot, told.in_play, out_of_play_text(told.why, language) or None)


def _notes(rounds: tuple[Round, ...], shown: Shown | None, language: str) -> tuple[Note, ...]:
    """What was unusual of the latest rounds of the session."""
    if shown is None:
        return ()
    return tuple(
        note
        for each in reversed(rounds)
        if each.session == shown.session and each.round > shown.round - RECENT
        for note in (_note(each, language),)
        if note is not None
    )


def _note(of: Round, language: str) -> Note | None:
    kind: Literal["void", "unresolved", "corrected"]
    match of.kind:
        case "void":
            kind, why = "void", word("void_reason", of.reason, language)
        case "unresolved":
            kind, why = "unresolved", word("unresolved", of.reason, language)
        case "result":
            if not of.corrected:
                return None
            kind, why = "corrected", text("display.was", language, was=of.was) if of.was else ""
    name = "result_corrected" if kind == "corrected" else kind
    state = text(f"display.{name}", language)
    said = text("display.round_state", language, round=of.round, state=state)
    return Note(round=of.round, kind=kind, text=f"{said} · {why}" if why else said)


def trouble_of(
    known: TableSnapshot, rounds: tuple[Round, ...], outdated: Outdated | None, language: str
) -> Trouble | None:
    """What makes the picture one of before. The gravest comes first: nobody is heard; a fault; a
    silent device; the latest round has no result yet; a person must decide about the round in
    progress. None: what is shown is current.

    A round that is unresolved behind a later result is a note, and greys nothing: the later result
    is the table's last.
    """
    if outdated is not None:
        why = text(f"trouble.{outdated.why}", language)
        return Trouble(why=outdated.why, text=why, since=outdated.since)
    state = known.state
    if state is None:
        return None
    words = word("status", state.status, language)
    if state.status == "fault":
        return Trouble(why="fault", text=words, since=state.time, detail=state.fault)
    if state.status == "stale":
        silent = [
            (link.since, name)
            for name, link in state.devices.items()
            if link.state in STALE_LINK_STATES
        ]
        since, device = min(silent, default=(state.time, None))
        return Trouble(why="stale", text=words, since=since, detail=device)
    return _undecided(known, state, rounds, language)


def _undecided(
    known: TableSnapshot, state: State, rounds: tuple[Round, ...], language: str
) -> Trouble | None:
    shown = state.shown
    waiting = max(getattr(shown, "unresolved", ()), default=0)
    if waiting > _decided(known, rounds, shown.session):
        of = next((each for each in rounds if _is(each, shown.session, waiting)), None)
        return Trouble(
            why="unresolved",
            text=text("display.round_unresolved", language, round=waiting),
            since=None if of is None else of.time,
            detail=word("unresolved", of.reason, language) if of and of.reason else None,
        )
    ended = max((each.round for each in rounds if each.session == shown.session), default=0)
    if state.status == "waiting" and shown.phase == "decision" and shown.round > ended:
        words = text("display.round_waits", language, round=shown.round)
        return Trouble(why="decision", text=words, since=state.time)
    return None


def _decided(known: TableSnapshot, rounds: tuple[Round, ...], session: int) -> int:
    """The latest round of the session that has a result; 0: none."""
    last = known.result
    found = [each.round for each in rounds if each.session == session and each.kind == "result"]
    if last is not None and last.session == session and last.round is not None:
        found.append(last.round)
    return max(found, default=0)


def _is(each: Round, session: int, number: int) -> bool:
    return (each.session, each.round) == (session, number)
