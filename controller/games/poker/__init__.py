"""What games of poker share: the order of the deal, counts of the deck, the outcomes of rounds and
their correction.
"""
