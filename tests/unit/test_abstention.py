"""Why there is no answer: nothing said, the wrong person, another time, words that disagree; and how sure that is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from app.domain.answers import CONFLICT, NO_EVIDENCE, OUTSIDE_TIME, WRONG_PERSON, Answer, Evidence, answer
from app.domain.confidence import Heard, Signals, confidence, read_signals
from app.domain.late import WIDTH, AskedWords
from app.domain.questions import read
from app.domain.support import Passage, saying, weigh
from tests.unit.test_answers import ASKED, MAY_8, SPEAKERS, ask, said

NEUTRAL = Signals(support=0.5, words=0.0, match=0.0, heard=0.0, open=0.0)


def test_a_year_that_nobody_spoke_of_is_outside_the_time() -> None:
    line = "Caroline: I planted tulips in the garden in 2021."
    assert ask("What did Caroline plant in the garden in 2021?", line).text == "tulips"
    reply = ask("What did Caroline plant in the garden in 2019?", line)
    assert (reply.abstained, reply.reason) == (True, OUTSIDE_TIME)


def test_what_was_told_days_after_the_day_asked_about_is_not_outside_the_time() -> None:
    assert (
        ask("What did Caroline plant on 6 May 2023?", "Caroline: I planted tulips in the garden.").reason
        != OUTSIDE_TIME
    )


def at(day: int, number: int, line: str, score: float = 0.8) -> Passage:
    return said(number, line, score, MAY_8 + timedelta(days=day))


def test_two_words_of_one_day_that_disagree_are_a_conflict_and_both_are_cited() -> None:
    reply = ask(
        "Where does Caroline live?", at(0, 1, "Caroline: I live in Velmar."), at(0, 2, "Caroline: I live in Orsk.")
    )
    assert (reply.text, reply.abstained, reply.reason) == (None, True, CONFLICT)
    assert [citation.quote for citation in reply.citations] == ["I live in Velmar.", "I live in Orsk."]


def test_an_earlier_word_that_disagrees_is_named_after_the_later_one_with_both_dates() -> None:
    lines = at(0, 1, "Caroline: I live in Velmar.", 0.9), at(30, 2, "Caroline: I live in Orsk.")
    reply = ask("Where does Caroline live?", *lines)
    assert reply.text == "Orsk (7 June 2023), but Velmar (8 May 2023)"
    assert {citation.message.int for citation in reply.citations} == {1, 2}


def test_what_was_superseded_disagrees_with_nothing() -> None:
    over = frozenset([saying("Caroline: I live in Velmar.", MAY_8)])
    old = replace(at(0, 1, "Caroline: I live in Velmar.", 0.9), outdated=over)
    assert ask("Where does Caroline live?", old, at(30, 2, "Caroline: I live in Orsk.")).text == "Orsk"


def test_different_people_and_different_matters_do_not_disagree() -> None:
    reply = ask(
        "Where does Caroline live?",
        at(0, 1, "Caroline: I live in Velmar."),
        at(0, 2, "Melanie: I live in Orsk."),
        at(0, 3, "Caroline: I live on fish."),
    )
    assert reply.text == "Velmar"


# How sure it is


@pytest.mark.parametrize("signal", ["support", "words", "match", "heard"])
def test_confidence_rises_with_every_signal(signal: str) -> None:
    more = replace(NEUTRAL, **{signal: getattr(NEUTRAL, signal) + 0.2})
    assert 0 < confidence(NEUTRAL, with_vectors=True) < confidence(more, with_vectors=True) < 1
    counts = signal in ("support", "words")
    assert (confidence(more, with_vectors=False) > confidence(NEUTRAL, with_vectors=False)) is counts


def test_margins_compare_the_named_speaker_with_the_others() -> None:
    question = read("What did Caroline paint at the workshop?", SPEAKERS, ASKED)
    ranked = weigh(question, [said(1, "Melanie: I painted a bowl at the workshop."), said(2, "Caroline: I am tired.")])
    signals = read_signals(question, ranked, SPEAKERS, Heard(named=[0.2, 0.1], others=[0.6, 0.5, 0.4, -1.0]))
    assert signals.words < 0
    assert signals.heard == pytest.approx(0.15 - 0.5)
    assert signals.attribution < 0
    nobody = read("What was painted at the workshop?", SPEAKERS, ASKED)
    assert replace(read_signals(nobody, ranked, SPEAKERS, Heard([0.9], [0.1])), support=0.5) == replace(
        NEUTRAL, open=1.0
    )


def _axis(place: int) -> list[float]:
    return [float(place == other) for other in range(WIDTH)]


def test_sentences_are_matched_by_their_own_words() -> None:
    line = "Caroline: Melons rot. Boats sink."  # five words with a vector: the speaker's name is the first
    words = np.array([_axis(0), _axis(1), _axis(2), _axis(3), _axis(4)]) * 127
    passage = replace(said(1, line), words=words.astype(np.int8))
    asked = AskedWords(("vessel",), np.array([_axis(3)], dtype=np.float32))
    found = {s.text: s.match for s in weigh(read("vessel?", SPEAKERS, ASKED), [passage], asked)}
    assert found == {"Melons rot.": 0.0, "Boats sink.": 1.0}


def by_vectors(named: float, others: float) -> Answer:
    passages = [replace(said(1, "Caroline: I mended the boat."), words=np.zeros((3, WIDTH), np.int8))]
    asked = AskedWords(("mend",), np.array([_axis(3)], dtype=np.float32))
    evidence = Evidence(passages, SPEAKERS, asked, Heard([named], [others]))
    return answer(read("What did Caroline mend?", SPEAKERS, ASKED), evidence, datetime(2024, 1, 1, tzinfo=UTC).date())


def test_whose_messages_are_nearer_to_the_question_decides_between_answer_and_abstention() -> None:
    assert by_vectors(0.7, 0.3).text == "the boat"
    reply = by_vectors(0.2, 0.8)
    assert (reply.abstained, reply.reason) == (True, WRONG_PERSON)
    assert reply.confidence < 0.5


def test_nothing_to_draw_from() -> None:
    reply = answer(read("Who?", SPEAKERS, ASKED), Evidence([], SPEAKERS), ASKED.date())
    assert (reply.reason, reply.confidence, reply.citations) == (NO_EVIDENCE, 0.0, ())
