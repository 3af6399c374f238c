"""How long messages are kept."""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from app.api.schemas.common import Request, Typed

LONGEST = 36_500  # days
SHORTEST = timedelta(seconds=1)


def _in_days(value: Any) -> Any:  # noqa: ANN401
    return value / timedelta(days=1) if isinstance(value, timedelta) else value


RetentionDays = Annotated[
    float | None,
    BeforeValidator(_in_days),
    Field(validation_alias="retention", description="Days for which messages are kept after their receipt, or null."),
]
"""As it is shown."""


class RetentionIn(Request):
    """How long messages are kept. Without `retention_days` nothing changes."""

    retention_days: Annotated[float | None, Typed] = Field(
        None,
        gt=0,
        le=LONGEST,
        allow_inf_nan=False,
        description="Days after their receipt, also parts of one. Null: of a namespace for ever, of a conversation as "
        "its namespace has it.",
        examples=[90],
    )

    def retention(self) -> timedelta | None:
        """The domain's form, to the second."""
        if self.retention_days is None:
            return None
        return max(SHORTEST, timedelta(seconds=round(self.retention_days * 86_400)))
