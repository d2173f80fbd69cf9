"""How soon a defective shuffler, or an exchanged wheel, is detected: by simulation."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from benchmarks.figures import percentile, row
from subscribers.statistics.change import ChangeWatch
from subscribers.statistics.shoes import DECK, DealtShoe, ShoeEvidence, after

Shuffle = Callable[[list[str], Random], list[str]]
DECKS, DEALT_SHARE = 8, 6 / 7
"""Decks of a shoe, and the share of it that is dealt."""


def riffles(times: int) -> Shuffle:
    """Return a number of riffle shuffles, by the model of Gilbert, Shannon and Reeds."""

    def shuffle(cards: list[str], random: Random) -> list[str]:
        for _ in range(times):
            cut = sum(random.random() < 0.5 for _ in cards)
            halves, cards = [cards[:cut][::-1], cards[cut:][::-1]], []
            while any(halves):
                left = random.random() * (len(halves[0]) + len(halves[1])) < len(halves[0])
                cards.append(halves[0 if left else 1].pop())
        return cards

    return shuffle


def slug(size: int) -> Shuffle:
    """Return a perfect shuffle of all but ``size`` cards, which stay together."""

    def shuffle(cards: list[str], random: Random) -> list[str]:
        at = random.randrange(len(cards) - size)
        slug_cards, others = cards[at : at + size], cards[:at] + cards[at + size :]
        random.shuffle(others)
        place = random.randrange(len(others))
        return others[:place] + slug_cards + others[place:]

    return shuffle


def perfect(cards: list[str], random: Random) -> list[str]:
    """A perfect shuffle."""
    random.shuffle(cards)
    return cards


def detected_after(shuffle: Shuffle, shoes: int, random: Random) -> int | None:
    """Return after how many shoes a repeated order is detected; None: not within ``shoes``."""
    cards, evidence, before = perfect([*DECK] * DECKS, random), ShoeEvidence(), None
    for number in range(shoes):
        shoe = DealtShoe(str(number), DECKS, tuple(cards[: int(len(cards) * DEALT_SHARE)]))
        evidence, before = after(evidence, before, shoe), shoe
        if "order" in evidence.alarms:
            return number + 1
        cards = shuffle(cards, random)
    return None


def print_shoes(tables: int, seed: int) -> None:
    """Simulate and print."""
    random = Random(seed)
    print(f"Shoes of {DECKS} decks until a repeated order is detected")
    print(row("", "detected", "median", "last", "shoes"))
    for name, shuffle, shoes, kind in (
        ("perfect", perfect, 40, 2 * tables),
        *((f"{times} riffles", riffles(times), 20, tables) for times in (1, 3, 4, 5)),
        *((f"slug of {size}", slug(size), 80, tables) for size in (10, 20, 40)),
    ):
        detected = [detected_after(shuffle, shoes, random) for _ in range(kind)]
        found = [shoe for shoe in detected if shoe is not None]
        middle = f"{percentile(found, 50):,.0f}" if found else "-"
        print(row(name, f"{len(found)}/{kind}", middle, max(found, default=0), shoes), flush=True)


def change_detected_after(spins: int, later: int, slower: float, name: str) -> int | None:
    """Return after how many spins a change is detected. There are four dealers, each with a pace;
    times have a standard deviation of 3 s, and are ``slower`` seconds longer after ``spins``.
    """
    random, watch = Random(name), ChangeWatch(37)
    for number in range(spins + later):
        dealer = number // 200 % 4
        mean = 20 + dealer + (slower if number >= spins else 0)
        spins_seen = {"spin_seconds": random.gauss(mean, 3.0)}
        watch.add_spin(f"{name} {number}", random.randrange(37), str(dealer), spins_seen)
        if watch.alarm is not None:
            return watch.alarm[0]
    return None


def print_changes(wheels: int, seed: int) -> None:
    """Simulate and print."""
    print(
        "Wheels exchanged after 2,000 spins: spins until detection; times have a deviation of 3 s"
    )
    print(row("", "detected", "median", "90 %"))
    for slower in (1.5, 3.0, 6.0):
        detected = [
            change_detected_after(2000, 1500, slower, f"{seed} {slower} {n}") for n in range(wheels)
        ]
        found = [spin - 2000 for spin in detected if spin is not None and spin > 2000]
        cells = (percentile(found, 50), percentile(found, 90))
        shown = (f"{len(found)}/{wheels}", *(f"{cell:,.0f}" for cell in cells))
        print(row(f"{slower} s slower", *shown), flush=True)
    false = [change_detected_after(10_000, 0, 0.0, f"{seed} same {n}") for n in range(5 * wheels)]
    alarms = sum(spin is not None for spin in false)
    print(f"  wheel not exchanged: {alarms} of {5 * wheels} raised an alarm within 10,000 spins")
