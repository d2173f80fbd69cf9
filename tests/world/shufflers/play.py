"""How the croupier of a table with a shuffler plays: he loads it, waits for the deck, puts that
into the shoe and deals.
"""

from __future__ import annotations

from simulators.shuffler.shuffler import DECK
from tests.world.cards import games
from tests.world.cards.croupier import Croupier, Shown
from tests.world.shufflers.shuffler import Deck, ShufflerAtTable

HASTY = 0.3
"""How often he takes a deck out that the shuffler has found wrong."""
TRIED = 0.1
"""How often he looks whether the shoe reads: it is silent until a card comes."""


def poker(croupier: Croupier, shown: Shown, shuffler: ShufflerAtTable) -> None:
    """A deck from the shuffler for each round; the rest as without one."""
    model = shuffler.model
    phase = shown["phase"]
    if phase == "waiting":
        if not croupier.top.shoe.model.reports or croupier.random.random() < TRIED:
            _try_reader(croupier)
        elif model.deck is None:
            shuffler.load()
        elif model.deck.is_whole or croupier.random.random() < HASTY:
            _begin(croupier, model.take())
    elif phase == "bets_open" and shown["hands"]:
        if "bets.close" in croupier.takes:
            croupier.send("bets.close")
        else:
            count(croupier, shuffler)
    elif phase == "bets_open":
        croupier.send("boxes.set", boxes=list(games.BOXES))
    else:
        games.poker(croupier, shown)


def count(croupier: Croupier, shuffler: ShufflerAtTable) -> None:
    """Count the deck by hand, and say what is there; a wrong one is replaced."""
    there = croupier.top.shoe.model.left
    croupier.send("deck.check", cards=there, right=there == DECK)
    if there != DECK:
        _fill(croupier, Deck(shuffler.model.verdicts[-1]._replace(is_right=True)))


def _try_reader(croupier: Croupier) -> None:
    """Draw a card of the deck before, which nobody wants."""
    if croupier.top.shoe.model.left:
        croupier.draw("")


def _begin(croupier: Croupier, deck: Deck) -> None:
    if croupier.may_begin:
        croupier.top.clear()
        _fill(croupier, deck)
        croupier.send("bets.open")


def _fill(croupier: Croupier, deck: Deck) -> None:
    """Put the deck into the shoe."""
    shoe = croupier.top.shoe
    shoe.change_cards()
    if not deck.is_whole:
        shoe.model.lose(deck.verdict.missing)
