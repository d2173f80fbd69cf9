"""Surveillance: records what the tables publish in an archive, checks it and searches it."""
