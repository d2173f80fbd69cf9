"""The croupier's keypad: the few keys of a game, on a web page and on a USB keypad."""
