"""The inspector's page: days of a journal in one HTML file that verifies itself."""
