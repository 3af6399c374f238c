"""When: dates told as people tell them, in the language of the question."""

from datetime import UTC, datetime

import pytest

from app.domain.answers import Evidence, answer
from app.domain.questions import read
from tests.unit.test_answers import ASKED, SPEAKERS, said

JULY_15 = datetime(2023, 7, 15, 13, 51, tzinfo=UTC)  # a Saturday


def when(question: str, line: str, asked: datetime = ASKED) -> str | None:
    evidence = Evidence([said(1, f"Caroline: {line}", 0.8, JULY_15)], SPEAKERS)
    return answer(read(question, SPEAKERS, asked), evidence, asked.date()).text


@pytest.mark.parametrize(
    ("question", "line", "expected"),
    [
        ("When did Caroline join the choir?", "I joined the choir yesterday.", "14 July 2023"),
        ("When did Caroline join the choir?", "Last Friday I joined the choir.", "Friday, 14 July 2023"),
        ("When did Caroline join the choir?", "I joined the choir last week.", "the week before 15 July 2023"),
        ("When did Caroline join the choir?", "I joined the choir this week.", "the week of 15 July 2023"),
        ("When did Caroline join the choir?", "I joined the choir two weeks ago.", "two weeks before 15 July 2023"),
        ("When did Caroline join the choir?", "I joined the choir last weekend.", "the weekend before 15 July 2023"),
        ("When will Caroline join the choir?", "I'll join the choir next month.", "August 2023"),
        ("When did Caroline join the choir?", "I joined the choir about a year ago.", "around 2022"),
        ("What year did Caroline join the choir?", "I joined the choir on 3 May 2021.", "2021"),
        ("Which month did Caroline join the choir?", "I joined the choir last week.", "July 2023"),
        ("When did Caroline join the choir?", "I joined the choir and love it.", "by 15 July 2023"),
    ],
)
def test_a_time_is_told_as_people_tell_it(question: str, line: str, expected: str) -> None:
    assert when(question, line) == expected


def test_how_long_ago_counts_from_the_day_it_is_asked() -> None:
    line = "I joined the choir ten years ago."
    assert when("How long ago did Caroline join the choir?", line, JULY_15) == "10 years ago"
    assert when("How long ago did Caroline join the choir?", line, datetime(2026, 7, 15, tzinfo=UTC)) == "13 years ago"


def test_a_month_without_its_year_is_that_of_any_year() -> None:
    line = "I went camping on 10 June 2021. I went camping on 3 May 2021."
    assert when("When did Caroline go camping in June?", line) == "10 June 2021"


@pytest.mark.parametrize(
    ("question", "line", "expected"),
    [
        ("Wann ist Caroline dem Chor beigetreten?", "Gestern bin ich dem Chor beigetreten.", "14. Juli 2023"),
        ("Caroline什么时候加入合唱团？", "我昨天加入合唱团了。", "2023年7月14日"),
        ("Carolineはいつ合唱団に入りましたか？", "昨日、合唱団に入りました。", "2023年7月14日"),
        ("Hat Caroline einen Hund?", "Ich habe einen Hund.", "Ja. Ich habe einen Hund."),
        ("Hat Caroline einen Hund?", "Ich habe keinen Hund.", "Nein. Ich habe keinen Hund."),
    ],
)
def test_what_is_added_is_in_the_language_of_the_question(question: str, line: str, expected: str) -> None:
    assert when(question, line) == expected
