"""Request and response bodies, exactly as documented under /docs."""
