from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.episodes import BoundaryReason
from app.domain.ids import ConversationId, MessageId
from app.domain.messages import Message, Role
from app.domain.segmentation import Run, SegmentPolicy, cut
from app.domain.vectors import Matrix, unit

START = datetime(2024, 5, 8, 13, 0, tzinfo=UTC)
POLICY = SegmentPolicy()
SMALL = SegmentPolicy(max_messages=9, max_tokens=60, min_messages=2, window=2, reach=2)


def chat(*seconds: float, first: int = 1, roles: Sequence[Role] = (), words: str = "so it goes") -> list[Message]:
    """One message per gap in `seconds` (the first gap counts from START)."""
    at = START
    messages = []
    for index, gap in enumerate(seconds):
        at += timedelta(seconds=gap)
        sequence = first + index
        role = roles[index] if roles else Role.USER
        messages.append(
            Message(MessageId(UUID(int=sequence)), ConversationId(UUID(int=1)), sequence, role, words, at, at)
        )
    return messages


def flat(count: int) -> Matrix:
    return np.tile(np.eye(1, 8, dtype=np.float32), (count, 1))


def about(*topics: int) -> Matrix:
    """A unit vector per message: its topic's axis, and a small part of its own."""
    rng = np.random.default_rng(7)
    rows = np.eye(16, dtype=np.float32)[list(topics)] + 0.1 * rng.standard_normal((len(topics), 16))
    return unit(rows.astype(np.float32))


def spans(runs: Sequence[Run]) -> list[tuple[int, int, str]]:
    return [(run.start, run.stop, run.reason.value) for run in runs]


def test_nothing_in_nothing_out() -> None:
    assert cut([], flat(0), [], POLICY, close_through=9, idle=True) == []


def test_a_quiet_stream_stays_open() -> None:
    messages = chat(*[10.0] * 5)
    assert cut(messages, flat(5), [5] * 5, POLICY) == []


@pytest.mark.parametrize(("gap", "closed"), [(1799, False), (1800, True), (-1799, False), (-1800, True)])
def test_a_gap_in_event_time_closes_in_either_direction(gap: float, closed: bool) -> None:
    messages = chat(0, 10, gap, 10)
    runs = cut(messages, flat(4), [5] * 4, POLICY)
    assert spans(runs) == ([(0, 2, "gap")] if closed else [])


def test_the_message_cap_closes_without_waiting_for_the_next_message() -> None:
    messages = chat(*[10.0] * 60)
    assert spans(cut(messages[:25], flat(25), [5] * 25, POLICY)) == [(0, 25, "max_messages")]
    runs = cut(messages, flat(60), [5] * 60, POLICY)
    assert spans(runs) == [(0, 25, "max_messages"), (25, 50, "max_messages")]


def test_the_token_cap_is_never_passed_and_may_be_reached() -> None:
    messages = chat(*[10.0] * 5)
    runs = cut(messages, flat(5), [1024, 1024, 2000, 48, 1], POLICY)
    assert spans(runs) == [(0, 2, "max_tokens"), (2, 4, "max_tokens")]


def test_a_long_message_is_an_episode_of_its_own() -> None:
    messages = chat(*[10.0] * 4)
    runs = cut(messages, flat(4), [5, 9000, 5, 5], POLICY)
    assert spans(runs) == [(0, 1, "max_tokens"), (1, 2, "long_message")]


def test_a_change_of_topic_is_cut_where_it_happens() -> None:
    messages = chat(*[10.0] * 20)
    vectors = about(*[0] * 8, *[1] * 12)
    assert spans(cut(messages, vectors, [5] * 20, POLICY)) == [(0, 8, "topic")]


def test_a_change_of_topic_waits_until_enough_messages_follow() -> None:
    messages = chat(*[10.0] * 20)
    vectors = about(*[0] * 8, *[1] * 12)
    enough = 8 + POLICY.window + POLICY.reach
    assert cut(messages[: enough - 1], vectors[: enough - 1], [5] * (enough - 1), POLICY) == []
    assert spans(cut(messages[:enough], vectors[:enough], [5] * enough, POLICY)) == [(0, 8, "topic")]


def test_an_answer_is_not_cut_from_its_question_by_topic() -> None:
    roles = [Role.USER, Role.ASSISTANT] * 10
    messages = chat(*[10.0] * 20, roles=roles)
    runs = cut(messages, about(*[0] * 9, *[1] * 11), [5] * 20, POLICY, close_through=20)
    assert all(messages[run.stop].role is Role.USER for run in runs[:-1])


def test_a_forced_cut_falls_on_the_weakest_border_near_the_cap() -> None:
    policy = SegmentPolicy(depth=9.0)
    messages = chat(*[10.0] * 25)
    runs = cut(messages, about(*[0] * 20, *[1] * 5), [5] * 25, policy)
    assert spans(runs) == [(0, 20, "max_messages")]


def test_a_flush_closes_through_its_sequence_only() -> None:
    messages = chat(*[10.0] * 6, first=11)
    runs = cut(messages, flat(6), [5] * 6, POLICY, close_through=13)
    assert spans(runs) == [(0, 3, "flush")]
    assert cut(messages, flat(6), [5] * 6, POLICY, close_through=10) == []


def test_an_idle_tail_is_closed_after_a_flush() -> None:
    messages = chat(*[10.0] * 6)
    runs = cut(messages, flat(6), [5] * 6, POLICY, close_through=2, idle=True)
    assert spans(runs) == [(0, 2, "flush"), (2, 6, "idle")]


def test_sequences_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry a message"):
        cut(chat(0, 1), flat(2), [1], POLICY)


def test_a_policy_that_could_never_close_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SegmentPolicy(max_messages=0)


@st.composite
def buffers(draw: st.DrawFn) -> tuple[list[Message], Matrix, list[int]]:
    count = draw(st.integers(0, 40))
    gaps = draw(st.lists(st.sampled_from([5.0, 5.0, 5.0, 60.0, 3600.0, -7200.0]), min_size=count, max_size=count))
    tokens = draw(st.lists(st.sampled_from([1, 5, 9, 30, 60, 61]), min_size=count, max_size=count))
    topics = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    roles = draw(st.lists(st.sampled_from(list(Role)), min_size=count, max_size=count))
    return chat(*gaps, roles=roles), about(*topics) if count else flat(0), tokens


@given(buffers(), st.none() | st.integers(0, 45), st.booleans())
def test_runs_are_contiguous_within_the_caps_and_leave_nothing_behind(
    buffer: tuple[list[Message], Matrix, list[int]], close_through: int | None, idle: bool
) -> None:
    messages, vectors, tokens = buffer
    runs = cut(messages, vectors, tokens, SMALL, close_through=close_through, idle=idle)
    assert [run.start for run in runs] == [0, *(run.stop for run in runs)][: len(runs)]
    for run in runs:
        total = sum(tokens[run.start : run.stop])
        assert 1 <= run.stop - run.start <= SMALL.max_messages
        assert total <= SMALL.max_tokens or run.stop - run.start == 1
        assert (run.reason is BoundaryReason.LONG_MESSAGE) == (total > SMALL.max_tokens)
    still_open = messages[runs[-1].stop if runs else 0 :]
    assert not (idle and still_open)
    assert all(message.sequence > (close_through or 0) for message in still_open)
    assert runs == cut(messages, vectors, tokens, SMALL, close_through=close_through, idle=idle)


@settings(max_examples=60)
@given(buffers(), st.lists(st.integers(1, 12), min_size=1, max_size=40))
def test_batches_do_not_change_the_cuts(buffer: tuple[list[Message], Matrix, list[int]], sizes: list[int]) -> None:
    messages, vectors, tokens = buffer
    at_once = spans(cut(messages, vectors, tokens, SMALL))
    streamed: list[tuple[int, int, str]] = []
    start, seen = 0, 0
    while seen < len(messages):
        seen = min(len(messages), seen + sizes[seen % len(sizes)])
        runs = cut(messages[start:seen], vectors[start:seen], tokens[start:seen], SMALL)
        streamed += [(start + run.start, start + run.stop, run.reason.value) for run in runs]
        start = streamed[-1][1] if streamed else 0
    assert streamed == at_once
