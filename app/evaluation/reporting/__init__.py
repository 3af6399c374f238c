"""Runs of the evaluation as one page, as Markdown, and compared pair by pair. Reads run folders, calls no service."""
