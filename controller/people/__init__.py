"""The people of a site: their keys, the rights of each role, and the access rules for the broker.

A person is enrolled in the people file with their public keys (``register.py``). The site signs
that file, so that no person can add himself. A command is a JWS signed with one of these keys
(``signed_command.py``); it is valid for one table, for a short time and once (``seen.py``). The
rights of a role are derived from the games and the rulebooks (``authority.py``); some commands need
two persons (``two_persons.py``). ``broker_access.py`` has the topics that each kind of client may
read and write.

``gate.py`` combines these checks for one table. Everything here is pure, except for the modules
that read and write files: ``people_file.py``, ``pin_key.py`` and ``private_key.py``.
"""
