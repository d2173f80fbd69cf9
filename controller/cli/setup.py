"""``novamas setup``: asks, writes every file that a site needs, and starts it."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from common.contract.messages.messages import LANGUAGES
from common.own_language import add_language
from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT_CONFIG

if TYPE_CHECKING:
    from controller.configuration.settings import PeopleConfig
    from controller.setup.browser import BrowserFront
    from controller.setup.facts import Facts, FoundDevice
    from controller.setup.model import WrongAnswerError
    from controller.setup.plan import SetupPlan

SERVICE_FOLDER = Path("/etc/novamas")
"""Where the configuration of the installed package lies."""
SYSTEMD = Path("/run/systemd/system")
LISTEN_SECONDS = 10.0
"""Maximum seconds of listening for a device."""
MAX_PORTS_AT_ONCE = 16


def arguments(parser: argparse.ArgumentParser) -> None:
    """[FILE] and its options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "As root where the package is installed, it configures /etc/novamas and the units of\n"
        "systemd; else the current folder, and it runs everything itself until Ctrl-C. It can be\n"
        "run again: what was answered or written before is the default.\n"
        "docs/technician/setup.md has every question and the file for --answers."
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help=f"the configuration to write (default: {SERVICE_FOLDER / DEFAULT_CONFIG} as root "
        f"where the package is installed, else {DEFAULT_CONFIG})",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="take the answers from a TOML file; ask nothing",
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--dry-run", action="store_true", help="print what would be written, and write nothing"
    )
    ways.add_argument(
        "--web",
        action="store_true",
        help="ask in a browser on this machine, by the address that is printed",
    )
    add_language(parser, LANGUAGES)


def run(arguments: argparse.Namespace) -> int:
    """Ask, write and start. Returns 0 also if the person declines."""
    from controller.setup.browser import BrowserFront
    from controller.setup.change import SetupError
    from controller.setup.words import say

    if arguments.web and arguments.answers is not None:
        raise CommandLineError("--web: --answers asks nothing; leave one of them out", 2)
    language = arguments.language
    front = None
    try:
        facts = facts_of(arguments.file or default_file())
        if arguments.web:
            front = BrowserFront(facts, found_devices)
            front.start()
            print(say("say.look", language, address=front.address), flush=True)
        try:
            plan = front.wait() if front is not None else _agreed_plan(arguments, facts)
        except KeyboardInterrupt:
            print(f"\n{say('say.nothing', language)}")
            return 130
        if plan is not None:
            carry_out(plan, facts, language, front)
        elif not arguments.dry_run:
            print(say("say.nothing", language))
    except SetupError as error:
        if front is not None:
            front.finish([], str(error))
        raise CommandLineError(str(error)) from None
    finally:
        if front is not None:
            front.close()
    return 0


def _agreed_plan(arguments: argparse.Namespace, facts: Facts) -> SetupPlan | None:
    """Ask on the terminal, or take the answers of a file; show the plan. None: nothing is to be
    done. Raises ``SetupError``.
    """
    from controller.cli import setup_terminal
    from controller.setup.answer_file import answer_all
    from controller.setup.plan import make_plan

    language = arguments.language
    if arguments.answers is not None:
        given = answer_all(arguments.answers, facts, language, _print_doubt)
    else:
        given = setup_terminal.ask_all(facts, language, found_devices)
    plan = make_plan(given, facts)
    if arguments.dry_run:
        setup_terminal.show(plan, language, whole=True)
        return None
    if arguments.answers is not None or not plan.changes:
        setup_terminal.show(plan, language)
        return plan
    return plan if setup_terminal.confirm(plan, language) else None


def default_file() -> Path:
    """Return the configuration of the installed package for root, else one in this folder."""
    is_installed = SERVICE_FOLDER.is_dir() and os.geteuid() == 0
    return SERVICE_FOLDER / DEFAULT_CONFIG if is_installed else DEFAULT_CONFIG


def carry_out(
    plan: SetupPlan, facts: Facts, language: str, front: BrowserFront | None = None
) -> None:
    """Write the files, and start what is to be started; report it to the browser too, and leave it
    with the addresses. Raises ``SetupError``.
    """
    from controller.setup import perform
    from controller.setup.words import say

    def tell(key: str, **fields: object) -> None:
        print(say(f"say.{key}", language, **fields), flush=True)
        if front is not None:
            front.report(key, **fields)

    perform.write(plan.changes)
    if plan.changes:
        tell("written")
    if plan.site_key is not None:
        tell("site_key", path=plan.site_key)
    if not plan.starts:
        tell("commands")
        print("\n".join(f"  {command}" for command in start_commands(plan, facts)))
        if front is not None:
            front.finish([])
        return
    if facts.is_service and facts.has_systemd:
        import asyncio

        from controller.setup.opening import open_under_systemd

        for command in perform.run(plan.steps):
            print(f"  {command}", flush=True)
        if plan.opens:
            asyncio.run(open_under_systemd(plan, tell))
        _tell_addresses(plan, tell)
        if front is not None:
            front.finish(addresses(plan))
        return
    from controller.setup.running import run_all

    def ready() -> None:
        _tell_addresses(plan, tell)
        tell("foreground")
        for command in start_commands(plan, facts):
            tell("command", command=command)
        if front is not None:
            threading.Thread(target=front.finish, args=(addresses(plan),), daemon=True).start()

    run_all(plan, facts, ready, tell)


def _tell_addresses(plan: SetupPlan, tell: Callable[..., None]) -> None:
    for address in addresses(plan):
        tell("look", address=address)


def addresses(plan: SetupPlan) -> list[str]:
    """Return the addresses to open in a browser."""
    if not plan.has_web:
        return []
    pages = ["floor"]
    if plan.configuration.web.pin_keys is not None:
        pages += ["pit", "surveillance"] if plan.archives else ["pit"]
    return [f"{plan.address}/{page}" for page in pages]


def start_commands(plan: SetupPlan, facts: Facts) -> list[str]:
    """Return the commands that start everything without setup."""
    if facts.is_service and facts.has_systemd:
        units = ["novamas", *(["novamas-web"] if plan.has_web else [])]
        units += ["novamas-surveillance"] if plan.archives else []
        return [f"systemctl enable --now {' '.join(units)}"]
    commands = [f"novamas {' '.join(words)}" for words in plan.simulators.values()]
    commands += [f"mosquitto -c {plan.runs_mosquitto}"] if plan.runs_mosquitto else []
    commands += [f"novamas run {plan.file}"]
    commands += [f"novamas web {plan.file}"] if plan.has_web else []
    return [*commands, *([f"novamas surveillance {plan.file}"] if plan.archives else [])]


def _print_doubt(error: WrongAnswerError) -> None:
    print(f"novamas: {error.text('en')}", file=sys.stderr)


def facts_of(file: Path) -> Facts:
    """Look at the machine, and at what is written already. Raises ``SetupError``."""
    from controller.configuration.file import inspect_configuration
    from controller.configuration.settings import ConfigurationError
    from controller.setup.change import SetupError
    from controller.setup.facts import Facts
    from controller.setup.first_file import is_listening
    from controller.setup.running import mosquitto_program

    file = file.absolute()
    existing, sections = None, frozenset[str]()
    if file.exists():
        inspected = inspect_configuration(file)
        if inspected.mistakes or inspected.configuration is None:
            mistakes = ConfigurationError(str(file), inspected.mistakes)
            raise SetupError(f"{mistakes}\ncorrect this by hand, then run setup again")
        existing, sections = inspected.configuration, inspected.sections
    people = existing.people if existing is not None else None
    is_service = os.geteuid() == 0 and file.resolve().parent == SERVICE_FOLDER
    return Facts(
        file=file,
        existing=existing,
        sections=sections,
        has_people=people is not None and people.file is not None,
        enrolled=_enrolled(people),
        is_service=is_service,
        has_systemd=SYSTEMD.is_dir(),
        has_mosquitto=mosquitto_program() is not None,
        link_problem=_link_problem,
        broker_problem=lambda url: None if is_listening(url) else "no answer",
        port_problem=_port_problem,
        key_problem=lambda passphrase: _key_problem(file, passphrase),
        identify=_identify,
    )


def _enrolled(people: PeopleConfig | None) -> frozenset[str]:
    """Return the names of the people who are enrolled."""
    from common.people.register import read_unsigned

    if people is None or people.file is None:
        return frozenset()
    persons = read_unsigned(Path(people.file).read_bytes()).persons  # verified by the inspection
    return frozenset(person.name for person in persons)


def found_devices() -> tuple[FoundDevice, ...]:
    """Listen at every serial port that no program uses. Return the devices that are identified."""
    from devices.links.ports import ports

    links = [
        f"serial://{port.name}" for port in ports() if not port.holders and port.refused is None
    ]
    if not links:
        return ()
    with ThreadPoolExecutor(min(len(links), MAX_PORTS_AT_ONCE)) as threads:
        return tuple(device for device in threads.map(_identify, links) if device is not None)


def _identify(link: str) -> FoundDevice | None:
    """Listen at an address, without sending anything. Return the device, if it is known."""
    from controller.cli.identify import listen, summary
    from controller.setup.facts import FoundDevice
    from devices.links import LinkFailedError

    signals: Sequence[int] = ()
    try:
        results = listen(link, LISTEN_SECONDS, signals)
    except LinkFailedError:
        return None
    for result in results:
        if result.match is not None:
            match = result.match
            return FoundDevice(result.link, match.driver, summary(results), match.options)
    return None


def _link_problem(link: str) -> str | None:
    """Return why a device cannot be opened, or None."""
    from devices.links import LinkFailedError, open_link

    try:
        open_link(link).close()
    except LinkFailedError as error:
        return str(error)
    return None


def _port_problem(host: str, port: int) -> str | None:
    """Return why no program can listen there, or None."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.strerror or str(error)
    return None


def _key_problem(file: Path, passphrase: str) -> str | None:
    """Return the name of the site's key if the passphrase does not open it, or None."""
    from common.people.private_key import PrivateKeyError, open_private_key
    from controller.setup.enrolment import SITE_KEY

    path = file.resolve().parent / SITE_KEY
    try:
        open_private_key(path, passphrase.encode())
    except PrivateKeyError:
        return str(path)
    return None
