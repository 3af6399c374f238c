"""Logs, metrics and what models were used for. None of it ever holds memory text or a namespace's name."""

from app.telemetry.logs import configure

__all__ = ["configure"]
