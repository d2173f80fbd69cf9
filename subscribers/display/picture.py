"""The picture of a table as data: what every game shows, and the game's own ``body``.

It is built from the table's state and drawn by the page's script, which decides nothing. A picture
is either ``current`` or has a ``trouble``. With a trouble it shows the last known state, drawn
grey, with the reason and since when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from common.contract.events import Announcement
from common.contract.messages.messages import catalogue, first_of, text, word
from common.contract.retained import State
from common.contract.shown import (
    BlackjackShown,
    BouleShown,
    CheminShown,
    CircleDrawShown,
    CirclePokerShown,
    CrapsShown,
    FortuneShown,
    HousePokerShown,
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
from subscribers.display.context import PictureContext
from subscribers.display.rounds import PlayedRound
from subscribers.feed.meter import out_of_play_text
from subscribers.feed.table_snapshot import STALE_LINK_STATES, Outdated, TableSnapshot


class TableTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """Why the picture is not current."""

    why: str
    """The wire word, or that of :class:`Outdated`."""
    text: str
    """The reason as text."""
    since: str | None
    """UTC, ISO 8601; None if not known."""
    detail: str | None = None
    """Further details."""


class Word(msgspec.Struct, frozen=True):
    """A wire word and its text."""

    id: str
    text: str


class DecreeText(msgspec.Struct, frozen=True):
    """A text of the decree and its language."""

    text: str
    language: str


class PicturedJackpot(msgspec.Struct, frozen=True):
    """The jackpot that the table is linked to, as the table knows it."""

    jackpot: str
    in_play: bool
    why: str | None
    """Why it is not in play, as text; None if it is, or if not reported."""


class RoundNote(msgspec.Struct, frozen=True, kw_only=True):
    """An unusual round: void, unresolved or corrected."""

    round: int
    kind: Literal["void", "unresolved", "corrected"]
    text: str
    """Which round, and why."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One table in one language."""

    table: str
    language: str
    title: DecreeText
    """The decree's name of the game."""
    decree: str
    simulated: bool
    view: str
    """The type of ``body``: that of ``shown``, or empty if there is no state."""
    current: bool
    trouble: TableTrouble | None
    status: Word
    phase: Word
    call: DecreeText | None
    """The current call at the table, in the decree's words."""
    closed: bool
    """That call is *no va más*."""
    session: int | None
    round: int | None
    minimum: int | None
    currency: str | None
    maximum: int | None
    """The highest stake on a single number or a hand, if the table's settings have it."""
    next_minimum: int | None
    """An announced new minimum in minor units."""
    rounds_at_minimum: int | None
    """Valid rounds left at this minimum, if a new one was announced."""
    dealers: tuple[str, ...] = ()
    """The croupiers, where the house shows them."""
    titles: Mapping[str, str]
    """The decree's names of the game, by language."""
    calls: Mapping[str, str]
    """``call``, by language."""
    linked: PicturedJackpot | None
    """None if there is no link, or if not reported."""
    waits: tuple[Word, ...]
    """The commands that the table waits for."""
    alerts: tuple[Word, ...]
    rounds_left: int | None
    """Valid rounds left before closing, if announced."""
    last_of_session: bool
    """The round in progress is the last before closing."""
    notes: tuple[RoundNote, ...]
    """Unusual rounds among the latest, newest first."""
    result_round: int | None
    """The round that ``body`` shows as the last result, if it is of this session."""
    body: Any


BodyBuilder = Callable[[PictureContext, Any], Any]
"""Builds the body of a picture from the context and its ``shown``."""
BODIES: Mapping[type[Shown], BodyBuilder] = {
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
NOTE_ROUNDS = 3
"""Number of latest rounds whose notes are shown."""


def table_picture(
    snapshot: TableSnapshot,
    rounds: tuple[PlayedRound, ...],
    outdated: Outdated | None,
    language: str | None,
    *,
    dealer: bool = False,
) -> Picture:
    """Return the picture of a table. ``language``: None for that of its decree; ``dealer``: whether
    it names the croupier.
    """
    about = None if snapshot.info is None else snapshot.info.about
    chosen = language or first_of(() if about is None else about.languages)
    state = snapshot.state
    trouble = trouble_of(snapshot, rounds, outdated, chosen)
    shown = None if state is None else state.shown
    status = "unknown" if state is None else state.status
    phase = "unknown" if shown is None else shown.phase
    last = snapshot.result
    return Picture(
        table=snapshot.table,
        language=chosen,
        title=decree_text({} if about is None else about.title, chosen)
        or DecreeText(snapshot.table, chosen),
        decree="" if state is None else state.decree,
        simulated=snapshot.simulated,
        view="" if shown is None else str(shown.__struct_config__.tag),
        current=trouble is None,
        trouble=trouble,
        status=Word(status, word("status", status, chosen)),
        phase=Word(phase, word("phase", phase, chosen)),
        call=decree_text(snapshot.announcement, chosen) if trouble is None else None,
        closed=trouble is None and snapshot.announced_by == "bets.closed",
        session=None if shown is None else shown.session,
        round=None if shown is None else shown.round,
        minimum=None if shown is None else shown.minimum,
        currency=None if shown is None else shown.currency,
        maximum=_maximum(shown),
        next_minimum=None if shown is None else shown.next_minimum,
        rounds_at_minimum=None if shown is None else shown.rounds_at_this_minimum,
        dealers=state.staff.get("croupier", ())
        if dealer and state is not None and trouble is None
        else (),
        titles={} if about is None else about.title,
        calls=snapshot.announcement if trouble is None else {},
        linked=_linked(shown, chosen),
        waits=()
        if shown is None
        else tuple(Word(name, word("command", name, chosen)) for name in shown.asks),
        alerts=tuple(
            Word(alert.what, _alert(alert.what, chosen)) for alert in snapshot.alerts.values()
        ),
        rounds_left=None if shown is None else shown.last_rounds,
        last_of_session=shown is not None and shown.last_of_session,
        notes=_notes(rounds, shown, chosen),
        result_round=last.round
        if last is not None and shown is not None and last.session == shown.session
        else None,
        body=_body(snapshot, rounds, chosen),
    )


def _body(snapshot: TableSnapshot, rounds: tuple[PlayedRound, ...], language: str) -> Any:
    if snapshot.state is None:
        return None
    shown = snapshot.state.shown
    build = BODIES.get(type(shown))
    return (
        None
        if build is None
        else build(PictureContext(snapshot, snapshot.state, rounds, language), shown)
    )


def decree_text(announcement: Announcement, language: str) -> DecreeText | None:
    """Return a call in this language if the decree has it, otherwise in the decree's own."""
    if language in announcement:
        return DecreeText(announcement[language], language)
    own = next(iter(announcement.items()), None)
    return None if own is None else DecreeText(own[1], own[0])


def _maximum(shown: Shown | None) -> int | None:
    highest = None if shown is None else shown.settings.get("highest")
    if not isinstance(highest, dict):
        return None
    found = highest.get("straight", highest.get("hands"))
    return found if type(found) is int else None


def _alert(type_: str, language: str) -> str:
    """Return the text of an alert: its own, or that of the irregularity that raised it."""
    group = "alert" if f"alert.{type_}" in catalogue(language) else "irregularity"
    return word(group, type_, language)


def _linked(shown: Shown | None, language: str) -> PicturedJackpot | None:
    link = None if shown is None else shown.jackpot_standing
    if link is None:
        return None
    return PicturedJackpot(link.jackpot, link.in_play, out_of_play_text(link.why, language) or None)


def _notes(
    rounds: tuple[PlayedRound, ...], shown: Shown | None, language: str
) -> tuple[RoundNote, ...]:
    """Return the unusual ones among the latest rounds of the session."""
    if shown is None:
        return ()
    return tuple(
        note
        for round_ in reversed(rounds)
        if round_.session == shown.session and round_.round > shown.round - NOTE_ROUNDS
        for note in (_note(round_, language),)
        if note is not None
    )


def _note(round_: PlayedRound, language: str) -> RoundNote | None:
    kind: Literal["void", "unresolved", "corrected"]
    match round_.kind:
        case "void":
            kind, why = "void", word("void_reason", round_.reason, language)
        case "unresolved":
            kind, why = "unresolved", word("unresolved", round_.reason, language)
        case "result":
            if not round_.corrected:
                return None
            kind, why = (
                "corrected",
                text("display.was", language, was=round_.was) if round_.was else "",
            )
    name = "result_corrected" if kind == "corrected" else kind
    state = text(f"display.{name}", language)
    text_ = text("display.round_state", language, round=round_.round, state=state)
    return RoundNote(round=round_.round, kind=kind, text=f"{text_} · {why}" if why else text_)


def trouble_of(
    snapshot: TableSnapshot,
    rounds: tuple[PlayedRound, ...],
    outdated: Outdated | None,
    language: str,
) -> TableTrouble | None:
    """Return the most severe reason why the picture is not current: no connection; a fault; a
    silent device; the latest round without a result; a decision required in the round in progress.
    None if it is current.

    An unresolved round before a later result is only a note: the later result is the table's last.
    """
    if outdated is not None:
        why = text(f"trouble.{outdated.why}", language)
        return TableTrouble(why=outdated.why, text=why, since=outdated.since)
    state = snapshot.state
    if state is None:
        return None
    status_text = word("status", state.status, language)
    if state.status == "fault":
        return TableTrouble(why="fault", text=status_text, since=state.time, detail=state.fault)
    if state.status == "stale":
        silent = [
            (link.since, name)
            for name, link in state.devices.items()
            if link.state in STALE_LINK_STATES
        ]
        since, device = min(silent, default=(state.time, None))
        return TableTrouble(why="stale", text=status_text, since=since, detail=device)
    return _undecided(snapshot, state, rounds, language)


def _undecided(
    snapshot: TableSnapshot, state: State, rounds: tuple[PlayedRound, ...], language: str
) -> TableTrouble | None:
    shown = state.shown
    waiting = max(shown.unresolved, default=0)
    if waiting > _decided(snapshot, rounds, shown.session):
        round_ = next((other for other in rounds if _is(other, shown.session, waiting)), None)
        return TableTrouble(
            why="unresolved",
            text=text("display.round_unresolved", language, round=waiting),
            since=None if round_ is None else round_.time,
            detail=word("unresolved", round_.reason, language)
            if round_ and round_.reason
            else None,
        )
    ended = max((other.round for other in rounds if other.session == shown.session), default=0)
    if state.status == "waiting" and shown.phase == "decision" and shown.round > ended:
        waiting_text = text("display.round_waits", language, round=shown.round)
        return TableTrouble(why="decision", text=waiting_text, since=state.time)
    return None


def _decided(snapshot: TableSnapshot, rounds: tuple[PlayedRound, ...], session: int) -> int:
    """Return the number of the session's latest round with a result, or 0."""
    last = snapshot.result
    numbers = [
        round_.round for round_ in rounds if round_.session == session and round_.kind == "result"
    ]
    if last is not None and last.session == session and last.round is not None:
        numbers.append(last.round)
    return max(numbers, default=0)


def _is(round_: PlayedRound, session: int, number: int) -> bool:
    return (round_.session, round_.round) == (session, number)
