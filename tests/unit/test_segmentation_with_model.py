"""A model decides unclear borders: asked seldom, held to the caps, and the cuts do not depend on batches."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.messages import Message, Role
from app.domain.segmentation import Run, SegmentPolicy, Window, cut, cut_with_model
from app.domain.vectors import Matrix
from tests.unit.test_segmentation import POLICY, SMALL, about, buffers, chat, flat, spans

ASKING = replace(SMALL, asked=7, asked_from=4)
Model = Callable[[Sequence[Message]], Collection[int] | None]
"""Given a window's messages, the places in it that begin a topic; None fails."""

UNCLEAR = about(*[0] * 8, *[1] * 8, *[2] * 9)  # valleys at 8 and 16


def never(messages: Sequence[Message]) -> Collection[int]:
    return ()


def everywhere(messages: Sequence[Message]) -> Collection[int]:
    return range(-3, len(messages) + 3)


def by_number(messages: Sequence[Message]) -> Collection[int]:
    """Deterministic, and knows nothing but the messages."""
    return [place for place, message in enumerate(messages) if message.sequence % 3 == 0]


def failing(messages: Sequence[Message]) -> None:
    return None


def runs_of(
    messages: Sequence[Message],
    vectors: Matrix,
    tokens: Sequence[int],
    model: Model,
    policy: SegmentPolicy = POLICY,
    **closing: object,
) -> tuple[list[Run], list[Window]]:
    said: dict[int, Collection[int] | None] = {}
    asked: list[Window] = []
    while True:
        cuts = cut_with_model(messages, vectors, tokens, policy, said, **closing)
        if cuts.unclear is None:
            return list(cuts.runs), asked
        window = cuts.unclear
        assert window not in asked, "no question is asked twice"
        asked.append(window)
        begins = model(messages[window.start : window.stop])
        said[window.start] = None if begins is None else {window.start + at for at in begins}


def test_a_run_whose_end_is_not_known_yet_is_not_asked_about() -> None:
    messages = chat(*[10.0] * 24)
    assert runs_of(messages, UNCLEAR[:24], [5] * 24, everywhere) == ([], [])


def test_a_full_run_is_asked_about_once_and_what_is_left_of_it_stays_open() -> None:
    messages = chat(*[10.0] * 25)
    runs, asked = runs_of(messages, UNCLEAR, [5] * 25, lambda window: [8, 16])
    assert spans(runs) == [(0, 8, "topic"), (8, 16, "topic")]
    assert asked == [Window(0, 20)]


def test_a_run_that_ends_in_a_gap_is_closed_whole() -> None:
    messages = chat(*[10.0] * 20, 3600, 10)
    vectors = about(*[0] * 10, *[1] * 12)
    runs, asked = runs_of(messages, vectors, [5] * 22, lambda window: [10])
    assert spans(runs) == [(0, 10, "topic"), (10, 20, "gap")]
    assert asked == [Window(0, 20)]


def test_nothing_is_asked_where_signals_are_clear_or_the_run_is_short() -> None:
    assert runs_of(chat(*[10.0] * 25), flat(25), [5] * 25, everywhere)[1] == []
    short = POLICY.asked_from - 1
    messages = chat(*[10.0] * short)
    runs, asked = runs_of(messages, about(*[0] * 5, *[1] * (short - 5)), [5] * short, everywhere, idle=True)
    assert (spans(runs), asked) == ([(0, short, "idle")], [])


def test_a_model_that_fails_leaves_the_signals_to_decide() -> None:
    messages = chat(*[10.0] * 25)
    runs, asked = runs_of(messages, UNCLEAR, [5] * 25, failing)
    assert (spans(runs)[0], len(asked)) == ((0, 8, "topic"), 1)
    assert spans(runs)[0] == spans(cut(messages, UNCLEAR, [5] * 25, POLICY))[0]


def test_a_model_that_sees_no_border_leaves_a_full_run_to_its_cap() -> None:
    messages = chat(*[10.0] * 25)
    runs, _ = runs_of(messages, UNCLEAR, [5] * 25, never)
    assert [(run.start, run.reason.value) for run in runs] == [(0, "max_messages")]


def test_wild_answers_make_no_tiny_episodes() -> None:
    messages = chat(*[10.0] * 20)
    runs, _ = runs_of(messages, about(*[0] * 10, *[1] * 10), [5] * 20, everywhere, idle=True)
    assert min(run.stop - run.start for run in runs) >= POLICY.min_messages
    assert runs[-1].stop == 20


def test_an_answer_is_not_cut_from_its_question() -> None:
    messages = chat(*[10.0] * 20, roles=[Role.USER, Role.ASSISTANT] * 10)
    runs, _ = runs_of(messages, about(*[0] * 10, *[1] * 10), [5] * 20, everywhere, idle=True)
    assert len(runs) > 1
    assert all(messages[run.start].role is Role.USER for run in runs)


@pytest.mark.parametrize("model", [never, everywhere, by_number, failing])
@settings(max_examples=60)
@given(buffer=buffers(), close_through=st.none() | st.integers(1, 40), idle=st.booleans())
def test_caps_hold_whatever_the_model_says(
    model: Model, buffer: tuple[list[Message], Matrix, list[int]], close_through: int | None, idle: bool
) -> None:
    messages, vectors, tokens = buffer
    runs, asked = runs_of(messages, vectors, tokens, model, ASKING, close_through=close_through, idle=idle)
    assert [run.start for run in runs] == [0, *(run.stop for run in runs)][: len(runs)]
    for run in runs:
        assert 1 <= run.stop - run.start <= ASKING.max_messages
        assert sum(tokens[run.start : run.stop]) <= ASKING.max_tokens or run.stop - run.start == 1
    still_open = messages[runs[-1].stop if runs else 0 :]
    assert not (idle and still_open)
    assert all(message.sequence > (close_through or 0) for message in still_open)
    assert all(window.stop - window.start <= ASKING.asked for window in asked)
    assert len(asked) <= len(runs), "each question closes a run"


@pytest.mark.parametrize("model", [never, everywhere, by_number, failing])
@settings(max_examples=60)
@given(buffer=buffers(), sizes=st.lists(st.integers(1, 12), min_size=1, max_size=40))
def test_batches_change_neither_the_cuts_nor_the_questions(
    model: Model, buffer: tuple[list[Message], Matrix, list[int]], sizes: list[int]
) -> None:
    messages, vectors, tokens = buffer
    at_once, asked = runs_of(messages, vectors, tokens, model, ASKING)
    streamed: list[tuple[int, int, str]] = []
    questions: list[tuple[int, int]] = []
    start, seen = 0, 0
    while seen < len(messages):
        seen = min(len(messages), seen + sizes[seen % len(sizes)])
        runs, more = runs_of(messages[start:seen], vectors[start:seen], tokens[start:seen], model, ASKING)
        streamed += [(start + run.start, start + run.stop, run.reason.value) for run in runs]
        questions += [(start + window.start, start + window.stop) for window in more]
        start = streamed[-1][1] if streamed else 0
    assert streamed == spans(at_once)
    assert questions == [(window.start, window.stop) for window in asked]
