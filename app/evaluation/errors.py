"""What the tools say when they cannot go on; each message is written for the person at the terminal."""

from collections.abc import Sequence


class ToolError(Exception):
    """Base of all of them."""


class Unreachable(ToolError):
    """No service answers at the URL."""


class ServerDied(ToolError):
    """The server that a tool started for itself ended, or was never ready."""


class BadDataset(ToolError):
    """A data set is not in the expected format; the message names the place."""


class Refused(ToolError):
    """The service answered with a problem document. `status` is the HTTP status.

    `retry_after` is how many seconds to wait before the same may go well; None if it will not.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        fields: Sequence[tuple[str, str]] = (),
        retry_after: float | None = None,
    ) -> None:
        lines = [f"{title} ({status})" + (f": {detail}" if detail and detail != title else "")]
        lines += [f"  {pointer}: {problem}" for pointer, problem in fields if f"{pointer}: {problem}" not in detail]
        super().__init__("\n".join(lines))
        self.status = status
        self.retry_after = retry_after
