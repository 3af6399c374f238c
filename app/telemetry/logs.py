"""Logs: one line an event, `time level logger message key=value`, never memory text."""

import logging

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class Fields(logging.Formatter):
    """Appends a record's extra fields as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        extra = {key: value for key, value in vars(record).items() if key not in STANDARD}
        return " ".join([super().format(record), *(f"{key}={value}" for key, value in sorted(extra.items()))])


def configure(level: str) -> None:
    """Log to standard error at `level`."""
    handler = logging.StreamHandler()
    handler.setFormatter(Fields("%(asctime)s %(levelname)-7s %(name)s %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for noisy in (
        "httpx",
        "httpx2",
        "openai",  # at debug it would log prompts
        "sentence_transformers",
        "alembic",
        "aiosqlite",
        "procrastinate",
        "psycopg.pool",
        "uvicorn.access",
    ):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLogger().level))
