"""Proposes a profile for an unknown wheel from a recording and the numbers that it showed. Pure: no
input or output.
"""
