"""`novamas demo`: simulated tables with simulated people, and a display."""
