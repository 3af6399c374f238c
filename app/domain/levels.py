"""The four levels of memory, from the most abstract to the most exact."""

from enum import StrEnum


class Level(StrEnum):
    """A level of the hierarchy; `items[].level` in the API."""

    THEME = "theme"
    STATEMENT = "statement"
    EPISODE = "episode"
    MESSAGE = "message"
