"""The web server: what is known of the tables, to any number of browsers."""
