"""The wheels of a world: of several makers, each at a table with a game that fits it."""
