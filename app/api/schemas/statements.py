"""Statements: as they are shown, brought and corrected."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.api.schemas.common import NAME_LENGTH, Cleaned, MadeBy, Name, PageQuery, Request, Response, Said, Time
from app.api.schemas.memory import MessageRefOut
from app.services.editing import Claimed, Decided
from app.services.memory import CitedStatement

LONGEST = 2000  # characters of a statement that a client writes
AT_ONCE = 100  # statements in one request
CITED = 50  # messages that one of them rests on

StatementText = Annotated[Said, Field(max_length=LONGEST)]


class StatementsQuery(PageQuery):
    """Which statements."""

    include: Literal["superseded"] | None = Field(None, description="`superseded` lists history too.")
    as_of: Time | None = Field(None, description="Those that held at that time, by event time.")


class StatementOut(Response):
    """One self-contained fact with the messages that support it."""

    id: UUID
    text: str
    kind: str
    messages: list[MessageRefOut]
    theme: UUID | None = Field(description="Null until maintenance has placed it; it is found all the same.")
    occurred_at: datetime = Field(description="When it was said.")
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: UUID | None
    support: int = Field(description="Messages that carry it.")
    origin: str
    made_by: MadeBy

    @classmethod
    def of(cls, cited: CitedStatement) -> "StatementOut":
        """From the service's result."""
        statement = cited.statement
        return cls(
            id=statement.id,
            text=statement.text,
            kind=statement.kind,
            messages=[MessageRefOut.model_validate(message) for message in cited.messages],
            theme=statement.theme,
            occurred_at=statement.occurred_at,
            valid_from=statement.valid_from,
            valid_to=statement.valid_to,
            superseded_by=statement.superseded_by,
            support=statement.support,
            origin=statement.origin,
            made_by=MadeBy.model_validate(statement.made_by),
        )


class CitedMessage(Request):
    """A message by the names that the client gave."""

    conversation: Name
    external_id: Annotated[Cleaned, Field(min_length=1, max_length=NAME_LENGTH)]


class ClaimedStatement(Request):
    """A statement that the client drew itself."""

    text: StatementText = Field(description="Self-contained; its words must stand in the messages.")
    messages: list[CitedMessage] = Field(min_length=1, max_length=CITED, description="What it rests on.")
    occurred_at: Time | None = Field(None, description="When it was said. Default: when the newest message was.")

    def claimed(self) -> Claimed:
        """The domain's form."""
        return Claimed(self.text, tuple((one.conversation, one.external_id) for one in self.messages), self.occurred_at)


class AddStatements(Request):
    """Statements, decided on together."""

    statements: list[ClaimedStatement] = Field(
        min_length=1,
        max_length=AT_ONCE,
        examples=[[{"text": "Ada lives in Bern.", "messages": [{"conversation": "chat-1", "external_id": "m1"}]}]],
    )


class DecidedOut(Response):
    """What became of one."""

    outcome: str = Field(description="new; reinforced: it was known, and rests on these messages too; or refused.")
    reason: str | None = Field(description="Why it was refused, as a code.")
    statement: StatementOut | None = Field(description="The statement that says it now.")


class AddedOut(Response):
    """What became of each, in their order."""

    statements: list[DecidedOut]

    @classmethod
    def of(cls, decided: list[Decided]) -> "AddedOut":
        """From the service's result."""
        return cls(
            statements=[
                DecidedOut(
                    outcome=one.outcome,
                    reason=one.reason,
                    statement=StatementOut.of(one.statement) if one.statement else None,
                )
                for one in decided
            ]
        )


class CorrectStatement(Request):
    """The user's own version."""

    text: StatementText = Field(examples=["Ada lives in Bern, not in Berlin."])


class HistoryOut(Response):
    """All versions of a statement, in the order they held."""

    items: list[StatementOut]
