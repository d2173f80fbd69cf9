"""``novamas setup``: questions, the files that follow from the answers, and the two fronts that ask
them, on the terminal and in the browser.
"""
