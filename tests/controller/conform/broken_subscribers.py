"""Programs with one mistake each: changes to a correct one, and what requirement each violates."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "examples" / "conformant.py"
FOLLOWER = ROOT / "packaging" / "clients" / "python" / "novamas_client" / "__init__.py"

RECALLS = frozenset(
    {
        *("SUB-GAP", "SUB-RECALL", "SUB-PAGES", "SUB-REFUSED", "SUB-LOST", "SUB-MISSED"),
        *("SUB-RESTART", "SUB-BOOTS", "SUB-RECONNECT"),  # it waits for the rest of the boot before
    }
)
"""What a program cannot meet that recalls nothing."""
ITEMS = """
        for item in step.items:
            show_item(item)
"""
SHOW = """    elif status := STATUS.get(item["type"]):
"""
CONNECTED = """    client.subscribe("""
RECEIVED = """    body = json.loads(message.payload) if message.payload else None
"""


class BrokenSubscriber(NamedTuple):
    """``changes``: text of the program, or of the package that it uses, and what replaces it;
    ``id``: the requirement that it violates; ``follows``: others that fail with it.
    """

    name: str
    id: str
    changes: tuple[tuple[str, str], ...]
    follows: frozenset[str] = frozenset()

    def write(self, folder: Path) -> Path:
        """Write the program and its package into a folder, and return the program."""
        texts = {"conformant.py": PROGRAM.read_text(), "novamas_client.py": FOLLOWER.read_text()}
        for old, new in self.changes:
            (name,) = (name for name, text in texts.items() if text.count(old) == 1)
            texts[name] = texts[name].replace(old, new)
        for name, text in texts.items():
            (folder / name).write_text(text)
        return folder / "conformant.py"


def unless(condition: str, more: str = "") -> tuple[tuple[str, str], ...]:
    """Show no item for which a condition holds; ``more``: what is noted of the others."""
    lines = f"    elif {condition}:\n        return\n{SHOW}{more}"
    return ((SHOW, lines), ("states: dict", "seen: dict[Any, Any] = {}\nstates: dict"))


def received(lines: str) -> tuple[tuple[str, str], ...]:
    return ((RECEIVED, RECEIVED + lines),)


BROKEN = (
    BrokenSubscriber("ends at once", "SUB-START", (("client.loop_start()", "sys.exit(3)"),)),
    BrokenSubscriber(
        "logs to standard output",
        "SUB-LINES",
        ((CONNECTED, f'    sys.stdout.write("connected\\n")\n{CONNECTED}'),),
    ),
    BrokenSubscriber(
        "ignores retained messages",
        "SUB-RETAINED",
        received("    if message.retain:\n        return\n"),
        frozenset({"SUB-RECONNECT", "SUB-MISSED"}),
    ),
    BrokenSubscriber(
        "shows the number alone",
        "SUB-RESULT",
        (
            (
                '{"outcome": item["outcome"]}',
                '{"outcome": {"number": item["outcome"]["number"]}}',
            ),
        ),
    ),
    BrokenSubscriber(
        "shows an event again",
        "SUB-ONCE",
        (
            ("if seq > self.runs.get(boot, 0):", "if seq >= self.runs.get(boot, 0):"),
            (
                "if at.seq == delivered + 1:\n                    self.runs",
                "if at.seq >= delivered:\n                    self.runs",
            ),
        ),
    ),
    BrokenSubscriber(
        "shows events as they come",
        "SUB-ORDER",
        (
            (
                ITEMS,
                """
        for item in [*([body] if leaf == "event" else []), *step.items]:
            key = item if isinstance(item, Gap | Refusal) else (name, item["boot"], item["seq"])
            if key not in seen:
                seen[key] = None
                show_item(item)
""",
            ),
            ("states: dict", "seen: dict[Any, Any] = {}\nstates: dict"),
        ),
        frozenset({"SUB-GAP", "SUB-PAGES"}),
    ),
    BrokenSubscriber(
        "recalls nothing",
        "SUB-GAP",
        (("publish(client, step.publish)", "pass"),),
        RECALLS,
    ),
    BrokenSubscriber(
        "misspells a field of a recall",
        "SUB-RECALL",
        (('"from": request', '"first": request'),),
        RECALLS,
    ),
    BrokenSubscriber(
        "takes one answer for all",
        "SUB-PAGES",
        (("        if events:\n            return\n", ""),),
    ),
    BrokenSubscriber(
        "passes over a refusal",
        "SUB-REFUSED",
        (('            yield Refusal(self.name, reply.get("error", ""))', "            pass"),),
    ),
    BrokenSubscriber(
        "passes over what is lost",
        "SUB-LOST",
        (("                yield Gap(self.name, request.boot, first, request.last)\n", ""),),
    ),
    BrokenSubscriber(
        "takes history for live",
        "SUB-HISTORICAL",
        (('live=not item.get("historical", False)', "live=True"),),
    ),
    BrokenSubscriber(
        "drops the low numbers of a new boot",
        "SUB-RESTART",
        unless(
            'item["seq"] <= seen.get(item["table"], 0)',
            '        seen[item["table"]] = item["seq"]\n',
        ),
        frozenset({"SUB-BOOTS"}),
    ),
    BrokenSubscriber(
        "counts all tables together",
        "SUB-TABLES",
        unless(
            '(item["boot"], item["seq"]) in seen',
            '        seen[item["boot"], item["seq"]] = None\n',
        ),
    ),
    BrokenSubscriber(
        "leaves the session out of a round",
        "SUB-ROUND",
        unless(
            '(item["table"], item.get("round"), item["type"]) in seen',
            '        seen[item["table"], item["round"], item["type"]] = None\n',
        ),
    ),
    BrokenSubscriber(
        "knows no corrections",
        "SUB-CORRECTED",
        (('    "result.corrected": "corrected",\n', ""),),
        frozenset({"SUB-BOOTS"}),
    ),
    BrokenSubscriber(
        "corrects results of this boot alone",
        "SUB-BOOTS",
        unless('item.get("replaces_boot", item["boot"]) != item["boot"]'),
    ),
    BrokenSubscriber("knows no void rounds", "SUB-VOID", (('    "round.void": "void",\n', ""),)),
    BrokenSubscriber(
        "takes a candidate for a result",
        "SUB-UNRESOLVED",
        (
            ('"round.unresolved": "unresolved"', '"round.unresolved": "final"'),
            (
                'if "outcome" in item else {}',
                'if "outcome" in item else {"outcome": {"number": item.get("candidate")}}',
            ),
        ),
    ),
    BrokenSubscriber(
        "takes no confirmed results", "SUB-CONFIRMED", unless('"confirmed_by" in item')
    ),
    BrokenSubscriber(
        "ends at a field that it does not know",
        "SUB-FIELDS",
        received('    if body is not None and "polish" in body:\n        os._exit(4)\n'),
    ),
    BrokenSubscriber(
        "does not count events that it does not know",
        "SUB-TYPES",
        received('    if body and body.get("type") == "novelty.announced":\n        return\n'),
    ),
    BrokenSubscriber(
        "drops events whose time is earlier",
        "SUB-CLOCK",
        unless(
            'item["time"] < seen.get(item["table"], "")',
            '        seen[item["table"]] = item["time"]\n',
        ),
    ),
    BrokenSubscriber(
        "takes a fault for current", "SUB-STALE", (('("stale", "fault")', '("stale",)'),)
    ),
    BrokenSubscriber(
        "does not see that a daemon is offline",
        "SUB-OFFLINE",
        (('daemon.get("status") == "online"', 'daemon.get("status") is not None'),),
    ),
    BrokenSubscriber(
        "does not compare the boot", "SUB-BOOT", ((' and daemon["boot"] == state["boot"]', ""),)
    ),
    BrokenSubscriber(
        "does not see that it is cut off", "SUB-CUT", (("    nodes.clear()\n", "    return\n"),)
    ),
    BrokenSubscriber(
        "subscribes once",
        "SUB-RECONNECT",
        ((CONNECTED, f"    if states:\n        return\n{CONNECTED}"),),
        frozenset({"SUB-MISSED"}),
    ),
    BrokenSubscriber(
        "forgets its positions when it connects",
        "SUB-MISSED",
        ((CONNECTED, f"    follower.__init__(ROOT, CLIENT)\n{CONNECTED}"),),
    ),
    BrokenSubscriber(
        "reads every message as JSON",
        "SUB-EMPTY",
        ((" if message.payload else None\n", "\n"),),
    ),
    BrokenSubscriber(
        "subscribes to sealed cards",
        "SUB-SEALED",
        (
            ('f"{ROOT}/node/+/status")', 'f"{ROOT}/node/+/status", f"{ROOT}/+/sealed")'),
            (RECEIVED, f'    if leaf == "sealed":\n        return\n{RECEIVED}'),
        ),
    ),
    BrokenSubscriber(
        "publishes its own status",
        "SUB-WRITE",
        (
            (
                CONNECTED,
                f'    client.publish(f"{{ROOT}}/node/shop/status", "{{}}", qos=1)\n{CONNECTED}',
            ),
        ),
    ),
    BrokenSubscriber(
        "retains its commands",
        "SUB-NOT-RETAINED",
        (
            (
                "client.publish(topic, body, qos=1)",
                "client.publish(topic, body, qos=1, retain=True)",
            ),
        ),
    ),
)
