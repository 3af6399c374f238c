"""A model's answer held to the evidence: what it cites, whose words they are, of which time, and what disagrees."""

from datetime import timedelta

import pytest

from app.domain.answers import CONFLICT, NO_EVIDENCE, OUTSIDE_TIME, WRONG_PERSON, Answer, Evidence, answer
from app.domain.questions import read
from app.domain.support import Passage
from app.domain.verdicts import Source, Told, judge
from tests.unit.test_answers import ASKED, MAY_8, SPEAKERS, said


def judged(question: str, text: str, *lines: str | Passage, cites: tuple[int, ...] = (1,), reason: str = "") -> Answer:
    passages = [said(n, line) if isinstance(line, str) else line for n, line in enumerate(lines, 1)]
    sources = [Source([passages[line - 1]], quoted=True) for line in cites]
    return judge(read(question, SPEAKERS, ASKED), Evidence(passages, SPEAKERS), Told(text, reason, sources))


TULIPS = "Caroline: I was in the garden all day. I planted tulips in the garden in 2021."


def test_an_answer_quotes_the_sentence_that_carries_it() -> None:
    reply = judged("What did Caroline plant in the garden?", "Tulips", TULIPS, "Melanie: I love painting.")
    assert (reply.text, reply.abstained, reply.reason) == ("Tulips", False, None)
    [citation] = reply.citations
    assert citation.quote == "I planted tulips in the garden in 2021."
    assert (citation.message.int, citation.statement.int, citation.episode.int) == (1, 101, 201)


def test_confidence_is_measured_as_without_a_model() -> None:
    question, lines = "What did Caroline plant in the garden?", [said(1, TULIPS), said(2, "Melanie: I love painting.")]
    alone = answer(read(question, SPEAKERS, ASKED), Evidence(lines, SPEAKERS), ASKED.date())
    assert judged(question, "Tulips", *lines).confidence == alone.confidence > 0.5
    assert judged(question, "", *lines, cites=(), reason=NO_EVIDENCE).confidence == alone.confidence


def test_what_somebody_else_says_of_themselves_is_the_wrong_persons() -> None:
    lines = "Melanie: I painted a bowl at the workshop.", "Caroline: I am tired."
    reply = judged("What did Caroline paint at the workshop?", "a bowl", *lines)
    assert (reply.text, reply.reason, reply.citations) == (None, WRONG_PERSON, ())
    assert judged("What did Melanie paint at the workshop?", "a bowl", *lines).text == "a bowl"


def test_what_is_said_of_another_year_is_outside_the_time() -> None:
    assert judged("What did Caroline plant in the garden in 2021?", "tulips", TULIPS).text == "tulips"
    reply = judged("What did Caroline plant in the garden in 2019?", "tulips", TULIPS)
    assert (reply.text, reply.reason) == (None, OUTSIDE_TIME)


def test_words_of_which_the_evidence_has_none_are_no_answer_where_it_is_doubtful() -> None:
    line = "Caroline: The old ferry was so slow that we were late for the whole of the evening."
    doubtful = said(1, line, score=0.1)
    made_up = judged("What is the capital of Atlantis?", "Poseidonia", doubtful)
    assert (made_up.text, made_up.reason) == (None, NO_EVIDENCE)
    assert judged("How many ferries were there?", "3", doubtful).text == "3", "what is counted stands nowhere"
    assert judged("Wie heißt die Fähre?", "Möwe", doubtful).text == "Möwe", "nor what is told in another language"


def test_a_day_that_the_model_left_relative_is_told() -> None:
    line = "Caroline: I planted the tulips yesterday."
    assert judged("When did Caroline plant the tulips?", "Yesterday", line).text == "Yesterday (7 May 2023)"
    assert judged("When did Caroline plant the tulips?", "7 May 2023", line).text == "7 May 2023"
    assert judged("What did Caroline plant yesterday?", "tulips, yesterday", line).text == "tulips, yesterday"


def at(day: int, number: int, line: str) -> Passage:
    return said(number, line, 0.8, MAY_8 + timedelta(days=day))


SIDES = at(0, 1, "Caroline: I live in Velmar."), at(0, 2, "Caroline: I live in Orsk.")


def test_one_side_of_a_contradiction_is_no_answer_and_both_are_cited() -> None:
    reply = judged("Where does Caroline live?", "Velmar", *SIDES)
    assert (reply.text, reply.reason) == (None, CONFLICT)
    assert [citation.quote for citation in reply.citations] == ["I live in Velmar.", "I live in Orsk."]
    both = judged("Where does Caroline live?", "Velmar or Orsk, both on 8 May 2023", *SIDES, cites=(1, 2))
    assert (both.abstained, len(both.citations)) == (False, 2), "who cites both sides has seen both"


def test_an_earlier_word_that_disagrees_is_cited_too() -> None:
    lines = at(0, 1, "Caroline: I live in Velmar."), at(30, 2, "Caroline: I live in Orsk.")
    reply = judged("Where does Caroline live?", "Orsk", *lines, cites=(2,))
    assert reply.text == "Orsk"
    assert [citation.message.int for citation in reply.citations] == [2, 1]


@pytest.mark.parametrize(
    ("question", "claimed", "cites", "reason"),
    [
        ("Where does Caroline live?", CONFLICT, (1, 2), CONFLICT),
        ("Where does Caroline live?", CONFLICT, (1,), NO_EVIDENCE),
        ("Where does Caroline live?", WRONG_PERSON, (), WRONG_PERSON),
        ("Where does somebody live?", WRONG_PERSON, (), NO_EVIDENCE),
        ("Where did Caroline live in 2019?", OUTSIDE_TIME, (), OUTSIDE_TIME),
        ("Where does Caroline live?", OUTSIDE_TIME, (), NO_EVIDENCE),
        ("Where did Caroline live in 2019?", NO_EVIDENCE, (), OUTSIDE_TIME),
    ],
)
def test_a_models_reason_stands_where_something_speaks_for_it(
    question: str, claimed: str, cites: tuple[int, ...], reason: str
) -> None:
    reply = judged(question, "", *SIDES, cites=cites, reason=claimed)
    assert (reply.text, reply.reason) == (None, reason)
    assert len(reply.citations) == (2 if reason == CONFLICT else 0)


def test_no_evidence_is_the_wrong_persons_where_another_said_it() -> None:
    lines = "Melanie: I painted a bowl at the workshop.", "Caroline: I am tired."
    assert judged("What did Caroline paint at the workshop?", "", *lines, cites=(), reason=NO_EVIDENCE).reason == (
        WRONG_PERSON
    )


def test_without_a_sentence_to_quote_there_is_no_answer() -> None:
    question = read("Where does Caroline live?", SPEAKERS, ASKED)
    told = Told("Orsk", "", [Source([], quoted=False)])
    assert judge(question, Evidence([], SPEAKERS), told).reason == NO_EVIDENCE
    assert judge(question, Evidence([SIDES[0]], SPEAKERS), told).reason == NO_EVIDENCE
