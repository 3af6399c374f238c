"""Keys and the audit log."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import NAME_LENGTH, Cleaned, PageQuery, Request, Response, Time
from app.domain.access import EVERY, Key, Scope
from app.domain.audit import Entry, Outcome
from app.domain.namespaces import NAME_PATTERN

MOST_NAMESPACES = 100  # patterns of one key

Pattern = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH, pattern=NAME_PATTERN)]


class CreateKey(Request):
    """A key to make."""

    name: Annotated[Cleaned, Field(min_length=1, max_length=NAME_LENGTH)] = Field(
        description="Who or what will use it; the audit log shows it.", examples=["travel-agent"]
    )
    scopes: Annotated[set[Scope], Field(min_length=1)] = Field(
        description='What it is good for. `admin` includes all others, and needs the namespaces ["*"]; `metrics` '
        "opens /metrics.",
        examples=[["read", "write"]],
    )
    namespaces: Annotated[list[Pattern], Field(max_length=MOST_NAMESPACES)] = Field(
        default=[], description="Those it opens: names, or prefixes that end in *.", examples=[["ada", "team-*"]]
    )
    expires_at: Time | None = Field(None, description="From then on it opens nothing. Never, if missing.")

    @model_validator(mode="after")
    def _open_something(self) -> Self:
        if Scope.ADMIN in self.scopes and self.namespaces != [EVERY]:
            raise PydanticCustomError("namespaces", 'a key with admin can make any other: give it namespaces ["*"]')
        if not self.namespaces and self.scopes != {Scope.METRICS}:
            raise PydanticCustomError("namespaces", "a key without namespaces opens none: name some")
        return self


class KeyOut(Response):
    """A key, without what opens anything."""

    id: UUID
    name: str
    scopes: list[Scope]
    namespaces: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute; null if it never was.")

    @classmethod
    def of(cls, made: Key, **more: str) -> Self:
        """From the domain's form."""
        return cls(
            id=made.id,
            name=made.name,
            scopes=sorted(made.scopes),
            namespaces=list(made.namespaces),
            created_at=made.created_at,
            expires_at=made.expires_at,
            revoked_at=made.revoked_at,
            last_used_at=made.last_used_at,
            **more,
        )


class CreatedKeyOut(KeyOut):
    """A key that was just made."""

    key: str = Field(description="Send it as `Authorization: Bearer KEY`. It is shown this once and kept nowhere.")


class AuditQuery(PageQuery):
    """Which lines."""

    namespace: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)] | None = Field(
        None, description="Only those about this one, by its name."
    )


class AuditEntryOut(Response):
    """One line of the audit log: who did what to what, and when. Never what was in it."""

    id: UUID
    at: datetime
    key: UUID | None = Field(description="Null: XMEMORY_ADMIN_KEY, nobody was asked for a key, or the service itself.")
    actor: str = Field(description="The key's name; `xmemory` is the service itself.")
    act: str = Field(description="Mostly an operation's id; later versions may have more.", examples=["delete_message"])
    namespace: str | None = Field(description="Its name; null where it is about none.")
    object: UUID | None = Field(description="The key, message, statement, conversation or receipt it is about.")
    outcome: Outcome
    request: UUID | None = Field(description="X-Request-ID of the request; null where there was none.")

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """From the domain's form."""
        return cls.model_validate(entry)
