"""`xmemory models`: which models are here, fetching one, and whether what is configured works."""
