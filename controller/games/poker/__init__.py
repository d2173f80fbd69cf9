"""What all games of poker share: cards on the table, the order of the deal, the outcomes
of rounds.
"""
