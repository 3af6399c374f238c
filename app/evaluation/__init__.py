"""Tools around the service: the demo, importing conversations, measuring. They speak to it over HTTP only."""
