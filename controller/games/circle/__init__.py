"""The circle games of poker: a round is a row of streets, each with its deal and its betting."""
