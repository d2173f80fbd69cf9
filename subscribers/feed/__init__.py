"""The client kit of every service: its connection, its recalls, and what it knows of the tables."""
