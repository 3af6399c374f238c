"""The main job on real input: the first conversation of LoCoMo, where its file is at hand.

The data's licence keeps it out of the project; `LOCOMO` names a file in its format.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import pytest

from app.domain.messages import Draft
from app.domain.text import count_tokens
from app.evaluation import locomo
from app.evaluation.datasets import Question
from app.evaluation.metrics import recall
from app.settings import Settings
from tests.conftest import serving

DATA = Path(os.environ.get("LOCOMO") or Path(__file__).parents[3] / "shared" / "data" / "locomo-dev.json")
EVIDENCE_RECALL = 0.8  # at 1000 tokens; the build that this test came with reaches 0.87
BUDGET = 1000  # tokens
ASKED = 3  # one question in so many is asked; `xmemory eval run` asks all
PARTS = {"sqlite": 250, "postgresql": 100}  # messages that each database is told: twelve sittings, and five

pytestmark = [
    pytest.mark.models,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="no LoCoMo file at hand: set LOCOMO"),
]


async def test_a_conversation_is_remembered_whole_and_found(database_url: str) -> None:
    [conversation] = locomo.load(DATA).pick([1])
    told = conversation.messages[: PARTS[database_url.partition("+")[0]]]
    async with serving(Settings(_env_file=None, database_url=database_url, log_level="warning")) as api:
        path = "/v1/namespaces/c1/conversations/talk/messages"
        for start in range(0, len(told), 200):
            body = {"messages": [_wire(draft) for draft in told[start : start + 200]]}
            assert (await api.post(path, json=body)).status_code == 202
        await api.settle("c1")
        status = (await api.get("/v1/namespaces/c1/status")).json()
        assert (status["messages"], status["buffered"], status["failed_jobs"]) == (len(told), 0, 0)
        await _check_structure(api, status)
        answer = await api.post(
            "/v1/namespaces/c1/answer", json={"query": "When did Caroline go to the LGBTQ support group?"}
        )
        assert "7 May 2023" in answer.json()["answer"]
        assert "D1:3" in [citation["external_id"] for citation in answer.json()["citations"]]
        assert mean(await _recalls(api, _asked(conversation.questions, told))) >= EVIDENCE_RECALL


def _asked(questions: Sequence[Question], told: Sequence[Draft]) -> list[Question]:
    """One in so many of those that can be answered from what was told."""
    ids = {draft.external_id for draft in told}
    able = [asked for asked in questions if asked.answerable and asked.evidence and ids.issuperset(asked.evidence)]
    assert able
    return able[::ASKED]


def _wire(draft) -> dict:
    return {
        "role": draft.role, "speaker": draft.speaker, "content": draft.content, "external_id": draft.external_id,
        "occurred_at": draft.occurred_at.isoformat(),
        "images": [{"caption": image.caption, "query": image.query} for image in draft.images],
    }  # fmt: skip


async def _check_structure(api, status: dict) -> None:
    messages = await api.all("/v1/namespaces/c1/conversations/talk/messages")
    episodes = await api.all("/v1/namespaces/c1/episodes")
    statements = await api.all("/v1/namespaces/c1/statements")
    themes = await api.all("/v1/namespaces/c1/themes")
    assert {message["episode"] for message in messages} == {episode["id"] for episode in episodes}
    assert sum(episode["message_count"] for episode in episodes) == len(messages)
    assert max(episode["message_count"] for episode in episodes) <= 25
    ids = {message["id"] for message in messages}
    assert all(statement["messages"] for statement in statements)
    assert {message["id"] for statement in statements for message in statement["messages"]} <= ids
    assert {statement["theme"] for statement in statements} == {theme["id"] for theme in themes}
    assert sum(theme["size"] for theme in themes) == len(statements) == status["statements"]


async def _recalls(api, questions) -> list[float]:
    """The share of each question's evidence that is handed out."""
    limit = asyncio.Semaphore(4)

    async def ask(question) -> float:
        async with limit:
            body = {"query": question.text, "max_tokens": BUDGET}
            found = (await api.post("/v1/namespaces/c1/search", json=body)).json()
        assert count_tokens(found["context"]) == found["tokens"] <= BUDGET
        carried = [message["external_id"] for item in found["items"] for message in item["messages"]]
        return recall(question.evidence, carried)

    return list(await asyncio.gather(*map(ask, questions)))
