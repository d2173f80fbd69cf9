"""Every step of every game as it was: recorded at one commit, compared at another.

``python -m tests.steps record FILE`` plays all scripts, recordings and seeded random players of
every game and decree, and writes each input with a digest of all that the table says to it.
``python -m tests.steps compare FILE`` gives the same inputs to the games of this checkout and names
the first step of each run that differs. What was renamed in between stands in ``renames.py``, the
alert that is new in ``calls.py``, and nothing else may differ. ``make steps BASE=COMMIT`` does
both.
"""
