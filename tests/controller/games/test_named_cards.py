"""What names a card that nobody has seen is sealed, whatever says it and at whatever table."""

from __future__ import annotations

from controller.contract.events import DeviceState
from controller.games.cards import DECK
from controller.games.games import make_game
from controller.tables.table import Table
from devices.readings import CardDrawn, LinkUnintelligible, ShoeFault, ShoeReset, ShufflerVerdict
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS
from tests.support.games.play import confidential
from tests.support.games.poker_play import stopped, table

HIDING = [pair for pair in PAIRS if make_game(*pair, {}).face_down]


@for_each(("game_id", "decree"), HIDING)
def test_what_a_shuffler_misses_is_sealed_where_the_table_does_not_tell_it(
    game_id: str, decree: str
) -> None:
    """They may be those that lie covered on the table; a game that makes nothing of a shuffler does
    not tell them either.
    """
    game = make_game(game_id, decree, {})
    verdict = ShufflerVerdict(
        at=1.0, device="shuffler", set_right=False, missing=("7h",), extra=("8h",)
    )
    _, events = game.step(game.begin(), verdict)
    told = b"7h" in repr(events).encode()
    assert game.confidential(game.begin(), verdict, events) is not told


def test_a_reader_that_names_an_open_card_again_was_wrong_about_one_that_nobody_has_seen() -> None:
    play = table()
    play.bets(1, 2)
    deck = iter(DECK)
    while not play.game.seen(play.state):
        play.card(next(deck))
    [card] = play.game.seen(play.state)
    again = CardDrawn(at=play.now(), device="shoe", frame="what was read", card=card)
    assert confidential(play.game, play.state, again)
    play.take(again)
    stopped(play, "card_extra")


@for_each(("game_id", "decree"), HIDING)
def test_what_a_device_says_of_itself_in_words_is_sealed(game_id: str, decree: str) -> None:
    table = Table("casino", "t1", game_id, decree, make_game(game_id, decree, {}), "boot")
    alarm = ShoeFault(at=1.0, device="shoe", fault="alarm", active=True, detail="7h misread")
    for given in (alarm, ShoeReset(at=1.0, device="shoe", detail="7h was next")):
        events, sealed = table.handle(given, "now", 0)
        assert sealed
        assert "7h" not in repr(events)


@for_each(("game_id", "decree"), HIDING)
def test_how_many_bytes_were_noise_is_not_told(game_id: str, decree: str) -> None:
    table = Table("casino", "t1", game_id, decree, make_game(game_id, decree, {}), "boot")
    noise = LinkUnintelligible(at=1.0, device="shoe", bytes=97)
    said, sealed = table.handle(noise, "now", 0)
    assert sealed
    assert [each.state for each in said if isinstance(each, DeviceState)] == ["unintelligible"]
    assert "97" not in repr((said, table.retained()))
