"""Results as they were told when each had its fields on the event itself: the other way from
``outcome`` back to them.
"""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]

WHEELS = frozenset({"roulette", "boule", "fortune-wheel"})
SETTLED = frozenset({"boule", "fortune-wheel", "craps", "blackjack"})
"""The families whose results always had ``bets``."""
UNWON = frozenset({"blackjack", "house-poker"})
"""The families whose results always had a ``winner`` of null."""
UNTOLD = {
    "boule": ("last_of_session",),
    "fortune-wheel": ("last_of_session", "cell"),
    "baccarat": ("hands", "marks"),
    "trente-et-quarante": ("hands",),
}
"""What a correction did not repeat."""


def flat(told: Fields) -> Fields:
    """What a table says to one input, with its results as they were told."""
    retained = dict(told["retained"])
    if retained["result"] is not None:
        retained["result"] = flat_event(retained["result"])
    history = retained["history"]
    lines = [flat_line(line, history["game"]) for line in history["results"]]
    retained["history"] = history | {"results": lines}
    state = retained["state"]
    shown = {key: value for key, value in state["shown"].items() if key != "view"}
    retained["state"] = state | {"shown": shown}
    events = told["events"]
    if isinstance(events, list):
        events = [flat_event(event) for event in events]
    return told | {"events": events, "retained": retained}


def flat_event(event: Fields) -> Fields:
    """One event."""
    if "outcome" not in event or "type" not in event:
        return event
    others = {key: value for key, value in event.items() if key not in ("outcome", "bets")}
    fields = _fields(event["outcome"])
    family = fields.pop("family")
    if family in SETTLED:
        fields["bets"] = event.get("bets", [])
    if event["type"] == "round.result":
        return others | fields | ({"spin": event.get("spin")} if family in WHEELS else {})
    for name in UNTOLD.get(family, ()):
        del fields[name]
    return others | fields


def flat_line(line: Fields, game: str) -> Fields:
    """One line of the history."""
    told = {"round": line["round"], "kind": line["kind"]}
    wheel = game in WHEELS or game.startswith("roulette")
    if wheel:
        told["spin"] = line.get("spin")
    if line["kind"] == "void":
        return told | {"reason": line["reason"], "article": line["article"]}
    if line["kind"] == "unresolved":
        seen = line.get("dice" if game == "craps" else "candidate")
        return told | ({"candidate": seen} if wheel or game == "craps" else {})
    fields, corrected = _fields(line["outcome"]), {"corrected": line["corrected"]}
    match fields.pop("family"):
        case "roulette" | "boule":
            fields = {name: fields[name] for name in ("number", "colour")}
        case "fortune-wheel":
            fields = {name: fields[name] for name in ("number", "cell")}
        case "baccarat" if game != "punto-banca":
            hands = {hand["who"]: [hand["points"], hand.get("outcome")] for hand in fields["hands"]}
            fields, corrected = {"winner": fields["winner"], "hands": hands}, {}
        case "baccarat" | "trente-et-quarante":
            points = {hand["who"]: hand["points"] for hand in fields.pop("hands")}
            fields["points"] = points
        case "blackjack":
            del fields["winner"]
            corrected = {}
    return told | fields | corrected


def _fields(outcome: Fields) -> Fields:
    """Of an outcome, as an event had them."""
    fields = dict(outcome)
    if fields["family"] in UNWON:
        fields["winner"] = None
    hands = fields.get("hands", ())
    if fields["family"] == "baccarat" and hands and not any(hand["cards"] for hand in hands):
        won = {"win": None, "lose": "banker", "tie": "tie"}
        fields["winner"] = ",".join(won[hand["outcome"]] or hand["who"] for hand in hands)
        fields["hands"] = []
    return fields
