"""The roles that a person can be enrolled with. They are separate from the rights of the roles, so
that a program that only verifies signatures loads neither games nor rulebooks.
"""

from __future__ import annotations

from typing import Literal, get_args

from common.contract.commands import Role

EnrolledRole = Role | Literal["reader", "surveillance"]
"""The roles of a person. ``reader``: a program or a display. ``surveillance``: a person who may see
sealed cards in the archive. Both may recall events and give no commands to a table.
"""
READING_ROLES: tuple[EnrolledRole, ...] = ("reader", "surveillance")
"""The roles that only recall events."""
COMMANDING_ROLES: tuple[Role, ...] = get_args(Role)
ENROLLABLE_ROLES: tuple[EnrolledRole, ...] = (*COMMANDING_ROLES, *READING_ROLES)
