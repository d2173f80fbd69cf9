"""The surveillance room: an archive of all that was said, what it proves, and who asks it."""
