"""A causal language model in this process: how it is loaded, spoken to, and run in one thread for many callers."""
