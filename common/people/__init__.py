"""The people of a site and their keys.

A person is enrolled in the people file with their public keys (``register.py``). The site signs
that file, so that no person can add himself. A command is a JWS signed with one of these keys
(``signed_command.py``); it is valid for one table, for a short time and once (``seen.py``). Some
commands need two persons (``two_persons.py``). The rights of each role follow from games and
rulebooks: ``controller/people``.

Everything here is pure, except for the modules that read and write files: ``people_file.py``,
``pin_key.py`` and ``private_key.py``.
"""
