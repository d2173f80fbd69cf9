"""What boule and the wheel of fortune share: a result that is a place, and a map that says what the
place is worth.
"""
