"""Displays for the public: the picture of a table as data, and the pages that draw it."""
