"""Models behind small protocols. SDKs and torch are imported here only."""
