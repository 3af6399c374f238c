"""Guarded models: what they use is counted and has a budget; what they give is checked."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.domain.chat import Reply, Stage
from app.domain.errors import BudgetExceeded, ProviderRefused, ProviderUnavailable, UnusableReply
from app.domain.vectors import Matrix
from app.providers.guarded import BATCH, GuardedEmbedder
from app.providers.protocols import Asked, Embedded
from app.providers.scripted import ScriptedEmbedder
from app.telemetry.metrics import Metrics
from app.telemetry.usage import metering
from tests.conftest import WAIT
from tests.unit.models import QUICK, guarded, hang, prompt, shown

DOWN = ProviderUnavailable("down")


# Usage and budget --------------------------------------------------------------------------------------------


async def test_calls_are_counted_by_stage() -> None:
    metrics = Metrics()
    chat, _ = guarded("a", DOWN, "b", ProviderRefused("no"), metrics=metrics)
    with metering({"statements": {"model": "old", "calls": 2, "tokens_in": 7, "seconds": 1.0}}) as meter:
        await chat.reply(prompt(Stage.LABEL))
        await chat.reply(prompt())
        with pytest.raises(ProviderRefused):
            await chat.reply(prompt())
    added = {
        stage: {name: n for name, n in counts.items() if name != "seconds"} for stage, counts in meter.added.items()
    }
    assert added == {
        "label": {"model": "acting", "calls": 1, "tokens_in": 30, "tokens_out": 5},
        "statements": {"model": "acting", "calls": 3, "tokens_in": 30, "tokens_out": 5},
    }
    assert meter.total["statements"]["calls"] == 5
    assert meter.total["statements"]["tokens_in"] == 37
    assert meter.total["statements"]["model"] == "acting"
    assert meter.total["statements"]["seconds"] >= 1.0
    assert meter.tokens == 77
    assert shown(metrics, "xmemory_chat_calls_total") == {
        '{outcome="ok",stage="label"}': 1.0,
        '{outcome="ok",stage="statements"}': 1.0,
        '{outcome="failed",stage="statements"}': 1.0,
        '{outcome="provider_refused",stage="statements"}': 1.0,
    }
    assert shown(metrics, "xmemory_chat_tokens_total")['{direction="in",stage="statements"}'] == 30


async def test_a_piece_of_work_has_a_budget() -> None:
    chat, inner = guarded("yes", job_tokens=290)
    with metering({"statements": {"model": "acting", "tokens_in": 100, "tokens_out": 50}}) as meter:
        await chat.reply(prompt())  # may need 107, uses 35
        with pytest.raises(BudgetExceeded, match=r"^185 of 290 tokens .*JOB_TOKENS.* are used, and the next .* 115$"):
            await chat.reply(prompt(user="What was said by Zanzibar, and to whom, and why?"))
    assert meter.tokens == 185
    assert len(inner.prompts) == 1
    await chat.reply(prompt())  # outside of a piece of work nothing is counted


async def test_calls_side_by_side_share_the_budget() -> None:
    chat, inner = guarded("yes", job_tokens=250)
    with metering():
        done = await asyncio.gather(*(chat.reply(prompt()) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in done] == [Reply, Reply, BudgetExceeded]
    assert len(inner.prompts) == 2


async def test_scoring_is_guarded_too() -> None:
    chat, _ = guarded("ready", "scored", DOWN, "scored", job_tokens=100)
    with metering() as meter:
        async with chat.scoring("Be brief.", "The context.") as session:
            first = await session.score(["a?", "b?"])
            await session.score(["c?"])
            with pytest.raises(BudgetExceeded):
                await session.score(["d?"] * 5)
    assert [scored.text for scored in first] == ["a?", "b?"]
    counts = {name: number for name, number in meter.added["gate"].items() if name != "seconds"}
    assert counts == {"model": "acting", "calls": 4, "tokens_in": 30, "tokens_out": 3}
    hanging, _ = guarded("ready", hang, call_seconds=0.05, attempts=1)
    async with hanging.scoring("Be brief.", "The context.") as session:
        with pytest.raises(ProviderUnavailable, match="longer than"):
            await session.score(["a?"])


async def test_what_a_model_can_do_is_asked_once() -> None:
    chat, inner = guarded("yes")
    assert await chat.capabilities() == await chat.capabilities()
    assert inner.asked == 1
    assert (chat.name, chat.revision, chat.tokenizer, chat.count_tokens("abcde")) == ("acting", "1", "characters/4", 2)
    chat.close()
    assert inner.closed


# Vectors -----------------------------------------------------------------------------------------------------


class Vectors(ScriptedEmbedder):
    """Gives whatever vectors it is told to."""

    def __init__(self) -> None:
        super().__init__(4)
        self.given: Matrix | None = None
        self.batches: list[int] = []

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.batches.append(len(texts))
        made = await super().embed(texts)
        return made if self.given is None else replace(made, vectors=self.given)

    async def embed_query(self, text: str) -> Asked:
        made = await super().embed_query(text)
        return made if self.given is None else replace(made, vector=self.given[0])


def _embedder(**policy: float) -> tuple[GuardedEmbedder, Vectors]:
    inner = Vectors()
    return GuardedEmbedder(inner, replace(QUICK, **policy), Metrics()), inner


E = np.eye(4, dtype=np.float32)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (E[:1], r"\(1, 4\) numbers instead of \(2, 4\)"),
        (E[:3], r"instead of \(2, 4\)"),
        (np.eye(3, dtype=np.float32)[:2], r"\(2, 3\) numbers instead of \(2, 4\)"),
        (E[:2] * np.float32("nan"), "not of length 1"),
        (np.full((2, 4), np.inf, dtype=np.float32), "not of length 1"),
        (E[:2] * 1.01, "not of length 1"),
        (E[:2] * 0, "not of length 1"),
    ],
)
async def test_vectors_of_a_wrong_form_are_refused(given: Matrix, fault: str) -> None:
    embedder, inner = _embedder()
    inner.given = given
    with pytest.raises(UnusableReply, match=fault):
        await embedder.embed(["a", "b"])
    if len(given) != 1 and len(given) != 3:
        with pytest.raises(UnusableReply):
            await embedder.embed_query("a")
        assert not await embedder.is_well()
    inner.given = None
    assert (await embedder.embed(["a", "b"])).vectors.dtype == np.float32
    assert await embedder.is_well()


async def test_half_precision_is_near_enough() -> None:
    embedder, inner = _embedder()
    inner.given = (E[:2] * 1.0004).astype(np.float16)
    assert (await embedder.embed(["a", "b"])).vectors.dtype == np.float32


async def test_many_texts_go_in_batches() -> None:
    embedder, inner = _embedder()
    texts = [f"text {number}" for number in range(2 * BATCH + 3)]
    with metering() as meter:
        made = await embedder.embed(texts)
    assert inner.batches == [BATCH, BATCH, 3]
    whole = await inner.embed(texts)
    assert np.array_equal(made.vectors, whole.vectors)
    assert made.words is not None
    assert whole.words is not None
    assert all(map(np.array_equal, made.words, whole.words))
    counts = {name: number for name, number in meter.added["embedder"].items() if name != "seconds"}
    assert counts == {"model": "scripted", "calls": 3, "texts": len(texts)}
    assert (await embedder.embed([])).vectors.shape == (0, 4)


async def test_a_question_never_waits_for_batches() -> None:
    embedder, inner = _embedder(concurrency=1, call_seconds=WAIT)
    inner.faults.hang()
    batch = asyncio.create_task(embedder.embed(["a"]))
    while not inner.faults.calls:
        await asyncio.sleep(0)
    inner.faults.mend()
    async with asyncio.timeout(WAIT):
        assert (await embedder.embed_query("a")).vector.shape == (4,)
    batch.cancel()
    await asyncio.wait({batch})
