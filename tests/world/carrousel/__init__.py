"""The part ``carrousel``: linked tables with people who play at them, the controller of their
jackpots with its ledger, and people who pay what is won.
"""

from tests.world.carrousel.part import join, join_eus96

__all__ = ["join", "join_eus96"]
