"""What a person may do at a table, and what needs a second one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from common.contract.history import ResultLine, UnresolvedLine
from common.contract.messages.messages import word
from common.contract.retained import Allowed
from common.contract.shown import Shown
from subscribers.console.view import AnswerButton, TableContext


def command_rule(context: TableContext, command: str) -> Allowed | None:
    """Return what the table states about a command; None if it does not know it."""
    info = context.known.info
    return None if info is None else info.about.commands.get(command)


def role_for(context: TableContext, command: str, reason: object = None) -> str | None:
    """Return the role in which this person gives the command, or None. ``reason``: its reason, as a
    decree may assign a reason to another role.
    """
    rule = command_rule(context, command)
    if rule is None:
        return None
    reason_roles = rule.reasons.get(str(reason), ())
    held = [role for role in context.person.roles if role in reason_roles or role in rule.roles]
    return next((role for role in held if role in reason_roles), next(iter(held), None))


def allowed_roles(context: TableContext, commands: Iterable[str]) -> str:
    """Return the roles that may give any of these commands, as text."""
    rules = [rule for command in commands if (rule := command_rule(context, command)) is not None]
    return role_names(
        dict.fromkeys(role for rule in rules for role in rule.roles), context.language
    )


def role_names(roles: Iterable[str], language: str) -> str:
    """Return the names of roles as text."""
    return ", ".join(word("role", role, language) for role in roles)


def needs_two_persons(
    context: TableContext, command: str, fields: Mapping[str, Any] | None
) -> bool | None:
    """Return True if a command needs a second person, by the rules of docs/inspector/security.md.
    ``fields``: its fields; None: the person fills them in. Return None if that depends on them, or
    on something only the table knows.
    """
    rule, state = command_rule(context, command), context.known.state
    if rule is None or state is None or not rule.two_persons:
        return False
    if command == "round.confirm" and fields is not None:
        return _confirms_unseen(context, state.shown, fields)
    if command == "round.void" and fields is not None:
        return _has_result(context, state.shown, fields.get("round"))
    return None if command in ("round.confirm", "round.void") else True


def with_second_person(context: TableContext, answer: AnswerButton) -> AnswerButton:
    """Mark an answer as needing a second person."""
    needs_two = needs_two_persons(context, answer.command, None if answer.open else answer.fields)
    return msgspec.structs.replace(answer, two=needs_two is True, may_take_two=needs_two is None)


def _confirms_unseen(context: TableContext, shown: Shown, fields: Mapping[str, Any]) -> bool | None:
    """Return True if a confirmation names a result that no device saw. One that names no result
    confirms what was seen.
    """
    named = {name: fields[name] for name in ("number", "winner", "dice") if name in fields}
    if not named:
        return False
    candidate, dice = seen_result(context, shown, fields.get("round"))
    witnessed = {"number": candidate, "dice": None if dice is None else list(dice)}
    if any(witnessed.get(name) == value for name, value in named.items()):
        return False
    return True if candidate is not None or dice is not None else None


def _has_result(context: TableContext, shown: Shown, number: int | None) -> bool | None:
    """Return True if the result of a round was published; None if that is not known here."""
    number = shown.round if number is None else number
    latest = context.known.result
    if latest is not None and (latest.session, latest.round) == (shown.session, number):
        return True
    lines = {line.round: line for line in context.known.history}
    if number in shown.unresolved:
        # a result that a second witness contradicts was published nevertheless
        event = context.evidence.find_unresolved(shown.session, number)
        return None if event is None or event.why == "witnesses_disagree" else False
    if number in lines:
        return isinstance(lines[number], ResultLine)
    return False if number == shown.round and number > max(lines, default=0) else None


def seen_result(
    context: TableContext, shown: Shown, number: int | None
) -> tuple[Any, tuple[int, ...] | None]:
    """Return the number and the dice that were seen of an unresolved round."""
    event = context.evidence.find_unresolved(shown.session, number or 0)
    if event is not None:
        return event.candidate, event.dice
    for line in context.known.history:
        if isinstance(line, UnresolvedLine) and line.round == number:
            return line.candidate, line.dice
    return None, None
