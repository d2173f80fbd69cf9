"""No card is published before it lies face up on the table: every output of a daemon is searched
for cards that do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog
from nacl.public import PrivateKey

from common.confidential.bodies import is_locked, is_sealed
from common.confidential.boxes import CardCipher, UnopenedBoxError, open_sealed
from common.contract.commands import (
    AnyCommand,
    BetsClose,
    CardDecide,
    CardsTurn,
    Command,
    RoundConfirm,
    SessionOpen,
)
from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardRemoved,
    CardsBurned,
    CardTurned,
    RoundResult,
)
from common.contract.notation import Input, read_event, read_input, write
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.contract.topics import Topics
from common.metrics.text import exposition
from common.readings import AnyReading, CardDrawn, LinkGarbage, LinkUp, ShoeReset, unescape
from controller.cli import main
from controller.games.decks import deck
from controller.games.game import Game
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.service.metric_families import FAMILIES
from controller.service.metrics import by_name, table_metrics
from controller.tables.runner import TableRunner
from controller.tables.table import Table
from devices.calls import BytesReceived
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS
from tests.support.games.face_down import Cards, FaceDown
from tests.support.games.monkey import Monkey, frame
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import confidential

SURVEILLANCE = PrivateKey.generate()
CIPHER = CardCipher(SURVEILLANCE.public_key, b"s" * 32)
CARD = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(deck('deck_53'))})(?![A-Za-z0-9])")
QUOTATION_WITH_CARD = re.compile(r'"article":"[^"]*"|"announcement":{[^}]*}')
"""Quotations of decrees: in Galician a sentence may begin with the ace of spades."""
HEAD: dict[str, Any] = {"at": 1.0, "by": "M. Lasa", "role": "table_head"}
METRICS = ("t1", "false")
"""Labels of the table in Prometheus metrics."""
MAX_STEPS = 400
HIDING = [("face-down", "ARA02"), *(pair for pair in PAIRS if make_game(*pair, {}).face_down)]
"""Every game with cards that may lie face down, under every decree that has it."""


VARIANTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("synthetic-poker", "BAL09", {"common": "drawn"}),
    ("omaha-five", "EUS96", {"first_common": "with_deal"}),
    ("circle-draw", "EUS96", {"pack": "deck_52"}),
)
"""Settings by which other cards lie face up, or are dealt at another time."""
MISDEALS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *((game, "EUS96", {"misdeal": "void"}) for game in ("texas-house", "three-card-poker")),
    ("punto-banca", "BAL05", {"rounds": "shoe"}),
)
"""Settings by which a device's report has more effect by itself."""
DEALT_OPEN = ("blackjack", "blackjack-triple", "trente-et-quarante")
"""Games in which cards lie face up as soon as they are dealt: a person who removes one that waits
for another reason may name it.
"""
ACCEPT, REMOVE = CardDecide(**HEAD, action="accept"), CardDecide(**HEAD, action="remove")
STEPS_AFTER_MISTAKE = 40
"""Steps to play on after a mistake."""


def game_of(game_id: str, decree: str, settings: dict[str, Any]) -> Game:
    return FaceDown() if game_id == "face-down" else make_game(game_id, decree, settings)


def table_of(
    game_id: str, decree: str, boot: str = "boot", saved: bytes | None = None, **settings: Any
) -> Table:
    game = game_of(game_id, decree, settings)
    return Table(
        "casino",
        "t1",
        game_id,
        decree,
        game,
        boot,
        saved=saved,
        about=About(devices={"shoe": "driver"}),
    )


def cards_in(*texts: bytes | str) -> set[str]:
    """Every card that is named, as a reading or as a frame."""
    plain = (text if isinstance(text, str) else text.decode() for text in texts)
    return {card for text in plain for card in CARD.findall(QUOTATION_WITH_CARD.sub("", text))}


def named_in(data: bytes, card: str) -> bool:
    """True if a file names a card: as a JSON string in quotes, or as a frame. Between other bytes
    those few are chance: among thousands of hashes and keys in a file one will hold them some day.
    """
    quoted = b'"%b"' % card.encode()
    marked = quoted in data and re.search(rb"[\[{:,]%b[\]},:]" % quoted, data) is not None
    return marked or frame(card).encode() in data


def published_by(events: Iterable[AnyEvent]) -> set[str]:
    """The cards that these events publish because they lie face up, or are shown."""
    told = {
        event.card for event in events if isinstance(event, CardDealt | CardTurned | CardRemoved)
    }
    return {
        card
        for card in told | {event.shown for event in events if isinstance(event, CardsBurned)}
        if card
    }


def confirmed_by(events: Iterable[AnyEvent]) -> set[str]:
    """The cards of results that a person vouches for: confirming a round states that its cards lie
    open.
    """
    results = [event for event in events if isinstance(event, RoundResult) and event.confirmed_by]
    return {card for event in results for hand in outcome_of(event).hands for card in hand.cards}


class Floor:
    """One table with its journal; all of its output is searched after each step."""

    def __init__(self, path: Path, game_id: str, decree: str) -> None:
        self._names = game_id, decree
        self.journal = Journal(path)
        self.reader = JournalReader(path)
        self.boots = 0
        self.told: set[str] = set()
        self.drawn: set[str] = set()
        self.seen = 0
        self.start()

    def start(self) -> None:
        """As the daemon does at its start; and again after it was killed."""
        self.boots += 1

        def make() -> Table:
            saved = self.journal.saved_state("t1")
            return table_of(
                *self._names, boot=f"boot-{self.boots}", saved=saved and CIPHER.unlock(saved)
            )

        self.runner = TableRunner(make, self.journal, lambda: 1.0, lambda: None, CIPHER)

    @property
    def shown(self) -> dict[str, Any]:
        state = msgspec.json.decode(self.runner.retained["state"] or b"{}")
        found: dict[str, Any] = state["shown"]
        return found

    async def take(self, given: Input) -> None:
        replies: list[str] = []
        with structlog.testing.capture_logs() as logs:
            if isinstance(given, Command):
                replies = await self._follow(given)
            else:
                if isinstance(given, CardDrawn) and given.card:
                    self.drawn.add(given.card)
                if given.frame is not None:
                    self.runner.on_bytes("shoe", BytesReceived(given.at, unescape(given.frame)))
                self.runner.on_readings([given])
            await self.runner.drain()
        await self.search(write(given), [*replies, *map(str, logs)])

    async def _follow(self, given: AnyCommand) -> list[str]:
        try:
            await self.runner.execute(given)
        except RejectedError as no:
            return [str(no)]
        return []

    async def search(self, given: bytes, texts: list[str]) -> None:
        entries = list(self.reader.entries(self.seen))
        self.seen += len(entries)
        events = [read_event(entry.body) for entry in entries if entry.kind == "event"]
        self.told |= published_by(events) | confirmed_by(events)
        public = [entry.body for entry in entries if not is_sealed(entry.body)]
        retained = [body for body in self.runner.retained.values() if body]
        texts += [
            " ".join((name, *labels)) for name, labels, _ in table_metrics(self.runner, METRICS)
        ]
        early = cards_in(*public, *retained, *texts) - self.told
        assert not early, (
            f"published before they lie face up: {early}, by {given!r}: {[*public, *texts]}"
        )


def test_a_card_on_the_disk_is_found() -> None:
    told = (
        CardDrawn(at=1.0, device="shoe", card="7h"),
        CardTurned(to="player", index=1, card="7h"),
    )
    assert all(named_in(b"\x17" + write(each) + b"\xd2", "7h") for each in told)
    assert named_in(msgspec.json.encode({"hands": [["7h"], ["8h", "7h"]]}), "7h")
    assert named_in(b"x" + frame("7h").encode(), "7h")
    assert not named_in(b'\xa7"7h"\x1f', "7h")


@pytest.mark.parametrize(("game_id", "decree"), HIDING)
async def test_no_card_is_published_before_it_lies_face_up(
    game_id: str, decree: str, memory: Path, long: bool
) -> None:
    told = hidden = 0
    for seed in range(2):
        if seed and told and hidden and not long:
            break
        floor = Floor(memory / f"{seed}" / "journal.sqlite3", game_id, decree)
        with closing(floor.journal), closing(floor.reader):
            await play(floor, Monkey(f"{game_id} {decree} {seed}", game_id))
            floor.runner.flush()
            await floor.take(LinkUp(at=MAX_STEPS, device="shoe"))
            saved = floor.journal.saved_state("t1")
            metrics = await exposition(FAMILIES, by_name(table_metrics(floor.runner, METRICS)))
            assert b'novamas_table_status{simulated="false",status=' in metrics
            assert not cards_in(metrics) - floor.told
            check_disk(floor)
        assert saved is not None
        assert is_locked(saved)
        told += len(floor.told)
        hidden += len(floor.drawn - floor.told)
    assert told, "nothing was ever turned: the test plays badly"
    assert hidden, "nothing was ever hidden: the test plays badly"


async def play(floor: Floor, monkey: Monkey) -> None:
    for step in range(MAX_STEPS):
        if len(monkey.left) < 2:
            return
        if step == MAX_STEPS // 4:
            floor.start()
        await floor.take(monkey.next(floor.shown))


def check_disk(floor: Floor) -> None:
    """No file holds an unpublished card in clear; and nothing is lost: surveillance finds every
    card that was drawn.
    """
    path = floor.journal.path
    files = [file.read_bytes() for file in path.parent.iterdir()]
    for card in floor.drawn - floor.told:
        assert not any(named_in(file, card) for file in files), f"{card} is on the disk in clear"
    entries = list(floor.reader.entries())
    sealed = [open_sealed(entry.body, SURVEILLANCE) for entry in entries if is_sealed(entry.body)]
    inputs = [
        entry.body for entry in entries if entry.kind == "input" and not is_sealed(entry.body)
    ]
    inputs += [bytes(opened.body) for opened in sealed if opened.kind == "input"]
    assert floor.drawn <= {
        each.card for each in map(read_input, inputs) if isinstance(each, CardDrawn)
    }
    assert floor.drawn <= cards_in(
        *(bytes(opened.body) for opened in sealed if opened.kind == "bytes")
    )


@pytest.mark.parametrize(
    ("game_id", "decree", "settings"), [*((*pair, {}) for pair in HIDING), *VARIANTS]
)
def test_output_does_not_depend_on_a_card_that_lies_face_down(
    game_id: str, decree: str, settings: dict[str, Any], long: bool
) -> None:
    """Two worlds that differ in one unseen card look the same until it is published."""
    compared = 0
    for seed in range(4 if long else 2):
        if seed and compared and not long:
            break
        monkey = Monkey(f"{game_id} {decree} {seed} twice", game_id)
        table = table_of(game_id, decree, **settings)
        played: list[tuple[bytes, Input]] = []
        while len(monkey.left) > 1 and len(played) < MAX_STEPS:
            given = monkey.next(msgspec.json.decode(table.retained()["state"] or b"")["shown"])
            played.append((table.saved(), given))
            outcome(table, given)
        for step, saved, given in readings_of(played, long):
            if given.card is not None:
                one, other, asked = (
                    table_of(game_id, decree, saved=saved, **settings) for _ in range(3)
                )
                if asked.handle(given, "now", 0).confidential:
                    compared += compare(
                        one, other, given, monkey.left[0], [each for _, each in played[step + 1 :]]
                    )
    assert compared, "no card lay face down: the test plays badly"


@pytest.mark.parametrize(
    ("game_id", "decree", "settings"), [*((*pair, {}) for pair in HIDING), *VARIANTS, *MISDEALS]
)
def test_a_reader_that_wrongly_reports_a_card_face_up_does_not_publish_it(
    game_id: str, decree: str, settings: dict[str, Any], long: bool
) -> None:
    """As above, for every card that lies face down unless its reader reports otherwise; then a
    person has looked, and play continues.
    """
    compared = 0
    for seed in range(3 if long else 2):
        if seed and compared and not long:
            break
        monkey = Monkey(f"{game_id} {decree} {seed} by mistake", game_id)
        table = table_of(game_id, decree, **settings)
        played: list[tuple[bytes, Input]] = []
        while len(monkey.left) > 1 and len(played) < MAX_STEPS:
            given = monkey.next(msgspec.json.decode(table.retained()["state"] or b"")["shown"])
            played.append((table.saved(), given))
            outcome(table, given)
        for step, saved, given in readings_of(played, long):
            if given.card is None:
                continue
            wrong = msgspec.structs.replace(given, exposed=True)
            asked = table_of(game_id, decree, saved=saved, **settings)
            right = msgspec.structs.replace(given, exposed=False)
            if not asked.handle(right, "now", 0).confidential:
                continue
            following = [each for _, each in played[step + 1 : step + 1 + STEPS_AFTER_MISTAKE]]
            for decided, silent in ((ACCEPT, 1), (REMOVE, 1 if game_id in DEALT_OPEN else 2)):
                one, other = (table_of(game_id, decree, saved=saved, **settings) for _ in range(2))
                compared += compare(
                    one, other, wrong, monkey.left[0], [decided, *following], silent
                )
    assert compared, "no card lay face down: the test plays badly"


def readings_of(
    played: list[tuple[bytes, Input]], long: bool
) -> list[tuple[int, bytes, CardDrawn]]:
    """When a card was drawn, the table's state before it, and the reading: every sixth one in the
    short form.
    """
    every = [
        (step, saved, given)
        for step, (saved, given) in enumerate(played)
        if isinstance(given, CardDrawn)
    ]
    return every if long else every[::6]


def compare(
    one: Table, other: Table, given: CardDrawn, card: str, following: list[Input], silent: int = 1
) -> int:
    """Let the other table have ``card`` instead, and compare both step by step until neither
    remembers the card. Return the number of steps. ``silent``: this many steps must not publish the
    card.
    """
    twin = msgspec.structs.replace(given, card=card, frame=frame(card))
    for count, (left, right) in enumerate(
        zip([given, *following], [twin, *following], strict=True)
    ):
        here, told = outcome(one, left)
        assert given.card not in told or count >= silent, f"{given.card} is published by {left}"
        if given.card in told or isinstance(
            left, RoundConfirm
        ):  # confirming a round states that its cards are open
            return count
        assert here == outcome(other, right)[0], (
            f"{given.card} or {card}: {left} distinguishes them"
        )
        if count + 1 >= silent and alike(one, other):  # the rest of the deal is the same for both
            return 1 + count
    return 1 + len(following)


def alike(one: Table, other: Table) -> bool:
    """True if two tables of the same game have equal state: they answer alike from now on, since a
    game itself remembers nothing.
    """
    here, there = vars(one), vars(other)
    return all(here[name] == there[name] for name in here if name != "_game")


def outcome(table: Table, given: Input) -> tuple[list[bytes], set[str]]:
    """The public output of a step, and the cards that it publishes."""
    try:
        events = table.handle(given, "now", 0).events
    except RejectedError as no:
        return [str(no).encode()], set()
    retained = [body for body in table.retained().values() if body]
    return [*map(write, events), *retained], published_by(events)


@for_each(("game_id", "decree"), PAIRS)
def test_a_game_that_hides_a_card_reports_so(game_id: str, decree: str) -> None:
    """Else its journal would be in clear."""
    game = make_game(game_id, decree, {})
    assert game.face_down or not confidential(
        game, game.begin(), CardDrawn(at=1.0, device="shoe", card="7h")
    )


async def test_an_exception_in_a_game_reveals_no_card(tmp_path: Path) -> None:
    floor = Floor(tmp_path / "journal.sqlite3", "face-down", "ARA02")
    with closing(floor.journal), closing(floor.reader):
        await floor.take(SessionOpen(**HEAD))
        await floor.take(CardDrawn(at=1.0, device="shoe", frame=frame("7h"), card="7h"))
        await floor.take(BetsClose(**HEAD))
        await floor.take(ShoeReset(at=2.0, device="shoe"))
        await floor.take(CardDrawn(at=3.0, device="shoe", frame=frame("8h"), card="8h"))
        assert b"ValueError" in (floor.runner.retained["state"] or b"")
        assert floor.told == set()


class Counted(FaceDown):
    """A game that counts its steps."""

    steps = 0

    def step(
        self, state: Cards, given: AnyReading | AnyCommand
    ) -> tuple[Cards, tuple[AnyEvent, ...]]:
        self.steps += 1
        return super().step(state, given)


class Undecided(FaceDown):
    """A game that fails when asked whether an input is confidential."""

    def confidential(
        self,
        state: Cards,
        given: AnyReading | AnyCommand,  # noqa: ARG002
        events: tuple[AnyEvent, ...],  # noqa: ARG002
    ) -> bool:
        raise ValueError(f"a defect with {state.cards}")


class Failing(FaceDown):
    """A game that fails on every input."""

    def step(
        self,
        state: Cards,
        given: AnyReading | AnyCommand,  # noqa: ARG002
    ) -> tuple[Cards, tuple[AnyEvent, ...]]:
        raise ValueError(f"a defect with {state.cards}")


def table_with(game: FaceDown) -> Table:
    return Table("casino", "t1", "face-down", "ARA02", game, "boot")


def test_one_step_returns_the_events_and_whether_the_input_is_confidential() -> None:
    game = Counted()
    taken = table_with(game).handle(CardDrawn(at=1.0, device="shoe", card="7h"), "now", 0)
    assert taken.confidential
    assert [type(event) for event in taken.events] == [CardDealt]
    assert game.steps == 1


def test_in_doubt_an_input_is_confidential() -> None:
    table = table_with(Undecided())
    assert table.handle(LinkUp(at=1.0, device="shoe"), "now", 0).confidential
    table = table_with(Failing())
    for _ in range(2):
        assert table.handle(LinkUp(at=1.0, device="shoe"), "now", 0).confidential
    table = table_with(FaceDown())
    assert not table.handle(LinkUp(at=1.0, device="shoe"), "now", 0).confidential


async def test_without_its_key_the_daemon_stops_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:

        def start(cipher: CardCipher) -> TableRunner:
            def make() -> Table:
                saved = journal.saved_state("t1")
                try:
                    return table_of("face-down", "ARA02", saved=saved and cipher.unlock(saved))
                except UnopenedBoxError:
                    return table_of("face-down", "ARA02", saved=saved)

            return TableRunner(make, journal, lambda: 1.0, lambda: None, cipher)

        runner = start(CIPHER)
        runner.on_readings([CardDrawn(at=1.0, device="shoe", card="7h")])
        await runner.drain()
        runner = start(CIPHER)
        await runner.drain()
        assert b'"cards":1' in (runner.table.retained()["state"] or b"")
        with structlog.testing.capture_logs() as logs:
            runner = start(CardCipher(SURVEILLANCE.public_key, b"t" * 32))
        await runner.drain()
        assert b'"cards":0' in (runner.table.retained()["state"] or b"")
        assert b"locked" in (runner.table.retained()["alert/table-anew"] or b"")
        assert any("another key" in line.get("reason", "") for line in logs)


def test_a_table_with_hidden_cards_has_a_cipher(tmp_path: Path) -> None:
    with (
        closing(Journal(tmp_path / "journal.sqlite3")) as journal,
        pytest.raises(ValueError, match="no key to seal"),
    ):
        TableRunner(lambda: table_of("face-down", "ARA02"), journal, lambda: 1.0, lambda: None)


async def test_sealed_inputs_are_published_and_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, key, messages = tmp_path / "journal.sqlite3", tmp_path / "key", tmp_path / "messages"
    key.write_text(SURVEILLANCE.encode().hex())
    floor = Floor(path, "face-down", "ARA02")
    drawn = CardDrawn(at=1.0, device="shoe", frame=frame("7h"), card="7h")
    noise = LinkGarbage(at=2.0, device="shoe", frame=frame("8h"), bytes=9)
    with closing(floor.journal), closing(floor.reader):
        await floor.take(drawn)
        await floor.take(noise)
        outgoing = floor.journal.events_after(0, 100)
    api = TablesApi(
        "pit-1",
        "b1",
        Topics("casino"),
        {"t1": ServedTable(floor.runner, Topics("casino"), {}, 1.0)},
    )
    assert api.topic("t1", "sealed") == "novamas/v1/casino/t1/sealed"
    sealed = [entry for entry in outgoing if entry.kind == "input"]
    assert [entry.kind for entry in outgoing if entry.position >= sealed[0].position] == [
        "input",
        "event",
        "input",
    ]
    messages.write_bytes(b"\n".join(entry.body for entry in sealed))
    assert main(["unseal", "--key", str(key), str(messages)]) == 0
    opened = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["table"], line["seq"], line["kind"]) for line in opened] == [
        ("t1", entry.seq, "input") for entry in sealed
    ]
    assert [read_input(msgspec.json.encode(line["body"])) for line in opened] == [
        msgspec.structs.replace(drawn, reading=1),
        noise,
    ]
    assert [msgspec.json.decode(entry.body).get("reading") for entry in sealed] == [1, None]
    assert main(["unseal", "--key", str(key), str(path)]) == 0
    assert {"state", "bytes", "input"} == {
        msgspec.json.decode(line)["kind"] for line in capsys.readouterr().out.splitlines()
    }
    key.write_text(PrivateKey.generate().encode().hex())
    assert main(["unseal", "--key", str(key), str(messages)]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("another key")) == ("", 2)


def test_unseal_names_unusable_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, messages = tmp_path / "key", tmp_path / "messages"
    assert main(["unseal", "--key", str(key)]) == 1
    assert f"{key}: No such file" in capsys.readouterr().err
    key.write_text("abc")
    assert main(["unseal", "--key", str(key)]) == 1
    assert "64 hexadecimal digits" in capsys.readouterr().err
    key.write_text("00" * 32)
    messages.write_bytes(b'{"type":"card.dealt"}\n')
    assert main(["unseal", "--key", str(key), str(messages)]) == 1
    assert "line 1: not a sealed entry" in capsys.readouterr().err


def test_keygen_makes_a_pair_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "surveillance"
    assert main(["keygen", str(file)]) == 0
    public = capsys.readouterr().out.split('"')[1]
    assert PrivateKey(bytes.fromhex(file.read_text())).public_key.encode().hex() == public
    assert file.stat().st_mode & 0o777 == 0o600
    assert main(["keygen", str(file)]) == 1
    assert "not overwritten" in capsys.readouterr().err


def test_a_turned_card_is_published_in_clear() -> None:
    table = table_of("face-down", "ARA02")
    table.handle(CardDrawn(at=1.0, device="shoe", card="7h"), "now", 0)
    assert published_by(table.handle(CardsTurn(**HEAD), "now", 0).events) == {"7h"}
