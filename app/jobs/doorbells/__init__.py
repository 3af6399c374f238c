"""How the runner learns that a namespace has work."""
