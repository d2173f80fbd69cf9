"""Renders the numbered rules as Markdown: one page per decree, and a table of contents."""

from __future__ import annotations

import re
from itertools import groupby

from controller.rulebooks.chapters import head
from controller.rulebooks.dispositions import KINDS
from controller.rulebooks.numbered import NumberedRule, numbered

GENERATED_NOTICE = (
    "<!-- Made by `novamas rules --pages`; change the data in controller/rulebooks, not this "
    "page. -->\n"
)

WHO_DECIDES_PAGE = "who-decides.md"
"""Page about who may decide, written by controller/games/deciding.py."""


def pages() -> dict[str, str]:
    """Return the Markdown text of each page, by file name."""
    decrees = {
        decree: list(rules)
        for decree, rules in groupby(numbered().values(), key=lambda rule: rule.decree)
    }
    return {
        "README.md": _contents(decrees),
        **{f"{decree}.md": _page(decree, rules) for decree, rules in decrees.items()},
    }


def _contents(decrees: dict[str, list[NumberedRule]]) -> str:
    kinds = [kind.replace("_", " ") for kind in KINDS]
    lines = [
        GENERATED_NOTICE,
        "# The numbered rules\n",
        (
            "What each rule prints, what the table does about it, and what proves it. [How to read "
            "the dispositions](../rules.md).\n"
        ),
        f"| Decree | Rules | {' | '.join(kinds)} |",
        f"|---|---|{'---|' * len(kinds)}",
    ]
    for decree, rules in decrees.items():
        counts = [str(sum(rule.disposition == kind for rule in rules)) for kind in KINDS]
        lines.append(
            f"| [{decree}]({decree}.md) {head(decree).title} | {len(rules)} | "
            f"{' | '.join(counts)} |"
        )
    return "\n".join(lines) + "\n"


def _page(decree: str, rules: list[NumberedRule]) -> str:
    title = head(decree).title
    games = {
        game: [rule for rule in rules if rule.game == game]
        for game in dict.fromkeys(rule.game for rule in rules)
    }
    contents = [
        f"- {game}: {', '.join(f'[{rule.id[6:]}](#{rule.id.lower()})' for rule in its)}"
        for game, its in games.items()
    ]
    sections = [
        part
        for game, its in games.items()
        for part in (f"## {game}\n", *(_rule(rule, title) for rule in its))
    ]
    return "\n".join([GENERATED_NOTICE, f"# {decree}: {title}\n", *contents, "", *sections])


def _rule(rule: NumberedRule, title: str) -> str:
    article = rule.article.removeprefix(f"{title}, ")
    lines = [
        f"### {rule.id}\n",
        f"{plain(rule.wording)}\n",
        f"- **{rule.disposition.replace('_', ' ')}**: {plain(rule.reason or rule.where)}",
        f"- {plain(article)} ({rule.lines}): «{plain(rule.printed)}»",
    ]
    for proof in rule.proofs:
        fails = f" fails when {plain(proof.mutant)}" if proof.mutant else ""
        lines.append(f"- test: `{proof.test}`{fails}")
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Escape text so that Markdown shows it literally."""
    return re.sub(r"([\\`*_<>|\[\]#~$])", r"\\\1", text)
