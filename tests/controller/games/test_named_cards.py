"""An input that names an unseen card is sealed, whatever it is and at any table."""

from __future__ import annotations

from common.contract.events import DeviceState
from common.readings import CardDrawn, LinkUnintelligible, ShoeFault, ShoeReset, ShufflerVerdict
from controller.games.cards import DECK
from controller.games.games import make_game
from controller.tables.table import Table
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS
from tests.support.games.play import confidential
from tests.support.games.poker_play import stopped, table

HIDING = [pair for pair in PAIRS if make_game(*pair, {}).face_down]


@for_each(("game_id", "decree"), HIDING)
def test_missing_cards_are_sealed_where_the_table_does_not_publish_them(
    game_id: str, decree: str
) -> None:
    """They may be those that lie covered on the table; a game that ignores a shuffler does not
    publish them either.
    """
    game = make_game(game_id, decree, {})
    verdict = ShufflerVerdict(
        at=1.0, device="shuffler", set_right=False, missing=("7h",), extra=("8h",)
    )
    _, events = game.step(game.begin(), verdict)
    told = b"7h" in repr(events).encode()
    assert game.confidential(game.begin(), verdict, events) is not told


def test_a_reader_that_repeats_an_open_card_misread_an_unseen_one() -> None:
    play = table()
    play.bets(1, 2)
    deck = iter(DECK)
    while not play.game.kind.seen(play.game, play.state):
        play.card(next(deck))
    [card] = play.game.kind.seen(play.game, play.state)
    again = CardDrawn(at=play.now(), device="shoe", frame="what was read", card=card)
    assert confidential(play.game, play.state, again)
    play.take(again)
    stopped(play, "card_extra")


@for_each(("game_id", "decree"), HIDING)
def test_a_devices_free_text_is_sealed(game_id: str, decree: str) -> None:
    table = Table("casino", "t1", game_id, decree, make_game(game_id, decree, {}), "boot")
    alarm = ShoeFault(at=1.0, device="shoe", fault="alarm", active=True, detail="7h misread")
    for given in (alarm, ShoeReset(at=1.0, device="shoe", detail="7h was next")):
        events, sealed = table.handle(given, "now", 0)
        assert sealed
        assert "7h" not in repr(events)


@for_each(("game_id", "decree"), HIDING)
def test_the_number_of_noise_bytes_is_not_published(game_id: str, decree: str) -> None:
    table = Table("casino", "t1", game_id, decree, make_game(game_id, decree, {}), "boot")
    noise = LinkUnintelligible(at=1.0, device="shoe", bytes=97)
    said, sealed = table.handle(noise, "now", 0)
    assert sealed
    assert [event.state for event in said if isinstance(event, DeviceState)] == ["unintelligible"]
    assert "97" not in repr((said, table.retained()))
