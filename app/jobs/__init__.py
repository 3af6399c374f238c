"""Background work: which kinds there are, who runs them, how they end."""
