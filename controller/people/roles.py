"""The roles that a person can be enrolled with. Here and not with what each may say, so that a
program that only checks signatures loads neither games nor rulebooks.
"""

from __future__ import annotations

from typing import Literal, get_args

from controller.contract.commands import Role

Holds = Role | Literal["reader", "surveillance"]
"""What a person can be enrolled as. ``reader``: a program or a display. ``surveillance``: a person
who may see sealed cards in the archive. Both may recall events and say nothing else at a table.
"""
READS: tuple[Holds, ...] = ("reader", "surveillance")
"""The roles that only recall events."""
ROLES: tuple[Role, ...] = get_args(Role)
HELD: tuple[Holds, ...] = (*ROLES, *READS)
