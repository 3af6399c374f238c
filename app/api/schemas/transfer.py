"""Moving a namespace out and in."""

from uuid import UUID

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Request, Response
from app.services.transfer.importing import Mode, OnConflict, Ordered

MOST_LINES = 2**53  # of a file: what JSON's readers count exactly


class ExportQuery(Request):
    """What an export holds, and where it goes on."""

    vectors: bool = Field(
        default=False, description="Also the vectors: another service with the same embedding model makes none anew."
    )
    after: int = Field(0, ge=0, le=MOST_LINES, description="Whole lines that are there already, the header among them.")
    revision: int | None = Field(None, ge=0, le=MOST_LINES, description="That of the header: needed with `after`.")

    @model_validator(mode="after")
    def _of_a_revision(self) -> "ExportQuery":
        if self.after and self.revision is None:
            raise PydanticCustomError("revision", "after needs the header's revision: lines of two would not fit")
        return self


class ImportQuery(Request):
    """What becomes of a namespace that has messages."""

    conflict: OnConflict = Field(
        OnConflict.REFUSE,
        description="For a namespace that has messages: refuse answers 409, skip adds the messages that it lacks.",
    )


class ImportOut(Response):
    """A file that was taken. Nothing of it is read before the job has made a whole of it."""

    namespace: str
    mode: Mode = Field(
        description="restore: everything as it was, into an empty namespace; merge: only messages, into another."
    )
    job: UUID = Field(description="Its `result` tells how far it is: `lines` of `total`, then `embedded`.")
    counts: dict[str, int] = Field(description="Lines of the file, by kind.")

    @classmethod
    def of(cls, ordered: Ordered) -> "ImportOut":
        """From the service's result."""
        return cls(namespace=ordered.namespace, mode=ordered.mode, job=ordered.job, counts=dict(ordered.counts))
