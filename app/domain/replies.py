"""An answer that is kept for whoever sends the same request again."""

import json
import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

DELETED = "deleted"
"""The status of a message that was erased, as a client that sends it again is told."""

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it went out. `digest` is that of the request."""

    digest: str
    status: int
    body: str


def mentions(body: str, ids: Set[str]) -> bool:
    """Whether an answer names any of these ids (in lower case, with dashes)."""
    return not ids.isdisjoint(_ID.findall(body))


def redacted(body: str, erased: Set[str], names: Set[str]) -> str:
    """A JSON answer without what it tells of erased items: messages become `deleted`, statements null.

    `names` are those of erased conversations.
    """
    return json.dumps(_without(json.loads(body), erased, names), ensure_ascii=False, separators=(",", ":"))


def _without(value: Any, erased: Set[str], names: Set[str]) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return [_without(one, erased, names) for one in value]
    if not isinstance(value, dict):
        return value
    told = {key: _without(one, erased, names) for key, one in value.items()}
    if told.get("id") in erased and "status" in told:
        return {**told, "external_id": None, "status": DELETED}
    if told.get("conversation") in names:
        told["conversation"] = ""
    if "statement" in told and mentions(json.dumps(told["statement"]), erased):
        told["statement"] = None
    return told
