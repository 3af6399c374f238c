"""Moving a namespace out and in: the lines of its file, the way out, and the ways in (docs/moving.md)."""
