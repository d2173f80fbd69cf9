"""Write the manual pages, one for each command, from ``--help``: manual.py FOLDER VERSION DATE."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from command_tree import CommandEntry, commands

from controller.cli import command_line

MORE = {
    "FILES": """\
.TP
.I /etc/novamas/novamas.toml
the configuration; /usr/share/doc/novamas/examples has one with every setting
.TP
.I /var/lib/novamas
the journal and the recordings of the daemon
""",
}
"""Sections of the first page that are not from the parser."""


def main(folder: Path, version: str, date: str) -> None:
    """Write all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = commands()
    first = [
        *_heading("novamas", version, date),
        *_section("NAME"),
        "novamas \\- " + _text(command_line([]).description or ""),
        *_section("SYNOPSIS"),
        "\\fBnovamas\\fR \\fICOMMAND\\fR ...",
        *_section("COMMANDS"),
    ]
    for name, text, _ in whole:
        if " " not in name:
            first += [".TP", f"\\fBnovamas\\-{_text(name)}\\fR(1)", _text(text)]
    first += [f".SH {title}\n{body.rstrip()}" for title, body in MORE.items()]
    _write(folder / "novamas.1", first)
    for command in whole:
        if " " not in command.name:
            actions = [each for each in whole if each.name.startswith(f"{command.name} ")]
            page = [*_heading(f"novamas-{command.name}", version, date), *_page(command, actions)]
            _write(folder / f"novamas-{command.name}.1", page)


def _page(command: CommandEntry, actions: list[CommandEntry]) -> Iterator[str]:
    yield from _section("NAME")
    yield f"novamas\\-{_text(command.name)} \\- {_text(command.help)}"
    yield from _section("SYNOPSIS")
    yield from _as_it_is(_usage(command.parser))
    yield from _section("DESCRIPTION")
    yield _sentence(command.help)
    yield from _described(command)
    for action in actions:
        yield from _section(f"NOVAMAS {action.name.upper()}")
        yield _sentence(action.help)
        yield from _as_it_is(_usage(action.parser))
        yield from _described(action)
    yield from _section("SEE ALSO")
    yield "\\fBnovamas\\fR(1), /usr/share/doc/novamas/html/index.html"


def _described(command: CommandEntry) -> Iterator[str]:
    parser = command.parser
    if parser.description and parser.description != command.help:
        yield ".PP"
        yield _text(parser.description)
    formatter = parser._get_formatter()
    for group in parser._action_groups:
        shown = [each for each in group._group_actions if each.help is not argparse.SUPPRESS]
        if shown:
            yield f".SS {_text((group.title or '').capitalize())}"
        for action in shown:
            yield ".TP"
            yield f"\\fB{_text(formatter._format_action_invocation(action))}\\fR"
            yield _text(formatter._expand_help(action)) if action.help else "\\&"
    if parser.epilog:
        yield ".PP"
        yield from _as_it_is(parser.epilog)


def _usage(parser: argparse.ArgumentParser) -> str:
    return parser.format_usage().removeprefix("usage: ").replace("\n       ", "\n")


def _heading(title: str, version: str, date: str) -> list[str]:
    return [f'.TH "{_text(title.upper())}" 1 "{date}" "Novamás {version}" "Novamás"']


def _section(title: str) -> list[str]:
    return [f".SH {_text(title)}"]


def _as_it_is(text: str) -> list[str]:
    """Keep the line breaks of a text."""
    return [".PP", ".nf", *(_text(line) or "\\&" for line in text.rstrip().split("\n")), ".fi"]


def _sentence(text: str) -> str:
    return _text(f"{text[0].upper()}{text[1:].rstrip('.')}.")


def _text(text: str) -> str:
    """Escape a text for roff."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", plain, flags=re.MULTILINE)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
