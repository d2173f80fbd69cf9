"""Three rings of tests, marked by the resources and time of each test."""
