"""How the croupier plays regular rounds, game by game."""

from __future__ import annotations

from tests.world.cards.croupier import Croupier, Shown, count_shown

LEAST_LEFT = 22
"""With fewer cards in the shoe no round begins: enough for black jack at two boxes."""
BOXES = (1, 2)


def punto_banca(croupier: Croupier, shown: Shown) -> None:
    """Two cards to each hand and a third, all face down; they are turned by hand."""
    top, phase = croupier.top, shown["phase"]
    if phase in ("no_shoe", "shoe_over") or (
        phase == "waiting" and top.shoe.model.left < LEAST_LEFT
    ):
        croupier.change_shoe()
    elif phase == "burning":
        drawn = shown["shoe"]["drawn"]
        if croupier.agrees(drawn) and shown["expected"]:
            first = drawn == 0
            croupier.draw("burn", to="first" if first else "burn", index=drawn, up=first)
    elif phase == "waiting":
        croupier.begin()
    elif phase == "bets_open":
        top.clear()
        croupier.send("bets.close")
    elif phase == "dealing" and croupier.agrees(count_shown(shown)):
        if to := shown["expected"]:
            croupier.draw(to, index=len(shown["hands"][to]) + 1)
        elif "cards.turn" in croupier.takes:
            who = croupier.random.choice((None, None, "player", "banker"))
            croupier.turn(shown, who)


def blackjack(croupier: Croupier, shown: Shown) -> None:
    """All cards come face up, but those that are burned."""
    top, phase = croupier.top, shown["phase"]
    if phase in ("no_shoe", "shoe_over") or (
        phase == "waiting" and top.shoe.model.left < LEAST_LEFT
    ):
        croupier.change_shoe()
    elif phase == "burning":
        if croupier.agrees(shown["shoe"]["drawn"]) and shown["expected"]:
            croupier.draw("burn")
    elif phase == "waiting":
        croupier.begin()
    elif phase == "bets_open":
        top.clear()
        if not shown["hands"]:
            croupier.send("boxes.set", boxes=list(BOXES))
        else:
            croupier.send("bets.close")
    elif croupier.agrees(count_shown(shown)):
        if to := shown["expected"]:
            croupier.draw(to, up=True)
        elif shown["turn"]:
            keys = [name for name in croupier.takes if name.startswith("hand.")]
            _press(croupier, keys, shown)


def _press(croupier: Croupier, keys: list[str], shown: Shown) -> None:
    points = shown["hands"][shown["turn"]]["points"]
    if croupier.random.random() < 0.2 and keys:
        name = croupier.random.choice([name for name in keys if name != "hand.even_money"])
    else:
        name = "hand.draw" if points < 15 else "hand.stand"
    croupier.send(name)


def poker(croupier: Croupier, shown: Shown) -> None:
    """A pack of 52 for each round; all cards lie face down, but the last of the bank."""
    top, phase, hands = croupier.top, shown["phase"], shown["hands"]
    if phase == "waiting":
        croupier.begin(new_cards=True)
    elif phase == "bets_open":
        top.clear()
        if not shown["deck"] and "deck.check" in croupier.takes:
            croupier.send("deck.check", cards=52, right=True)
        elif not hands:
            croupier.send("boxes.set", boxes=list(BOXES))
        else:
            croupier.send("bets.close")
    elif not croupier.agrees(count_shown(shown)):
        return
    elif to := shown["expected"]:
        up = to == "dealer" and len(shown["dealer"]) == 4
        croupier.draw(to, up=up)
    elif phase == "decisions":
        who = shown["undecided"][0]
        action = croupier.random.choice(("go", "go", "pass"))
        croupier.send("hand.act", who=who, action=action)
    elif phase == "dealer":
        _turn(croupier, shown, "dealer")
    elif phase == "showdown":
        for who, hand in hands.items():
            if hand["decision"] == "go" and None in hand["cards"]:
                _turn(croupier, shown, who)
                break


def _turn(croupier: Croupier, shown: Shown, who: str) -> None:
    if croupier.random.random() < 0.8:
        croupier.turn(shown, who)
    else:
        croupier.show(who)
