"""The comparison of Novamás with the list of results of the system that a casino already has:
``docs/technician/shadow.md``.
"""
