"""The audit log: who did what to which namespace, and when. Never what was in it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Act(StrEnum):
    """What is written down: acts of administrators, deletions, and memory that leaves.

    Named like the operations of the API, where there is one; a refused operation is found here by its name.
    """

    CREATE_KEY = "create_key"
    REVOKE_KEY = "revoke_key"
    DELETE_MESSAGE = "delete_message"
    DELETE_CONVERSATION = "delete_conversation"
    DELETE_STATEMENT = "delete_statement"
    DELETE_NAMESPACE = "delete_namespace"
    UPDATE_NAMESPACE = "update_namespace"  # its retention
    UPDATE_CONVERSATION = "update_conversation"
    EXPIRE = "expire"  # retention, which the service carries out by itself
    SHORTEN = "shorten_audit"  # the same, of this log
    EXPORT = "export_namespace"
    IMPORT = "import_namespace"
    EXPORT_THEMES = "export_themes"
    REEMBED = "reembed_namespace"


class Outcome(StrEnum):
    """`done` means committed; what an act leaves to the background has a job or a receipt."""

    DONE = "done"
    REFUSED = "refused"  # the key was valid, and did not open it


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `object` is the id of what it was done to: a key, message, statement, conversation or receipt."""

    id: UUID
    at: datetime
    key: UUID | None
    actor: str
    act: str
    namespace: str | None
    object: UUID | None
    outcome: Outcome
    request: UUID | None
