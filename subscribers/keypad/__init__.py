"""The croupier's keypad: the few keys of a game, on a page and on a USB keypad."""
