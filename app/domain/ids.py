"""Identifiers. Each is a UUIDv7, made by the storage layer; the types keep them apart."""

from typing import NewType
from uuid import UUID

NamespaceId = NewType("NamespaceId", UUID)
ConversationId = NewType("ConversationId", UUID)
MessageId = NewType("MessageId", UUID)
EpisodeId = NewType("EpisodeId", UUID)
StatementId = NewType("StatementId", UUID)
ThemeId = NewType("ThemeId", UUID)
JobId = NewType("JobId", UUID)
