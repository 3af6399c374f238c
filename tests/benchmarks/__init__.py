"""Measured by hand, over HTTP only; no part of the test command."""
