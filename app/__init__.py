"""xMemory: long-term memory for AI agents, as an HTTP service."""

__version__ = "0.1.0"
