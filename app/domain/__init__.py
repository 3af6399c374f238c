"""Pure values and rules. Nothing here reads a clock, a file, a socket or a database."""
