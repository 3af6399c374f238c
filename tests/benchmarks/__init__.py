"""Measured by hand; no part of the test command."""
