"""Answers: the question, the answer with its citations, and the pieces of one that is being written."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from app.api.schemas.common import Response, StageUsage, Time
from app.api.schemas.reading import SearchIn, SearchOut, SearchQuery
from app.domain.chat import Stage
from app.domain.forms import read_form
from app.services.answer import Answered, Cited
from app.services.search import Ask


class AnswerQuery(SearchQuery):
    """A question in the query string."""

    question_date: Time | None = Field(None, description="When it is asked; now if missing.")

    def to_ask(self, default_tokens: int) -> Ask:
        """The service's form."""
        return self._ask(self.q, default_tokens, top_k=self.top_k, limits=self._limits(), asked_at=self.question_date)


class AnswerIn(SearchIn):
    """A question in the body."""

    question_date: Time | None = Field(None, description="When it is asked; now if missing.")
    json_schema: dict[str, Any] | None = Field(
        None,
        description="The answer as data too: a JSON schema (2020-12) of an object, at most 16 KiB, without `pattern` "
        "and without references to elsewhere. Needs a language model.",
        examples=[{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}],
    )

    def to_ask(self, default_tokens: int) -> Ask:
        """The service's form. Raises InvalidInput for a JSON schema that is not taken."""
        return self._ask(
            self.query,
            default_tokens,
            limits=self._limits(self.metadata),
            asked_at=self.question_date,
            form=None if self.json_schema is None else read_form(self.json_schema),
            **self._counts(),
        )


class CitationOut(Response):
    """Where an answer comes from; `quote` stands in the message word for word."""

    message: UUID
    external_id: str | None
    conversation: str
    occurred_at: datetime
    quote: str
    statement: UUID | None
    episode: UUID | None

    @classmethod
    def of(cls, cited: Cited) -> "CitationOut":
        """From the service's result."""
        return cls(
            message=cited.message.id,
            external_id=cited.message.external_id,
            conversation=cited.message.conversation,
            occurred_at=cited.occurred_at,
            quote=cited.citation.quote,
            statement=cited.citation.statement,
            episode=cited.citation.episode,
        )


class Usage(Response):
    """Tokens of the context, and what was used of models."""

    context_tokens: int
    gate_tokens: int = Field(description="Read and written to find out how sure the reader is.")
    answer_tokens: int = Field(description="Read and written to phrase the answer, as data too if they were wanted.")
    stages: dict[str, StageUsage] = Field(examples=[StageUsage.EXAMPLE])

    @classmethod
    def of(cls, answered: Answered) -> "Usage":
        """From the service's result."""
        stages = StageUsage.each(answered.usage)
        tokens = {stage: used.tokens_in + used.tokens_out for stage, used in stages.items()}
        return cls(
            context_tokens=answered.found.tokens,
            gate_tokens=tokens.get(Stage.GATE, 0),
            answer_tokens=tokens.get(Stage.ANSWER, 0) + tokens.get(Stage.DATA, 0),
            stages=stages,
        )


class AnswerOut(SearchOut):
    """An answer with its citations and the evidence it was drawn from, or an abstention with its reason."""

    answer: str | None
    abstained: bool
    reason: str | None = Field(description="Why it abstained: no_evidence, wrong_person, conflict, outside_time.")
    confidence: float = Field(ge=0, le=1)
    citations: list[CitationOut]
    data: dict[str, Any] | None = Field(
        None, description="The answer in the form of `json_schema`; null if it abstained."
    )
    usage: Usage

    @classmethod
    def answered(cls, answered: Answered) -> "AnswerOut":
        """From the service's result."""
        found = SearchOut.of(answered.found)
        return cls(
            **found.model_dump(),
            answer=answered.answer,
            abstained=answered.abstained,
            reason=answered.reason,
            confidence=answered.confidence,
            citations=[CitationOut.of(cited) for cited in answered.citations],
            data=None if answered.data is None else dict(answered.data),
            usage=Usage.of(answered),
        )


class DeltaOut(Response):
    """A piece of an answer that is being written: provisional, nothing of it is checked."""

    text: str = Field(description="To append to what came before.")
    restart: bool = Field(description="What came before is to be dropped first.")
