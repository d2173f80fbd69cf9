"""Coups: rounds dealt from a shoe in which no hand has a choice; shared by punto y banca and trente
et quarante.
"""
