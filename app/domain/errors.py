"""The errors of the service.

AppError
├── InvalidInput         the request is wrong; `fields` names what
├── Unauthenticated      nobody known asks: no key, or none that is valid
├── Forbidden            the key is valid and does not open this, whether or not it exists
├── NotFound             no such thing in this namespace
├── Conflict             the request contradicts what is stored
├── TooLarge             over a documented limit
├── LimitReached         there is as much as there may be; waiting does not help
├── TooMany              more than a limit lets through for now; the same later goes well
├── Unavailable          something of ours is down; try again
│   ├── StoreUnavailable     the database
│   ├── BeingImported        the namespace is not whole yet
│   ├── Busy                 more reads at once than this process works on, or one took too long
│   └── ProviderUnavailable  a model
├── ProviderFault        a model was reached and did not do what was asked
│   ├── ProviderRefused      it will not take the request: a wrong key, an unknown model, its content
│   │   └── ProviderRejected     it finds the request wrong; without what it does not know, the same may pass
│   ├── ContextOverflow      the prompt is longer than its window
│   ├── UnusableReply        what it said cannot be used, also not after a second try
│   │   └── CutOff           it came to its limit of tokens first
│   └── BudgetExceeded       the job has used the tokens that it may use
├── Discarded            a step was overtaken by an erasure or by another attempt; run it again
└── ConfigurationError   the settings cannot work; the process does not start

HTTP statuses live in app/api/problems.py; the job runner reads `retryable`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field: `pointer` is a JSON pointer or `query.name`, `detail` says what is allowed."""

    pointer: str
    detail: str


class AppError(Exception):
    """Base of all errors raised on purpose. The message is safe to show: no secrets, no memory text."""

    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on our side"
    retryable: ClassVar[bool] = False


class InvalidInput(AppError):
    """The request is wrong, and sending it again will not help."""

    code = "invalid_input"
    title = "The request is not valid"

    def __init__(self, detail: str, fields: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.fields = tuple(fields)


class Unauthenticated(AppError):
    """No key was shown, or none that is valid. `tried`: one was."""

    code = "unauthenticated"
    title = "A valid key is needed"

    def __init__(self, detail: str, *, tried: bool = False) -> None:
        super().__init__(detail)
        self.tried = tried


class Forbidden(AppError):
    """The key is valid and does not open this; the answer is the same whether or not it exists."""

    code = "forbidden"
    title = "The key does not open this"


class NotFound(AppError):
    """No such thing in this namespace."""

    code = "not_found"
    title = "Not found"


class Conflict(AppError):
    """The request contradicts what is stored."""

    code = "conflict"
    title = "The request contradicts what is stored"

    def __init__(self, detail: str, fields: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.fields = tuple(fields)


class TooLarge(AppError):
    """The request is over a documented limit."""

    code = "too_large"
    title = "The request is too large"


class LimitReached(AppError):
    """There is as much as there may be; `limit` is the setting that says how much. Waiting does not help."""

    code = "limit_reached"
    title = "There is as much as there may be"

    def __init__(self, detail: str, limit: str | None = None) -> None:
        super().__init__(detail)
        self.limit = limit


class TooMany(AppError):
    """More than a limit lets through for now; `limit` is its setting, the same goes well after `retry_after` seconds.

    Nothing was stored.
    """

    code = "too_many"
    title = "Too much at once"

    def __init__(self, detail: str, limit: str | None = None, retry_after: float = 1.0) -> None:
        super().__init__(detail)
        self.limit = limit
        self.retry_after = retry_after


class Unavailable(AppError):
    """Something the service needs is down; the same call may go through later."""

    code = "unavailable"
    title = "The service cannot do this just now"
    retryable = True


class Busy(Unavailable):
    """A read found no place among those that are worked on, or took longer than `limit`, a setting, allows."""

    code = "busy"
    title = "The service is busy"

    def __init__(self, detail: str, limit: str | None = None, retry_after: float = 1.0) -> None:
        super().__init__(detail)
        self.limit = limit
        self.retry_after = retry_after


class StoreUnavailable(Unavailable):
    """The database does not answer, is locked, full or read-only. Nothing was stored.

    Only a connection lost in the middle of a commit leaves that open: an `Idempotency-Key` or `external_id`s make
    it safe to send a request again.
    """

    code = "store_unavailable"
    title = "The database is not available"


class BeingImported(Unavailable):
    """A namespace whose import is not finished: nothing of it is read, and nothing is added, until it is whole."""

    code = "being_imported"
    title = "The namespace is being imported"


class ProviderUnavailable(Unavailable):
    """A model does not answer, or asks to be left alone for `retry_after` seconds."""

    code = "provider_unavailable"
    title = "A model is not available"

    def __init__(self, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class ProviderFault(AppError):
    """A model was reached and did not do what was asked."""

    code = "provider_fault"
    title = "A model did not do what was asked"


class ProviderRefused(ProviderFault):
    """A model, or whoever serves it, will not take the request; the same request will not go through later."""

    code = "provider_refused"
    title = "A model refused the request"


class ProviderRejected(ProviderRefused):
    """An endpoint finds the request wrong: without what it does not know, the same may pass."""

    code = "provider_rejected"
    title = "A model's endpoint found the request wrong"


class ContextOverflow(ProviderFault):
    """The prompt and its reply are longer than the model's window: whoever asks splits the input."""

    code = "context_overflow"
    title = "The input is longer than the model's window"


class UnusableReply(ProviderFault):
    """A model's reply is not what was asked for. `detail` describes its form, never its words.

    Another try may go better: models are not deterministic.
    """

    code = "unusable_reply"
    title = "Unusable model output"
    retryable = True


class CutOff(UnusableReply):
    """A reply came to its limit of tokens before it was complete. Asked about less, the model may have room."""

    code = "reply_cut_off"
    title = "Model output cut off at its limit of tokens"


class BudgetExceeded(ProviderFault):
    """A job has used the tokens that it may use; nothing more is asked of a model for it."""

    code = "budget_exceeded"
    title = "The job's token budget is used up"


class Discarded(AppError):
    """A step's result was thrown away: an erasure or another attempt came first. It runs again."""

    code = "discarded"
    title = "The work was overtaken and will run again"
    retryable = True


class ConfigurationError(AppError):
    """The settings cannot work together; the message says what to change."""

    code = "configuration"
    title = "The configuration cannot work"
