"""What people may do at the tables, and the access rules for the broker.

The rights of a role are derived from the games and the rulebooks (``authority.py``). ``gate.py``
combines them with signatures, seen commands and second persons (``common/people``) for one table.
``broker_access.py`` has the topics that each kind of client may read and write.
"""
