"""What boule and the wheel of fortune share: the wheel reports a place, and the table's map has its
value.
"""
