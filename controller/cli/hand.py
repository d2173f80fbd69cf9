"""``novamas hand``: evaluates a poker hand by the ranking of a decree."""

from __future__ import annotations

import argparse

import msgspec

from controller.cli import CommandLineError


def arguments(parser: argparse.ArgumentParser) -> None:
    """--game G --decree D [--own N] [--low] [--pack N] CARD..."""
    parser.add_argument(
        "cards",
        nargs="+",
        metavar="CARD",
        help="rank and suit (Ah, Td); X is the joker; own cards first",
    )
    parser.add_argument(
        "--game", required=True, metavar="G", help="a game of poker that `novamas games` lists"
    )
    parser.add_argument(
        "--decree", required=True, metavar="D", help="the decree that the table plays under"
    )
    parser.add_argument(
        "--own",
        type=int,
        metavar="N",
        help="number of own cards; the rest are common cards (default: as dealt)",
    )
    parser.add_argument(
        "--low", action="store_true", help="evaluate the low hand, if the game has one"
    )
    parser.add_argument(
        "--pack",
        type=int,
        metavar="N",
        help="size of the pack, if the game has several (default: the largest)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one JSON line; category, rank and key are null where the cards do not qualify."""
    from controller.games.hands.evaluator import best_of
    from controller.games.hands.of import contest
    from controller.games.hands.words import in_words

    try:
        game = contest(arguments.game, arguments.decree)
    except ValueError as error:
        raise CommandLineError(str(error)) from error
    try:
        ranking = game.low_ranking() if arguments.low else game.ranking(arguments.pack)
        own, common = game.split(
            [card for word in arguments.cards for card in word.split()], arguments.own
        )
        hand = best_of(own, common, ranking, game.own_exactly)
    except ValueError as error:
        raise CommandLineError(f"{arguments.game} under {arguments.decree}: {error}") from error
    result = {
        "game": arguments.game,
        "decree": arguments.decree,
        "ranking": ranking,
        "category": hand and hand.category,
        "rank": hand and in_words(hand, ranking),
        "key": hand and hand.key,
        "cards": hand and hand.cards,
    }
    print(msgspec.json.encode(result).decode())
    return 0
