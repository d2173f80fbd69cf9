"""One table as a subscriber knows it: a fold over its MQTT messages, without clock or I/O.

Retained topics give the state of the table; events report what happens. Both are read as JSON
objects; unknown fields and events are skipped, so that a display works with a newer daemon.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from common.contract.messages.messages import first_of
from subscribers.terminal.card_events import Cards
from subscribers.terminal.dice_events import Dice
from subscribers.terminal.outcomes import outcome_of

Fields = dict[str, Any]
Colour = Literal["red", "black", "green"]
NoteKind = Literal["irregularity", "void", "unresolved", "corrected"]
CHANCES = ("colour", "parity", "half", "dozen", "column")
"""The chances that a number wins, in the order in which they are shown."""
MAX_MISSING_EVENTS = 1000
"""Maximum number of missing events that are still accepted after later ones."""
MAX_SPINS = 20
"""Maximum number of spins shown."""
MAX_SAMPLE = 500
"""Maximum number of results for the frequencies."""
MAX_NOTES = 12
"""Maximum number of irregularities and void rounds shown."""


class SpinView(msgspec.Struct, kw_only=True):
    """The outcome of one round. ``number`` of an unresolved round is a candidate.

    ``chances``: what else wins, in pairs such as ``("colour", "red")``; ``time``: when it was
    published, if known.
    """

    round: int
    kind: Literal["result", "void", "unresolved"]
    number: str | None = None
    colour: Colour | None = None
    chances: tuple[tuple[str, str], ...] = ()
    corrected: bool = False
    time: str = ""


class TableNote(msgspec.Struct, frozen=True, kw_only=True):
    """An irregularity with its round and the article of the decree.

    ``what``: the word on the wire, by ``kind``: an irregularity, the reason for a void round, why a
    round is unresolved, the corrected result. ``was`` and ``by``: for a correction.
    """

    round: int
    what: str
    kind: NoteKind = "irregularity"
    was: str = ""
    by: str = ""
    law: str = ""
    article: str = ""


def clean(value: Any) -> Any:
    """Remove control characters from all texts, so that they cannot move the terminal's cursor."""
    if isinstance(value, str):
        return "".join(character for character in value if character.isprintable())
    if isinstance(value, dict):
        return {clean(name): clean(field) for name, field in value.items()}
    return [clean(item) for item in value] if isinstance(value, list) else value


class TableView:
    """One table. ``results``: number of ``round.result`` events; ``missed``: of missing events.

    ``language``: of its picture; default: that of the table's decree.
    """

    def __init__(self, table: str, language: str | None = None) -> None:
        self.table = table
        self._language = language
        self.info: Fields = {}
        self.state: Fields = {}
        self.phase = "unknown"
        self.calls: tuple[str, ...] = ()
        self.session = 0
        self.round = 0
        self.spins: deque[SpinView] = deque(maxlen=MAX_SPINS)
        self.sample: dict[int, SpinView] = {}
        """The results for the frequencies, by round."""
        self.notes: deque[TableNote] = deque(maxlen=MAX_NOTES)
        self.alerts: dict[str, Fields] = {}
        self.cards = Cards()
        self.dice = Dice()
        self.results = 0
        self.missed = 0
        self._seen: dict[str, int] = {}
        self._missing: OrderedDict[tuple[str, int], None] = OrderedDict()
        """Missing events before the last one, by boot and seq."""

    @property
    def language(self) -> str:
        """The language of the picture."""
        return self._language or first_of(
            map(str, (self.info.get("about") or {}).get("languages") or ())
        )

    @property
    def last(self) -> SpinView | None:
        """The last spin with a number that counts."""
        return next((spin for spin in reversed(self.spins) if spin.kind == "result"), None)

    @property
    def asks(self) -> tuple[str, ...]:
        """The commands that the current round waits for; any of them continues it."""
        return tuple((self.state.get("shown") or {}).get("asks") or ())

    @property
    def decided(self) -> int:
        """The number of the latest round with a result, or 0."""
        beads = (bead.round for bead in self.cards.beads if bead.kind == "result")
        throws = (throw.round for throw in self.dice.throws if throw.kind == "result")
        return max([*self.sample, *beads, *throws], default=0)

    @property
    def unresolved(self) -> tuple[int, ...]:
        """The rounds without a result that may still get one; in a game without late results, the
        last one.
        """
        published = (self.state.get("shown") or {}).get("unresolved")
        ended = {spin.round for spin in self.spins if spin.kind == "unresolved"}
        ended |= {bead.round for bead in self.cards.beads if bead.kind == "unresolved"}
        return tuple(sorted({*(published or ()), *ended}))

    def event(self, fields: Fields) -> bool:
        """Apply one event. Return False if it is a repetition, by (table, boot, seq)."""
        fields = clean(fields)
        boot, seq = str(fields.get("boot", "")), int(fields.get("seq", 0))
        last = self._seen.get(boot)
        if last is not None:
            if seq <= last:
                return self._overtaken(boot, seq, fields)
            self.missed += seq - last - 1
            for number in range(max(last + 1, seq - MAX_MISSING_EVENTS), seq):
                self._missing[boot, number] = None
            while len(self._missing) > MAX_MISSING_EVENTS:
                self._missing.popitem(last=False)
        self._seen[boot] = seq
        self.session = fields.get("session", self.session)
        handle = _EVENTS.get(str(fields.get("type")))
        if handle is not None:
            handle(self, fields)
        self.cards.event(fields)
        self.dice.event(fields)
        return True

    def _overtaken(self, boot: str, seq: int, fields: Fields) -> bool:
        """Apply an event that arrives after later ones: the outcome of its round, unless it is
        known, and notes. The present state of the table does not change.
        """
        if (boot, seq) not in self._missing:
            return False
        del self._missing[boot, seq]
        self.missed -= 1
        kind, number = str(fields.get("type")), fields.get("round", 0)
        if fields.get("session", self.session) != self.session or kind not in _LATE_EVENTS:
            return True
        known = any(spin.round == number for spin in self.spins)
        forgotten = len(self.spins) == MAX_SPINS and number < self.spins[0].round
        if kind != "irregularity" and (known or forgotten):
            self.results += kind == "round.result"
            return True
        now = (self.phase, self.calls, self.round)
        _EVENTS[kind](self, fields)
        self.phase, self.calls, self.round = now
        ordered = sorted(self.spins, key=lambda spin: spin.round)
        self.spins = deque(ordered, maxlen=MAX_SPINS)
        if kind != "irregularity":
            self.dice.event(fields)
        return True

    def retained(self, leaf: str, body: Fields | None) -> None:
        """Apply the content of a retained topic; ``None`` if it was cleared."""
        body = clean(body)
        if leaf == "info":
            self.info = body or {}
        elif leaf == "state":
            self._apply_state(body or {})
        elif leaf == "result":
            if body:
                _result(self, body, corrected=body.get("type") == "result.corrected")
        elif leaf == "history":
            self._apply_history(body or {})
        elif leaf.startswith("alert/"):
            alert = leaf.removeprefix("alert/")
            if body:
                self.alerts[alert] = body
            else:
                self.alerts.pop(alert, None)

    def put(self, spin: SpinView) -> None:
        """Add the outcome of a round, or replace that of the same round."""
        self.count(spin)
        for index, earlier in enumerate(self.spins):
            if earlier.round == spin.round:
                self.spins[index] = spin
                return
        self.spins.append(spin)

    def count(self, spin: SpinView) -> None:
        """Add a spin to the sample, or remove it if it has no result any longer."""
        if spin.kind == "result":
            self.sample[spin.round] = spin
        else:
            self.sample.pop(spin.round, None)
        while len(self.sample) > MAX_SAMPLE:
            del self.sample[min(self.sample)]

    def note(self, fields: Fields, kind: NoteKind, what: str) -> None:
        """Add a note."""
        self.notes.append(
            TableNote(
                round=fields.get("round", 0),
                kind=kind,
                what=what,
                was=str(fields["was"]) if kind == "corrected" and "was" in fields else "",
                by=str(fields.get("by") or ""),
                law=str(fields.get("law") or ""),
                article=str(fields.get("article") or ""),
            )
        )

    def enter(self, phase: str, fields: Fields) -> None:
        """Enter a phase of the round, with the croupier's call."""
        self.phase = phase
        self.calls = tuple((fields.get("announcement") or {}).values())
        self.round = fields.get("round", self.round)

    def _apply_state(self, state: Fields) -> None:
        self.state = state
        shown = state.get("shown") or {}
        self.session = shown.get("session") or self.session
        self.round = shown.get("round") or self.round
        self.cards.state(shown, joining=not self._seen)
        self.dice.state(shown)
        phase = shown.get("phase")
        # events are more precise than the state: a result, or a void spin
        known = bool(self._seen) and self.phase != "decision"
        if phase and (phase in ("closed", "decision") or not known):
            self.phase = str(phase)
            self.calls = () if phase == "closed" else self.calls

    def _apply_history(self, history: Fields) -> None:
        """Apply the table's latest rounds, which include missed and earlier ones."""
        known = {spin.round: spin for spin in self.spins}
        noted = {note.round for note in self.notes}
        self.spins.clear()
        self.cards.history(history.get("results", []))
        self.dice.history(history.get("results", []))
        for fields in history.get("results", []):
            spin = _from_history(fields)
            earlier = known.get(spin.round)
            self.count(spin)
            unchanged = earlier is not None and (earlier.kind, earlier.number) == (
                spin.kind,
                spin.number,
            )
            self.spins.append(earlier if earlier is not None and unchanged else spin)
            if spin.kind == "void" and spin.round not in noted:
                self.note(fields, "void", str(fields.get("reason")))


def _from_history(fields: Fields) -> SpinView:
    kind: Literal["result", "void", "unresolved"] = fields.get("kind", "result")
    outcome = outcome_of(fields)
    number = outcome.get("number") if kind == "result" else fields.get("candidate")
    return SpinView(
        round=fields.get("round", 0),
        kind=kind,
        number=None if number is None else str(number),
        colour=_colour(outcome, number),
        chances=_chances(outcome),
        corrected=bool(fields.get("corrected")),
    )


def _colour(outcome: Fields, number: object) -> Colour | None:
    """Return the published colour; a number without a colour is a zero."""
    if number is None:
        return None
    if "colour" in outcome:
        return outcome["colour"] or "green"
    return "green" if not str(number).strip("0") else None


def _chances(outcome: Fields) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(outcome[name])) for name in CHANCES if outcome.get(name))


def _result(view: TableView, fields: Fields, corrected: bool = False) -> None:
    outcome = outcome_of(fields)
    if "number" not in outcome:  # outcomes of cards and dice are stored there
        others = [spin for spin in view.spins if spin.round != fields.get("round")]
        view.spins = deque(others, maxlen=MAX_SPINS)
        return
    view.put(
        SpinView(
            round=fields.get("round", 0),
            kind="result",
            number=str(outcome["number"]),
            colour=_colour(outcome, outcome["number"]),
            chances=_chances(outcome),
            corrected=corrected,
        )
    )


def _round_result(view: TableView, fields: Fields) -> None:
    view.results += 1
    view.enter("result", fields)
    _result(view, fields)


def _corrected(view: TableView, fields: Fields) -> None:
    _result(view, fields, corrected=True)
    outcome = outcome_of(fields)
    view.note(fields, "corrected", str(outcome.get("number", outcome.get("winner") or "")))


def _void(view: TableView, fields: Fields) -> None:
    view.enter("void", fields)
    view.put(SpinView(round=fields.get("round", 0), kind="void"))
    view.note(fields, "void", str(fields.get("reason")))


def _unresolved(view: TableView, fields: Fields) -> None:
    view.enter("unresolved", fields)
    candidate = fields.get("candidate")
    number = None if candidate is None else str(candidate)
    view.put(
        SpinView(
            round=fields.get("round", 0),
            kind="unresolved",
            number=number,
            colour=_colour({}, candidate),
            time=str(fields.get("time") or ""),
        )
    )
    view.note(fields, "unresolved", str(fields.get("why")))


def _session_closed(view: TableView, fields: Fields) -> None:
    view.enter("closed", fields)


def _session_opened(view: TableView, fields: Fields) -> None:
    view.enter("waiting", {**fields, "round": 0})
    view.spins.clear()
    view.sample.clear()
    view.notes.clear()


def _raised(view: TableView, fields: Fields) -> None:
    view.alerts.setdefault(str(fields.get("alert")), fields)


def _cleared(view: TableView, fields: Fields) -> None:
    view.alerts.pop(str(fields.get("alert")), None)


def _cards(view: TableView, fields: Fields) -> None:
    """Enter the phase of dealing. Without a new call the previous one remains."""
    if fields.get("to") != "burn":
        calls = view.calls
        view.enter("dealing", fields)
        view.calls = view.calls or calls


_LATE_EVENTS = ("round.result", "round.void", "round.unresolved", "irregularity")
"""Events that are applied even after later ones."""
_EVENTS: dict[str, Callable[[TableView, Fields], None]] = {
    "session.opened": _session_opened,
    "session.closed": _session_closed,
    "round.opened": lambda view, fields: view.enter("bets_open", fields),
    "bets.closed": lambda view, fields: view.enter("bets_closed", fields),
    "shoe.started": lambda view, fields: view.enter("burning", fields),
    "cards.burned": lambda view, fields: view.enter("waiting", fields),
    "card.dealt": _cards,
    "card.turned": _cards,
    "hand.decided": _cards,
    "shoe.ended": lambda view, fields: view.enter("shoe_over", fields),
    "round.result": _round_result,
    "round.void": _void,
    "round.unresolved": _unresolved,
    "result.corrected": _corrected,
    "irregularity": lambda view, fields: view.note(fields, "irregularity", str(fields.get("what"))),
    "alert.raised": _raised,
    "alert.cleared": _cleared,
}
