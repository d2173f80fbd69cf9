"""The law that the bank's word breaks: that of zero, the table that it asked for, or the error that
binds it to the table.
"""

from __future__ import annotations

from collections.abc import Callable

from common.contract.events import Irregularity
from tests.support.for_each import for_each
from tests.support.games.chemin_play import DECREES, Play, at_table
from tests.support.games.play import of_kind


def zero(play: Play) -> None:
    play.dealt("2h Kc 2d Ks")
    play.draw()
    play.cards("2c")


def asked(play: Play) -> None:
    play.bets()
    play.send("table.follow", role="croupier")
    play.cards("2h 4c 2d Ks")
    play.draw()
    play.cards("6s")


def by_the_croupier(play: Play) -> None:
    play.dealt("Ah 3c Ad Ks")
    play.decide("exposed", who="player", index=1, fault="croupier")
    play.decide("exposed", who="player", index=2, fault="croupier")
    play.draw()
    play.cards("9h")


def by_the_banker(play: Play) -> None:
    play.dealt("2h 4c 2d Ks")
    for index in (1, 2):
        play.decide("exposed", who="player", index=index, fault="banker")
        play.turn("banker", index=index)
    play.draw()
    play.cards("6s")


def falsely_called(play: Play) -> None:
    play.dealt("2h Kc 4d 5s")
    play.draw()
    play.cards("2c 3c")
    play.stand("player")


@for_each("decree", DECREES)
@for_each(
    ("course", "law"),
    [
        (zero, "bank_word"),
        (asked, "table_followed"),
        (by_the_croupier, "cards_shown"),
        (by_the_banker, "cards_shown"),
        (falsely_called, "false_card"),
    ],
)
def test_a_wrong_word_of_the_bank_cites_what_binds_it(
    decree: str, course: Callable[[Play], None], law: str
) -> None:
    play = at_table(decree)
    course(play)
    events = play.stand("banker")
    if not [event for event in of_kind(events, Irregularity) if event.what == "bank_word"]:
        events += play.turn()
    [wrong] = [event for event in of_kind(events, Irregularity) if event.what == "bank_word"]
    assert (wrong.law, wrong.article) == (play.book.laws[law].rule, play.book.laws[law].article)
