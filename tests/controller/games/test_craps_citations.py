"""The sentence of the decree that a table of craps cites for a bet at the wrong time, and its
place.
"""

from __future__ import annotations

import pytest

from common.contract.refusals import RejectedError
from tests.support.games.craps_play import Play, ruled, table

FIRST = {
    "BAL05": "IV.1r.A: «Que es juga a la primera tirada»",
    "ARA02": "IV.1.A: «se juega a la primera tirada»",
    "EUS96": "IV.1.A: «Lehendabiziko jaurtialdian jokatuko da»",
    "GAL07": "IV.1.A: «que se xoga á primeira tirada»",
}
AFTER = {
    "BAL05": "IV.1r.A: «Que es juga en qualsevol moment després de la primera tirada»",
    "ARA02": "IV.1.A: «Se juega en cualquier momento después de la primera tirada»",
    "EUS96": "IV.1.A: «Lehendabiziko jaurtialdiaren ondorengo edozein unetan jokatzen da»",
    "GAL07": "IV.1.A: «que se xoga en calquera momento despois da primeira tirada»",
}
BESIDE = {
    "BAL05": "IV.1r.C: «només poden jugar-se quan la sort simple corresponent»",
    "ARA02": (
        "IV.1.C: «sólo pueden jugarse cuando la apuesta simple correspondiente, cuyo punto "
        "es conocido, ha sido ya apostada»"
    ),
    "EUS96": (
        "IV.1.C: «Zorte hauek dagokien zorte bakunaren apustua honen puntua ezaguna da egin "
        "ondoren bakarrik joka daitezke»"
    ),
    "GAL07": (
        "IV.1.C: «só poden xogar cando a sorte simple correspondente, cun punto coñecido, "
        "foi xa apostada»"
    ),
}


def refused(play: Play, bet: str) -> str:
    with pytest.raises(RejectedError) as refusal:
        play.bet(bet, "seat:2", amount=500)
    return str(refusal.value)


@ruled("BAL05-056", "ARA02-129", "EUS96-108 EUS96-111", "GAL07-138")
def test_a_bet_at_the_wrong_time_is_refused_with_its_own_sentence(decree: str) -> None:
    play = table(decree)
    for bet in ("come", "dont_come"):
        assert refused(play, bet).endswith(AFTER[decree])
    for bet in ("win_odds", "dont_win_odds", "come_odds:6", "dont_come_odds:6"):
        assert refused(play, bet).endswith(BESIDE[decree])
    play.totals(8)
    for bet in ("win", "dont_win"):
        assert refused(play, bet).endswith(FIRST[decree])
    for bet in ("win_odds", "come_odds:6"):
        assert refused(play, bet).endswith(BESIDE[decree])
