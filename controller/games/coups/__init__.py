"""Coups: rounds dealt from a shoe in which no hand has a choice. What punto y banca and trente et
quarante do alike, on the model of ``dealt``.
"""
