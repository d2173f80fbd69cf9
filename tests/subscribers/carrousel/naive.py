"""The law of a jackpot, computed once over a whole evening that is already known: everything sorted
by time, one meter, no pending values and no corrections. Only for tests.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from subscribers.carrousel.facts import NotWon, PlayStaked, RoundVoided, Staked, Won

Event = Staked | PlayStaked | RoundVoided | Won | NotWon


class Evening:
    """Balances after all events, and the value of each award."""

    def __init__(self, given: dict[str, Any], events: list[Event]) -> None:
        self.terms = given
        self.sums: Counter[str] = Counter()
        self.worth: dict[tuple[object, ...], int] = {}
        self._raw = self._raw_reserve = 0
        self._boxes: dict[tuple[str, int, int], dict[str, tuple[int, list[int]]]] = {}
        self._told: dict[tuple[str, int, int], int] = {}
        self._hits: dict[tuple[str, int, int], dict[str, Any]] = {}
        self._ended: set[tuple[str, int, int]] = set()
        self._move("meter", "seed", given.get("seed", 0))
        for event in sorted(events, key=lambda each: each.cause):
            self._take(event)
        self._bound()
        self.sums["meter"], self.sums["reserve"] = self._raw, self._raw_reserve

    def _move(self, to: str, source: str, amount: int) -> None:
        for account, signed in ((to, amount), (source, -amount)):
            if account == "meter":
                self._raw += signed
            elif account == "reserve":
                self._raw_reserve += signed
            else:
                self.sums[account] += signed

    def _bound(self) -> None:
        """Keep the meter within its bounds at the end of the stretch since the last hit."""
        limit = self.terms.get("limit")
        if limit is not None and self._raw > limit:
            self._move("reserve", "meter", self._raw - limit)
        if self._raw < 0:
            self._move("meter", "house", -self._raw)
        if self._raw_reserve < 0:
            self._move("reserve", "house", -self._raw_reserve)

    def _stake(self, amount: int, sign: int = 1) -> None:
        up, of = self.terms["authorisation"]["percentage"]
        part, whole = self.terms.get("reserve", (0, 1))
        rise = 0 if self.terms.get("kind") == "fixed" else amount * up // of
        kept = rise * part // whole
        self._move("meter", "stakes", sign * (rise - kept))
        self._move("reserve", "stakes", sign * kept)
        self._move("house", "stakes", sign * (amount - rise))

    def _take(self, event: Event) -> None:
        where = (event.cause.table, event.session, event.round)
        match event:
            case Staked():
                self._coin(where, event)
            case PlayStaked():
                self._ended.add(where)
                boxes = self._boxes.get(where, {})
                counted = 0 if self._by_play else sum(amount for amount, _ in boxes.values())
                if event.amount >= counted:
                    self._told[where] = event.amount - counted
                    self._stake(event.amount - counted)
            case RoundVoided():
                for _, coins in self._boxes.pop(where, {}).values():
                    for coin in coins:
                        self._stake(coin, -1)
                self._stake(self._told.pop(where, 0), -1)
                hit = self._hits.pop(where, {"awards": {}})
                for key in list(hit["awards"]):
                    self._back(hit, key)
            case Won():
                self._won(where, event)
            case NotWon():
                hit = self._hits[where]
                self._back(hit, (*where, event.box, event.hand, event.share))

    @property
    def _by_play(self) -> bool:
        return bool(self.terms.get("entry") == "plays")

    def _coin(self, where: tuple[str, int, int], event: Staked) -> None:
        boxes = self._boxes.setdefault(where, {})
        amount, coins = boxes.get(event.box, (0, []))
        if self._by_play:
            boxes[event.box] = (event.amount, [])
            return
        if event.amount < amount:
            for coin in coins:
                self._stake(coin, -1)
            coins, amount = [], 0
        self._stake(event.amount - amount)
        boxes[event.box] = (event.amount, [*coins, event.amount - amount])

    def _won(self, where: tuple[str, int, int], event: Won) -> None:
        key = (*where, event.box, event.hand, event.share)
        hit = self._hits.get(where)
        if hit is None:
            self._bound()
            hit = {"meter": self._raw, "reserve": self._raw_reserve, "awards": {}, "whole": False}
            hit.update(first=[], seed=None, corrected=False, found=where in self._ended)
            self._hits[where] = hit
        share = event.share
        assert share is not None
        if (where in self._ended and hit["awards"]) or hit["corrected"]:
            hit["awards"][key] = Fraction(*share)
            self._whole(hit)
            value = (hit["meter"] + hit["added"] * hit["whole"]) * share[0] // share[1]
            self.worth[key] = value
            self._move("award", "meter", value)
            self._restore(value)
            return
        # all hands of the play take shares of the same meter: value the play again with this one
        for other in hit["first"]:
            self._move("meter", "award", self.worth[other])
            self._restore(-self.worth[other])
        hit["first"].append(key)
        hit["awards"][key] = Fraction(*share)
        self._whole(hit)
        worth = hit["meter"] + hit["added"] * hit["whole"]
        shares = [hit["awards"][each] for each in hit["first"]]
        for each, part in zip(hit["first"], shares, strict=True):
            self.worth[each] = int(worth * part)
        if self.terms.get("remainder") == "first":
            left = int(worth * sum(shares)) - sum(self.worth[each] for each in hit["first"])
            self.worth[hit["first"][0]] += left
        for each in hit["first"]:
            self._move("award", "meter", self.worth[each])
            self._restore(self.worth[each])

    def _restore(self, value: int) -> None:
        if self.terms.get("kind") == "fixed":
            self._move("meter", "seed", value)

    def _whole(self, hit: dict[str, Any]) -> None:
        """Begin the next period, or undo its begin."""
        hit.setdefault("added", max(0, self.terms.get("least", 0) - hit["meter"]))
        whole = sum(hit["awards"].values()) >= 1
        if whole == hit["whole"]:
            return
        hit["whole"] = whole
        sign = 1 if whole else -1
        self._move("meter", "house", sign * hit["added"])
        if self.terms.get("kind") == "fixed":
            return
        if hit["seed"] is None:
            seed = self.terms.get("seed", 0)
            late = hit["corrected"] or (len(hit["awards"]) > 1 and hit["found"])
            reserve = 0 if late else min(seed, hit["reserve"])
            hit["seed"] = (reserve, seed - reserve)
        self._move("meter", "reserve", sign * hit["seed"][0])
        self._move("meter", "seed", sign * hit["seed"][1])

    def _back(self, hit: dict[str, Any], key: tuple[object, ...]) -> None:
        if hit["awards"].pop(key, None) is None:
            return
        hit["corrected"] = True
        value = self.worth.pop(key)
        self._move("meter", "award", value)
        self._restore(-value)
        self._whole(hit)
