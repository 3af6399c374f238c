"""Statements and themes as they are stored and shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.domain.ids import MessageId, StatementId, ThemeId
from app.domain.provenance import MadeBy


class Origin(StrEnum):
    """Who drew a statement from its messages."""

    EXTRACTIVE = "extractive"
    MODEL = "model"
    CLIENT = "client"
    USER = "user"  # corrected by the user, and ended by nobody else


@dataclass(frozen=True, slots=True)
class Statement:
    """A stored statement. `occurred_at` is its evidence's time; `valid_from` / `valid_to` when it holds.

    Superseded, it holds until its successor was said; else for as long as it says itself. `support` counts the
    messages that carry it; `theme` is None until maintenance has placed it.
    """

    id: StatementId
    text: str
    kind: str
    origin: Origin
    support: int
    theme: ThemeId | None
    occurred_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: StatementId | None
    made_by: MadeBy
    recorded_at: datetime
    messages: tuple[MessageId, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """A stored theme. `size` counts its current statements; `lineage` says where it came from and why.

    `made_from` are the statements that label and summary were made from; `dirty`: statements have left it since
    maintenance last looked at it.
    """

    id: ThemeId
    label: str
    summary: str | None
    size: int
    version: int
    lineage: Mapping[str, Any]
    degraded: bool
    made_by: MadeBy
    created_at: datetime
    updated_at: datetime
    made_from: tuple[StatementId, ...] = ()
    dirty: bool = False
