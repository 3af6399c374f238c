"""Use cases: read, think with no transaction open, write."""
