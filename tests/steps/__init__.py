"""Recorded steps of every game: recorded at one commit, compared at another.

``python -m tests.steps record FILE`` plays all scripts, recordings and seeded random players of
every game and decree, and writes each input with a digest of the table's whole output: its events
or the refusal (key, fields and law), its retained topics with the commands that it accepts, and
whether the input is sealed.

``python -m tests.steps compare FILE`` gives the same inputs to the games of this checkout and names
the first step of each run that differs. Renames in between are listed in ``renames.py``, and
nothing else may differ.

``make steps BASE=COMMIT`` does both; a commit that recorded less than this one (``FORM`` in
``recording.py``) cannot be compared.
"""
