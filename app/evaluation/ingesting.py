"""Puts the conversations of a data set into a service, so that a run can begin, or go on."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.messages import Draft
from app.evaluation.client import Client
from app.evaluation.datasets import Conversation, Noted
from app.evaluation.errors import ToolError
from app.evaluation.plan import Plan
from app.evaluation.settling import report_failures, watch
from app.evaluation.terminal import progress

CLAIMED = 100  # statements a request, the most that the service takes


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a conversation. `noted` counts what the service made of the data's own statements."""

    seconds: float
    messages: int
    noted: Mapping[str, Any]


async def ingest(client: Client, plan: Plan, conversation: Conversation) -> Ingested:
    """Post a conversation unless it is there, and wait until it is remembered. Repeating it changes nothing.

    Raises ToolError if its namespace holds anything else.
    """
    begun, namespace = time.perf_counter(), plan.namespace(conversation)
    with progress("messages") as bar:
        task = bar.add_task(f"Posting {conversation.name}", total=len(conversation.messages))
        for messages in _portions(plan, conversation):
            await client.append(namespace, conversation.name, messages, lambda count: bar.advance(task, count))
            if plan.sessions:
                await client.settle(namespace)
    await watch(client, namespace)
    noted = await _note(client, namespace, conversation) if plan.noted else {}
    status = await watch(client, namespace)
    await report_failures(client, namespace)
    if status.messages != len(conversation.messages):
        raise ToolError(
            f"{namespace} holds {status.messages} messages, and the conversation has {len(conversation.messages)}: "
            "delete the namespace, or choose others with --namespace"
        )
    return Ingested(round(time.perf_counter() - begun, 1), status.messages, noted)


def _portions(plan: Plan, conversation: Conversation) -> Sequence[Sequence[Draft]]:
    return conversation.sessions if plan.sessions else [conversation.messages]


async def _note(client: Client, namespace: str, conversation: Conversation) -> dict[str, Any]:
    """Post the data's own statements, and count what the service decided: new, reinforced, refused by reason."""
    decided: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for start in range(0, len(conversation.noted), CLAIMED):
        batch = conversation.noted[start : start + CLAIMED]
        claimed = [_claim(conversation.name, noted) for noted in batch]
        for one in await client.claim(namespace, claimed, key=f"noted-{start}"):
            decided[one.outcome] += 1
            refused[one.reason or ""] += one.outcome == "refused"
    return {**decided, "refused": dict(+refused)} if decided else {}


def _claim(conversation: str, noted: Noted) -> dict[str, Any]:
    cited = [{"conversation": conversation, "external_id": id} for id in noted.messages]
    return {"text": noted.text, "messages": cited}
