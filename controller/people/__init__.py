"""Who may act: the people of a site, their keys, what each role may say, and the broker's doors.

A person is enrolled in the people file with the public keys of their own (``register.py``), which
the site signs, so that nobody adds himself. A command is a JWS signed with one of these keys
(``signed_command.py``); it is good for one table, for a short time and once (``seen.py``). What a
role may say is derived from the games and the rulebooks (``authority.py``), and some of it takes
two persons (``two_persons.py``). What each kind of client may read and write at the broker is one
table (``broker_access.py``).

What stands before a table puts these together (``gate.py``). Everything here is pure, except
``private_key.py``, which keeps a person's secret key in a file.
"""
